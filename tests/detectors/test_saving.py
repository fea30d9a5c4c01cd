"""``detector.save`` and ``pyod_gessvdd.load``: the same bits back, in any process, and nothing that runs."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import pyod_gessvdd
from pyod_gessvdd import ESSVDD, ESVDD, GESSVDD, GESVDD, GESVM, L2SVDD, MSSVDD, OCKSR, SSVDD, SVDD, Kernel
from pyod_gessvdd.components import registry
from pyod_gessvdd.errors import MissingPluginError, ModelFileError
from pyod_gessvdd.kernels.algebra import KernelProduct
from pyod_gessvdd.kernels.linear import Linear
from pyod_gessvdd.kernels.pairwise import RBF
from pyod_gessvdd.laplacians.knn import KNN

CASES = {
    "default": GESSVDD(random_state=0),
    "novelty": GESSVDD(novelty=True, random_state=0, calibration=0.2),
    "linear": GESSVDD(kernel="linear"),
    "subspace": GESSVDD(kernel="rbf", n_components=3, laplacian="knn"),
    "landmarks": GESSVDD(kernel="mixed(approximation='nystroem', n_landmarks=30)", random_state=0),
    "quantile": GESSVDD(kernel="rbf", standardize="quantile", n_components=2),
    "instances": GESSVDD(kernel=RBF(gamma=0.3), laplacian=KNN(4), n_components=2),
    "sum": GESSVDD(laplacian="auto*(knn + pca)", n_components=2),
    "matrix": GESSVDD(kernel="linear", laplacian=np.eye(80), n_components=2),
    "sparse matrix": GESSVDD(kernel="linear", laplacian=sp.csr_array(2.0 * np.eye(80)), n_components=2),
    "start": GESSVDD(kernel="linear", init=np.eye(4)[:2]),
    "generator": GESSVDD(random_state=np.random.RandomState(3)),
    "radius": GESSVDD(threshold="radius", nu=np.float64(0.2)),
    "variant": GESSVDD.from_variant("kNN-SR-min"),
    "matern": GESSVDD(kernel="matern"),
    "polynomial": GESSVDD(kernel="polynomial", n_components=3),
    "osqp": GESSVDD(kernel="linear", qp_backend="osqp", n_components=2),
    "SVDD": SVDD(),
    "GESVDD": GESVDD(),
    "ESVDD": ESVDD(),
    "GESVM": GESVM(),
    "SSVDD": SSVDD(psi=2),
    "ESSVDD": ESSVDD(),
    "MSSVDD": MSSVDD({"a": [0, 1], "b": slice(2, 4)}, kernel="rbf"),
    "MSSVDD with graphs": MSSVDD({"a": [0, 1], "b": slice(2, 4)}, regularizer=["knn", np.eye(80)], beta=0.1),
    "X-SSVDD": SSVDD(psi=KNN(3), beta=0.1),
    "L2SVDD": L2SVDD(),
    "OCKSR": OCKSR(),
    "sum of kernels": GESSVDD(kernel="0.5*rbf + 0.3*laplacian*mixed + linear"),
    "product of kernels": GESSVDD(kernel=KernelProduct([RBF(), Linear()]), n_components=3),
    "feature graph": GESSVDD(kernel="linear", n_components=2, feature_laplacian="feature_knn"),
    "given feature graph": SSVDD(kernel="linear", n_components=2, feature_laplacian=np.eye(4)),
    "labels": GESSVDD(use_labels=True, random_state=0),
    "labels of SVDD": SVDD(use_labels=True),
    "labels in a subspace": GESSVDD(use_labels=True, kernel="linear", n_components=2),
}


def rows(n=80, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4))


@pytest.fixture(scope="module")
def new():
    return np.vstack([rows(200, 1), 9.0 + rows(3, 2)])


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_detector_gives_the_same_bits(name, new, tmp_path):
    known = np.where(np.arange(80) % 30 == 7, 1, -1)
    detector = CASES[name].fit(rows(), known if CASES[name].get_params().get("use_labels") else None)
    detector.save(tmp_path / "model")
    loaded = pyod_gessvdd.load(tmp_path / "model")
    assert type(loaded) is type(detector)
    if name != "generator":  # whose address is in its name
        assert repr(loaded) == repr(detector)
    assert vars(loaded).keys() == vars(detector).keys() - {"_training_rows"}
    for method in ("decision_function", "predict", "predict_proba", "p_values", "predict_confidence", "transform"):
        assert_array_equal(getattr(loaded, method)(new), getattr(detector, method)(new), err_msg=method)
    if hasattr(detector, "explain"):
        assert_array_equal(loaded.explain(new[-3:]), detector.explain(new[-3:]))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_loaded_detector_can_be_fitted_again(tmp_path):
    detector = GESSVDD(kernel="rbf", n_components=2, random_state=0).fit(rows())
    detector.save(tmp_path / "model")
    again = pyod_gessvdd.load(tmp_path / "model").fit(rows(seed=5))
    assert_array_equal(again.decision_scores_, detector.fit(rows(seed=5)).decision_scores_)


def test_names_of_columns_and_metadata_are_kept(tmp_path):
    frame = pd.DataFrame(rows(), columns=["a", "b", "ü", "=d"])
    GESSVDD(kernel="linear").fit(frame).save(tmp_path / "model", metadata={"who": "me", "n": 3})
    loaded, metadata = pyod_gessvdd.detectors.loading.load_with_metadata(tmp_path / "model")
    assert list(loaded.feature_names_in_) == list(frame.columns)
    assert metadata == {"who": "me", "n": 3}
    with pytest.raises(ValueError, match="feature names"):
        loaded.decision_function(frame.rename(columns={"a": "z"}))


def test_training_rows_are_not_in_the_file(tmp_path):
    detector = GESSVDD(kernel="linear").fit(rows())
    detector.save(tmp_path / "model")
    with np.load(tmp_path / "model") as arrays:
        assert not any(arrays[name].shape == (80, 4) for name in arrays.files if name.isdigit())


def test_another_process_gives_the_same_bits(tmp_path, new):
    detector = GESSVDD(random_state=0).fit(rows())
    detector.save(tmp_path / "model")
    np.save(tmp_path / "new.npy", new)
    code = (
        "import numpy as np, pyod_gessvdd as g, sys;"
        "np.save(sys.argv[3], g.load(sys.argv[1]).decision_function(np.load(sys.argv[2])))"
    )
    files = [str(tmp_path / name) for name in ("model", "new.npy", "scores.npy")]
    subprocess.run([sys.executable, "-c", code, *files], check=True)
    assert_array_equal(np.load(tmp_path / "scores.npy"), detector.decision_function(new))


# What cannot be saved -------------------------------------------------------------------------------------------------


class Mine(Kernel):
    def features(self, X):
        return X


class Threshold:
    """What PyThresh's objects look like."""

    def fit(self, scores):
        self.labels_ = (scores > 1).astype(int)
        return self

    def predict(self, scores):
        return (scores > 1).astype(int)


class MyDetector(GESSVDD):
    pass


@pytest.mark.parametrize(
    ("detector", "sentence"),
    [
        (
            GESSVDD(kernel=Mine()),
            "kernel is a Mine, which no installed plugin registers, and a model file names its comp",
        ),
        (
            GESSVDD(kernel=lambda X, Y: X @ Y.T, n_components=2),
            "kernel is .* of type function, which only a pickle can",
        ),
        (
            GESSVDD(contamination=Threshold()),
            "contamination is .* of type Threshold, which only a pickle can hold; save",
        ),
        (
            MyDetector(),
            "MyDetector is not a detector of this package, and its file could not be read; save it with pyod",
        ),
    ],
    ids=["component", "function", "PyThresh", "subclass"],
)
def test_what_only_a_pickle_can_hold_is_refused_and_nothing_is_written(detector, sentence, tmp_path):
    with pytest.raises(ModelFileError, match=sentence):
        detector.fit(rows()).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_an_array_of_something_else_than_numbers_is_refused(tmp_path):
    detector = GESSVDD(kernel="linear").fit(rows())
    detector.remark_ = np.array(["2020"], dtype="datetime64[Y]")
    with pytest.raises(
        ModelFileError, match=r"remark_ is an array of datetime64\[Y\], which a model file does not hold"
    ):
        detector.save(tmp_path / "model")


def test_an_unfitted_detector_has_nothing_to_save(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted"):
        GESSVDD().save(tmp_path / "model")


# What cannot be loaded ------------------------------------------------------------------------------------------------


def changed(path, change):
    """The file with another document, and a checksum that fits."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(members["model.json"])
    change(document)
    members["model.json"] = json.dumps(document).encode()
    members["sha256"] = sha256(members["model.json"]).hexdigest().encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def set_attribute(name, value):
    return lambda document: document["attributes"].update({name: value})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda document: document.pop("attributes"), "KeyError: 'attributes'"),
        (lambda document: document.update(detector="os.system"), "KeyError: 'os.system'"),
        (set_attribute("x_", {"pickle": "gASVAAAA"}), "ValueError: unknown kind of value 'pickle'"),
        (set_attribute("x_", {"encode": 1}), "ValueError: unknown kind of value 'encode'"),
        (set_attribute("x_", {}), "ValueError: unknown kind of value None"),
        (set_attribute("x_", {"record": "Path", "fields": {}}), "KeyError: 'Path'"),
        (set_attribute("x_", {"record": "Sphere", "fields": {"a": 1}}), "TypeError: "),
        (set_attribute("x_", {"function": "system"}), "KeyError: 'system'"),
        (set_attribute("x_", {"array": 10**6}), "ValueError: there is no array 1000000"),
        (set_attribute("x_", {"array": -1}), "ValueError: there is no array -1"),
        (set_attribute("x_", {"float": "0"}), "KeyError: '0'"),
        (set_attribute("x_", {"strings": [1]}), "ValueError: strings must be strings"),
        (set_attribute("x_", {"component": ["os", "system"]}), "ValueError: unknown kind of component 'os'"),
        (set_attribute("x_", {"component": ["kernel", "none"]}), "UnknownComponentError: unknown kernel 'none'"),
        (
            set_attribute("x_", {"component": ["kernel", "rbf"], "params": {}, "state": {"gram": 1}}),
            "ValueError: 'gram' is a method of RBF",
        ),
        (set_attribute("predict", 1), "ValueError: 'predict' is a method of GESSVDD"),
        (set_attribute("variant", 1), "ValueError: 'variant' is a method of GESSVDD"),
        (set_attribute("__class__", 1), "ValueError: '__class__' is not an attribute"),
        (set_attribute("a b", 1), "ValueError: 'a b' is not an attribute"),
        (
            set_attribute("x_", {"sparse": [[1.0], [9], [0, 1]], "shape": [1, 1]}),
            "ValueError: a sparse matrix of shape .* has indices outside of it",
        ),
        (set_attribute("x_", {"sparse": [[1.0], [0], [0, 1]], "shape": [10**9, 1]}), "ValueError: a sparse matrix of"),
    ],
)
def test_a_hostile_document_is_refused(change, reason, tmp_path):
    GESSVDD(kernel="linear").fit(rows()).save(tmp_path / "model")
    changed(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match=rf"does not hold a model that can be read \({reason}"):
        pyod_gessvdd.load(tmp_path / "model")


def test_random_changes_of_a_whole_model_never_change_its_scores(tmp_path, new):
    # Twenty changed bytes of a pickle went unnoticed in ten of twelve cases.
    path = tmp_path / "model"
    detector = GESSVDD(kernel="linear").fit(rows())
    detector.save(path)
    whole, expected = path.read_bytes(), detector.decision_function(new)
    random = np.random.default_rng(0)
    refused = 0
    for _ in range(40):
        damaged = bytearray(whole)
        for place in random.choice(len(whole), 20, replace=False):
            damaged[place] = random.integers(256)
        path.write_bytes(damaged)
        try:
            assert_array_equal(pyod_gessvdd.load(path).decision_function(new), expected)
        except ModelFileError:
            refused += 1
    assert refused >= 39


def test_a_pickle_is_no_model_file(tmp_path):
    (tmp_path / "model").write_bytes(b"\x80\x04cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ModelFileError, match="is not a model file, or a damaged one: File is not a zip file"):
        pyod_gessvdd.load(tmp_path / "model")


def test_a_missing_plugin_is_named(tmp_path):
    GESSVDD(kernel="linear").fit(rows()).save(tmp_path / "model")
    plugin = {"kind": "kernel", "name": "my_kernel", "distribution": "my-package", "version": "1.2"}
    changed(tmp_path / "model", lambda document: document["plugins"].append(plugin))
    message = (
        "was fitted with the kernel 'my_kernel' of my-package 1.2, which is not installed here; install it to load"
    )
    with pytest.raises(MissingPluginError, match=message):
        pyod_gessvdd.load(tmp_path / "model")


class Foreign(Kernel):
    """A kernel of a plugin, with a state of its own."""

    def __init__(self, factor=2.0):
        self.factor = factor

    def fit(self, X):
        self.scale_ = {"by column": np.abs(X).max(axis=0)}
        return self

    def features(self, X):
        return self.factor * X / self.scale_["by column"]


def test_a_plugins_kernel_is_saved_by_name_with_its_state(tmp_path, new, monkeypatch):
    found = registry.Registration("kernel", Foreign, "foreign-kernels", "0.3")
    monkeypatch.setattr(registry.registry(), "registrations", [*registry.registry().registrations, found])
    monkeypatch.setitem(registry.registry()._by_name, ("kernel", "foreign"), [found])
    detector = GESSVDD(kernel="foreign(factor=3.0)", n_components=2, random_state=0).fit(rows())
    detector.save(tmp_path / "model")
    loaded = pyod_gessvdd.load(tmp_path / "model")
    assert type(loaded.kernel_) is Foreign
    assert_array_equal(loaded.decision_function(new), detector.decision_function(new))
    with zipfile.ZipFile(tmp_path / "model") as archive:
        plugins = json.loads(archive.read("model.json"))["plugins"]
    assert plugins == [{"kind": "kernel", "name": "foreign", "distribution": "foreign-kernels", "version": "0.3"}]
