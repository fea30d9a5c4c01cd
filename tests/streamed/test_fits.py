"""A fit to a source is the fit in memory: the same scores, labels and certificate, whatever the source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from pyod_gessvdd import ESSVDD, GESSVDD, GESVM, MSSVDD, Kernel, linalg, sources, trust
from pyod_gessvdd.detectors import rows as drawn_rows
from pyod_gessvdd.detectors import streaming
from pyod_gessvdd.kernels.algebra import KernelSum
from pyod_gessvdd.kernels.pairwise import RBF, LaplacianKernel
from pyod_gessvdd.sources import ArraySource
from pyod_gessvdd.streamed import columns, order, scaling

N, D = 31_000, 4


class LearnsFromRows(Kernel):
    name = "learns_from_rows"

    def features(self, X):
        return X**2


GRAPHS = ["0-GR-min", "I-GR-max", "PCA-S-max", "Sw-GR-max", "Sb-GR-min", "knn"]


@pytest.fixture(autouse=True)
def nothing_is_read_into_memory(monkeypatch):
    monkeypatch.setattr(sources, "SMALL_ROWS", 1000)


@pytest.fixture(scope="module")
def X():
    random = np.random.default_rng(0)
    X = random.normal(size=(N, D)) @ random.normal(size=(D, D)) + random.exponential(size=(N, D))
    X[: N // 50] *= 4.0
    return X


def assert_same_fit(streamed, in_memory, X, tol=1e-8):
    np.testing.assert_allclose(streamed.decision_scores_, in_memory.decision_scores_, rtol=tol, atol=tol)
    np.testing.assert_allclose(streamed.decision_function(X), in_memory.decision_function(X), rtol=tol, atol=tol)
    assert streamed.threshold_ == pytest.approx(in_memory.threshold_, rel=tol)
    np.testing.assert_array_equal(streamed.labels_, in_memory.labels_)
    np.testing.assert_array_equal(streamed.trusted_, in_memory.trusted_)
    np.testing.assert_allclose(streamed.alpha_ * len(X), in_memory.alpha_ * len(X), atol=1e3 * tol)
    for name in ("support_", "boundary_", "outside_"):
        np.testing.assert_array_equal(getattr(streamed, name), getattr(in_memory, name))
    assert [line["n_support"] for line in streamed.history_] == [line["n_support"] for line in in_memory.history_]
    assert max(line["gap"] for line in streamed.history_) <= 1e-8
    assert streamed.stop_reason_ == in_memory.stop_reason_


@pytest.mark.parametrize("variant", GRAPHS)
def test_every_graph_of_a_source_gives_the_fit_in_memory(X, variant):
    params = {"n_components": 2, "n_iter": 2, "random_state": 0}
    if variant == "knn":
        variant, params["laplacian"] = "kNN-GR-max", "knn(max_exact=20000, n_queries=300)"
    in_memory = GESSVDD.from_variant(variant, **params).fit(X)
    assert_same_fit(GESSVDD.from_variant(variant, **params).fit(ArraySource(X)), in_memory, X)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"trim": None, "C": 0.01},
        {"n_components": 2, "updater": "riemannian", "threshold": "radius"},
        {"n_components": 2, "updater": "newton", "standardize": "robust", "keep": "best"},
        {"laplacian": "0.7*pca + 0.3*within", "standardize": "quantile", "novelty": True},
        {"laplacian": "auto*(pca + within)", "init": "random", "n_components": 2, "center": False},
    ],
    ids=str,
)
def test_the_settings_of_a_linear_fit_count_for_a_source_too(X, params):
    in_memory = GESSVDD(kernel="linear", random_state=0, **params).fit(X)
    streamed = GESSVDD(kernel="linear", random_state=0, **params).fit(ArraySource(X))
    # A line search compares values that agree to rounding; where its path turns, it ends elsewhere by more than that.
    tol = 1e-6 if params.get("updater") == "riemannian" else 1e-8
    assert_same_fit(streamed, in_memory, X, tol)
    np.testing.assert_allclose(streamed.explain(X[:5]), in_memory.explain(X[:5]), rtol=1e-6, atol=tol)


@pytest.mark.parametrize("kernel", ["linear", "mixed"])
def test_rows_drawn_by_place_are_those_drawn_in_memory(X, kernel, monkeypatch):
    for module in (linalg, trust, drawn_rows, order):
        monkeypatch.setattr(module, "ORDERED_ROWS", 10_000)
    monkeypatch.setattr(drawn_rows, "MAX_LEARNING_ROWS", 2000)
    monkeypatch.setattr(streaming, "MAX_LEARNING_ROWS", 2000)
    rows = X[:24_000]
    in_memory = GESSVDD(kernel=kernel, random_state=0).fit(rows)
    assert_same_fit(GESSVDD(kernel=kernel, random_state=0).fit(ArraySource(rows, 7000)), in_memory, rows)
    # The same rows in another order are another draw.
    turned = GESSVDD(kernel=kernel, random_state=0).fit(rows[::-1])
    assert np.abs(turned.decision_scores_[::-1] - in_memory.decision_scores_).max() > 1e-6


def test_a_block_may_hold_no_row_that_is_trusted(X):
    rows = X.copy()
    rows[2000:4000] += 1e4
    in_memory = GESSVDD(kernel="linear", random_state=0).fit(rows)
    assert not in_memory.trusted_[2000:4000].any()
    assert_same_fit(GESSVDD(kernel="linear", random_state=0).fit(ArraySource(rows, 500)), in_memory, rows)


class TwoCosines(Kernel):
    """Random features of two frequencies, whose width comes from the variance of all numbers."""

    name = "two_cosines"
    learns_by_moments = True

    def fit(self, X):
        self.frequencies_ = np.random.default_rng(0).normal(size=(X.shape[1], 2)) / X.std()
        return self

    def features(self, X):
        return np.hstack([np.cos(X @ self.frequencies_), np.sin(X @ self.frequencies_)])


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "rbf(n_landmarks=60)", "n_components": 3, "n_iter": 2, "laplacian": "pca"},
        {
            "kernel": "rbf(n_landmarks=40, landmarks='kmeans')",
            "gamma": "median",
            "n_components": 2,
            "laplacian": "none",
        },
        {"kernel": "laplacian(n_landmarks=40)", "n_components": 3, "laplacian": "within", "residual": True},
        {"kernel": KernelSum([RBF(gamma=0.1), LaplacianKernel()], n_landmarks=30), "n_components": 2, "init": "random"},
        {"kernel": "mixed(n_landmarks=30)", "n_components": 2, "laplacian": "knn(max_exact=1000, n_queries=50)"},
        {"kernel": "polynomial(n_landmarks=40)", "gamma": "scale", "n_components": 2, "center": False},
        {"kernel": TwoCosines(), "n_components": 2, "n_iter": 1, "laplacian": "identity"},
    ],
    ids=lambda params: str(params["kernel"]).partition("(")[0],
)
def test_a_subspace_of_kernel_features_of_a_source_is_that_of_the_rows_in_memory(X, params):
    rows = X[:24_000]  # more than clusters are found in
    in_memory = GESSVDD(random_state=0, **params).fit(rows)
    streamed = GESSVDD(random_state=0, **params).fit(ArraySource(rows, 7000))
    np.testing.assert_allclose(streamed.decision_scores_, in_memory.decision_scores_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(streamed.decision_function(rows), in_memory.decision_function(rows), rtol=1e-8)
    np.testing.assert_array_equal(streamed.labels_, in_memory.labels_)
    np.testing.assert_array_equal(streamed.trusted_, in_memory.trusted_)
    assert max(line["gap"] for line in streamed.history_) <= 1e-8
    np.testing.assert_allclose(streamed.explain(rows[:2]).sum(axis=1) > 0, True)


def test_the_regulariser_of_alpha_counts_for_a_source_too(X):
    detector = {"n_components": 2, "psi": 2, "beta": 0.1, "random_state": 0}
    assert_same_fit(
        ESSVDD(kernel="linear", **detector).fit(ArraySource(X)), ESSVDD(kernel="linear", **detector).fit(X), X
    )


def test_the_default_detector_of_a_source_is_that_of_the_rows_in_memory(X):
    in_memory = GESSVDD(random_state=0).fit(X)
    streamed = GESSVDD(random_state=0).fit(ArraySource(X))
    assert_same_fit(streamed, in_memory, X)
    assert streamed.explain(X[:3]).shape == (3, D)


def test_a_memory_map_and_parquet_give_the_fit_in_memory(X, tmp_path):
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    in_memory = GESSVDD(kernel="linear", random_state=0).fit(X)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert_same_fit(GESSVDD(kernel="linear", random_state=0).fit(ArraySource(mapped)), in_memory, X)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    folder = tmp_path / "rows"
    folder.mkdir()
    frame[:19_000].to_parquet(folder / "part-0.parquet")
    frame[19_000:].to_parquet(folder / "part-1.parquet", row_group_size=5000)
    detector = GESSVDD(kernel="linear", random_state=0).fit(str(folder))
    np.testing.assert_allclose(detector.decision_scores_, in_memory.decision_scores_, rtol=1e-8)
    assert detector.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_allclose(detector.decision_function(frame[:9]), in_memory.decision_function(X[:9]), rtol=1e-8)


def test_many_rows_keep_their_scores_in_a_mapped_file_and_the_threshold_exact(X, monkeypatch):
    in_memory = GESSVDD(kernel="linear", random_state=0).fit(X)
    monkeypatch.setattr(columns, "HELD_ROWS", 1000)
    monkeypatch.setattr("pyod_gessvdd.detectors.sources.HELD_ROWS", 1000)
    monkeypatch.setattr(order, "SORTED_VALUES", 1000)
    detector = GESSVDD(kernel="linear", random_state=0).fit(ArraySource(X))
    for name in ("decision_scores_", "labels_", "alpha_", "trusted_", "support_", "outside_"):
        assert isinstance(getattr(detector, name), np.memmap)
    assert_same_fit(detector, in_memory, X)
    np.testing.assert_allclose(detector.p_values(X[:200]), in_memory.p_values(X[:200]), atol=1e-4)
    np.testing.assert_allclose(detector.predict_proba(X[:9]), in_memory.predict_proba(X[:9]), rtol=1e-7, atol=1e-12)
    path = detector.decision_scores_.filename
    del detector
    assert not Path(path).exists()


def test_ranks_of_very_many_rows_come_from_a_sample_with_the_stated_error(X, monkeypatch):
    in_memory = GESSVDD(kernel="linear", standardize="quantile", trim=None, random_state=0).fit(X)
    monkeypatch.setattr(scaling, "RANKED_ROWS", 10_000)
    detector = GESSVDD(kernel="linear", standardize="quantile", trim=None, random_state=0).fit(ArraySource(X))
    exact, sampled = (np.sort(found.description_.scaling.views[0](X[:2000])[:, 0]) for found in (in_memory, detector))
    assert np.abs(ndtr(exact) - ndtr(sampled)).max() < 0.017  # √(ln(2/0.01) / (2 · 10,000))
    assert np.corrcoef(detector.decision_scores_, in_memory.decision_scores_)[0, 1] > 0.999


def test_a_small_source_is_read_into_memory():
    # Small enough for the exact kernel matrix, which needs all rows.
    X = np.random.default_rng(1).normal(size=(900, 3))
    np.testing.assert_array_equal(
        GESSVDD(random_state=0).fit(ArraySource(X)).decision_scores_, GESSVDD(random_state=0).fit(X).decision_scores_
    )


@pytest.mark.parametrize(
    ("detector", "message"),
    [
        (GESVM(kernel="linear"), "a half-space needs all rows in memory; the detectors with a sphere accept a source"),
        (GESSVDD(use_labels=True), "labels need all rows in memory; fit a source without use_labels"),
        (
            GESSVDD(kernel="linear", n_components=2, feature_laplacian=np.eye(D)),
            "a graph over the columns needs all rows in memory; use feature_laplacian=None with a source",
        ),
        (ESSVDD(kernel="linear", n_components=2, psi=3), "updater 'gradient' needs all rows in memory; gradient"),
        (GESSVDD(calibration=0.2), "calibration holds single rows back, which needs all rows in memory"),
        (
            GESSVDD(kernel="rbf(approximation='exact')", n_components=3),
            "the exact NPT map needs an N × N kernel matrix and is limited to 10000 rows, got 31000; use approximation",
        ),
        (
            GESSVDD(kernel=LearnsFromRows(), n_components=2),
            "kernel 'learns_from_rows' needs all rows in memory; linear, kernels with a Nyström map and random",
        ),
        (
            GESSVDD(kernel="linear", n_components=2, updater="spectral_regression"),
            "updater 'spectral_regression' needs all rows in memory; gradient",
        ),
        (GESSVDD(kernel="linear", qp_backend="osqp"), "QP backend 'osqp' needs all points in memory; auto and"),
        (
            GESSVDD(kernel="linear", laplacian="knn(max_exact=60000)", n_components=2),
            "a whole knn graph, max_exact=60000 for 27900 rows, needs all rows in memory; a smaller max_exact",
        ),
        (GESSVDD(kernel="linear", laplacian=np.eye(31), n_components=2), "laplacian 'given' needs all rows"),
    ],
)
def test_what_needs_all_rows_in_memory_says_what_does_not(X, detector, message):
    with pytest.raises(ValueError, match=message):
        detector.fit(ArraySource(X))
    assert not hasattr(detector, "decision_scores_")


def test_sample_weights_need_all_rows_in_memory(X):
    with pytest.raises(ValueError, match="sample_weight needs all rows in memory; repeat the rows of a source instead"):
        GESSVDD().fit(ArraySource(X), sample_weight=np.ones(N))


def test_what_needs_an_array_says_so(X):
    with pytest.raises(ValueError, match="this needs an array of rows; the rows of a source are taken by fit"):
        MSSVDD(modalities=[[0, 1], [2, 3]]).fit(ArraySource(X))


def test_the_scores_of_a_source_are_those_of_its_rows(X):
    detector = GESSVDD(kernel="linear", random_state=0).fit(X)
    np.testing.assert_allclose(detector.decision_function(ArraySource(X)), detector.decision_function(X), rtol=1e-12)
    np.testing.assert_array_equal(detector.predict(ArraySource(X)), detector.predict(X))
    with pytest.raises(ValueError, match="X has 3 features, but GESSVDD is expecting 4 features as input"):
        detector.decision_function(ArraySource(X[:, :3]))


def test_a_fit_that_fails_leaves_no_file_behind(X, monkeypatch, tmp_path):
    class Failing(ArraySource):
        def map(self, function):
            for number, found in enumerate(super().map(function)):
                if type(function).__name__ == "_SubspaceRows" and number == 1:
                    raise OSError("the disk is gone")
                yield found

    monkeypatch.setattr(columns, "HELD_ROWS", 1000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    detector = GESSVDD(kernel="linear", trim=None, random_state=0)
    with pytest.raises(OSError, match="the disk is gone"):
        detector.fit(Failing(X, 5000))
    assert list(tmp_path.iterdir()) == []
    assert not hasattr(detector, "description_")


def test_equal_rows_have_nothing_to_describe():
    with pytest.raises(ValueError, match="all 31000 rows of X are equal: there is nothing to describe"):
        GESSVDD().fit(ArraySource(np.ones((N, 2))))


def test_a_thresholder_needs_scores_in_memory(X, monkeypatch):
    class Thresholder:
        def fit(self, scores):
            return self

        def predict(self, scores):
            return scores > 1

    monkeypatch.setattr(columns, "HELD_ROWS", 1000)
    monkeypatch.setattr("pyod_gessvdd.detectors.sources.HELD_ROWS", 1000)
    with pytest.raises(ValueError, match="a PyThresh object needs all scores in memory; give contamination as a num"):
        GESSVDD(kernel="linear", contamination=Thresholder()).fit(ArraySource(X))


def test_the_rows_of_a_source_are_not_kept_for_pictures(X):
    detector = GESSVDD(kernel="linear", random_state=0).fit(ArraySource(X))
    with pytest.raises(ValueError, match=r"the rows of a source are not kept after fit; pass the rows to explain\(X\)"):
        detector.explain_outlier(0)
