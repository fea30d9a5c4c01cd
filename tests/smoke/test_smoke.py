"""A few seconds that touch everything once: for interpreters and versions that the whole suite does not run on."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.metrics import roc_auc_score

import pyod_gessvdd
from pyod_gessvdd.cli import main
from pyod_gessvdd.qp import solve_svdd
from pyod_gessvdd.saving.archive import read_archive
from tests.smoke import golden

DETECTORS = ["GESSVDD", "SVDD", "ESVDD", "GESVDD", "GESVM", "SSVDD", "ESSVDD", "MSSVDD", "L2SVDD", "OCKSR"]


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(95, 4)), random.normal(5.0, 1.0, size=(5, 4))])
    return X, np.r_[np.zeros(95), np.ones(5)]


@pytest.mark.parametrize("name", DETECTORS)
def test_every_detector_fits_scores_explains_and_comes_back_from_its_file(name, data, tmp_path):
    X, y = data
    parameters = {"modalities": [[0, 1], [2, 3]]} if name == "MSSVDD" else {}
    detector = getattr(pyod_gessvdd, name)(random_state=0, **parameters).fit(X[y == 0])
    assert roc_auc_score(y, detector.decision_function(X)) > 0.9
    detector.save(tmp_path / "model")
    loaded = pyod_gessvdd.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(X), detector.decision_function(X))
    np.testing.assert_array_equal(loaded.p_values(X), detector.p_values(X))
    if name != "MSSVDD":  # which has no contributions
        assert np.isfinite(detector.explain(X[-2:])).all()


@pytest.mark.parametrize(
    "variant", ["0-GR-min", "kNN-GR-max", "PCA-S-min", "Sw-SR-max", "I-S-max", "I-SR-min", "Sb-SR-min"]
)
def test_variants_of_the_paper_fit(variant, data):
    X, _ = data
    detector = pyod_gessvdd.GESSVDD.from_variant(variant, n_components=2, random_state=0).fit(X)
    assert detector.variant == variant
    assert np.isfinite(detector.decision_scores_).all()


@pytest.mark.parametrize("backend", ["auto", "frank_wolfe", "interior_point", "libsvm", "osqp"])
def test_every_backend_solves(backend, data):
    assert solve_svdd(data[0], nu=0.2, backend=backend).is_optimal(1e-6)


def test_every_builtin_component_is_there():
    found = {row["kind"] for row in pyod_gessvdd.available() if row["error"] is None}
    assert found >= {"laplacian", "updater", "qp_backend", "kernel", "feature_laplacian"}


def test_tables_are_fitted_scored_and_compared(data, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas", reason="the extra pandas is not installed")
    pytest.importorskip("scikit_posthocs", reason="the extra compare is not installed")
    monkeypatch.chdir(tmp_path)
    X, y = data
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    frame.assign(label=y.astype(int)).to_csv("rows.csv", index=False)
    for command in (
        ["fit", "rows.csv", "-o", "model.gessvdd"],
        ["score", "model.gessvdd", "rows.csv", "-o", "scored.csv", "--prefix", "gessvdd_"],
        ["compare", "rows.csv", "-d", "GESSVDD,KNN", "--seeds", "2", "-o", "run"],
    ):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
    assert len(pandas.read_csv("scored.csv")) == len(X)


@pytest.mark.parametrize("name", golden.MODELS)
def test_a_model_file_gives_the_same_scores_and_the_same_bytes_everywhere(name, tmp_path):
    written = golden.FOLDER / f"{name}.gessvdd"
    detector = pyod_gessvdd.load(written)
    expected = np.load(golden.FOLDER / f"{name}.npy")
    # Other versions of numpy and OpenBLAS round their products differently.
    np.testing.assert_allclose(detector.decision_function(golden.rows()), expected, rtol=1e-9)
    detector.save(tmp_path / "again")
    (before, arrays), (after, again) = read_archive(written), read_archive(tmp_path / "again")
    assert {**before, "package": ""} == {**after, "package": ""}  # the checksums of the arrays' bytes included
    assert [array.dtype for array in arrays] == [array.dtype for array in again]
