"""Detectors as ONNX graphs, compared with the real runtime."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError

from pyod_gessvdd import ESSVDD, ESVDD, GESSVDD, GESVDD, GESVM, L2SVDD, MSSVDD, OCKSR, SSVDD, SVDD
from pyod_gessvdd.export import to_onnx

onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
onnxruntime = pytest.importorskip("onnxruntime", reason="install onnxruntime")

CASES = {
    "default": GESSVDD(random_state=0),
    "novelty": GESSVDD(novelty=True, random_state=0),
    "landmarks": GESSVDD(kernel="mixed(approximation='nystroem', n_landmarks=60)", random_state=0),
    "linear": GESSVDD(kernel="linear"),
    "linear subspace": GESSVDD(kernel="linear", n_components=4, residual=True),
    "variant": GESSVDD.from_variant("kNN-GR-min", n_components=5),
    "rbf": GESSVDD(kernel="rbf"),
    "rbf subspace": GESSVDD(kernel="rbf", n_components=5),
    "rbf landmarks": GESSVDD(kernel="rbf(approximation='nystroem', n_landmarks=60)", n_components=5, random_state=0),
    "laplacian": GESSVDD(kernel="laplacian"),
    "exponential": GESSVDD(kernel="exponential"),
    "matern": GESSVDD(kernel="matern"),
    "polynomial": GESSVDD(kernel="polynomial", n_components=5),
    "sigmoid": GESSVDD(kernel="sigmoid", n_components=5),
    "quantile": GESSVDD(kernel="rbf", standardize="quantile", n_components=3),
    "robust": GESSVDD(kernel="linear", standardize="robust"),
    "unscaled": GESSVDD(kernel="linear", standardize=False, center=False, n_components=3),
    "radius": GESSVDD(threshold="radius"),
    "SVDD": SVDD(),
    "SVDD landmarks": SVDD(kernel="rbf(approximation='nystroem', n_landmarks=60)", random_state=0),
    "GESVDD": GESVDD(),
    "ESVDD": ESVDD(),
    "GESVM": GESVM(),
    "SSVDD": SSVDD(),
    "L2SVDD": L2SVDD(),
    "OCKSR": OCKSR(),
    "sum of kernels": GESSVDD(kernel="0.5*rbf + 0.3*laplacian*mixed + linear"),
    "product of kernels": GESSVDD(kernel="rbf*linear", n_components=5),
    "labels": GESSVDD(use_labels=True, random_state=0),
    "labels of SVDD": SVDD(use_labels=True),
    "ESSVDD": ESSVDD(),
}


@pytest.fixture(scope="module")
def data():
    """Normal rows to train on, and all rows, of the breast cancer data; eight columns."""
    X, benign = load_breast_cancer(return_X_y=True)
    return X[benign == 1][:200, :8], X[:, :8]


def run(model, X):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(["score", "label"], {"X": X})


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_the_runtime_gives_the_scores_and_labels_of_the_detector(name, data):
    train, rows = data
    known = np.where(np.arange(len(train)) % 60 == 7, 1, -1)
    detector = CASES[name].fit(train, known if CASES[name].get_params().get("use_labels") else None)
    score, label = run(to_onnx(detector), rows)
    expected = detector.decision_function(rows)
    assert_allclose(score, expected, rtol=1e-5, atol=1e-9)
    sure = np.abs(expected - detector.threshold_) > 1e-6 * detector.threshold_
    assert_array_equal(label[sure], detector.predict(rows)[sure])


def test_values_on_and_beyond_the_training_values_are_ranked_as_in_the_detector(data):
    train, _ = data
    detector = GESSVDD(kernel="linear", standardize="quantile", n_components=3).fit(train)
    edges = np.vstack([train.min(axis=0), train.max(axis=0), train.min(axis=0) - 1, train.max(axis=0) + 1, train[:5]])
    assert_allclose(run(to_onnx(detector), edges)[0], detector.decision_function(edges), rtol=1e-9)


def test_the_graph_says_what_it_takes_and_gives(data):
    model = to_onnx(GESSVDD(kernel="linear").fit(data[0]))
    assert [value.name for value in model.graph.input] == ["X"]
    assert model.graph.input[0].type.tensor_type.shape.dim[1].dim_value == 8
    assert [value.name for value in model.graph.output] == ["score", "label"]
    assert {node.domain for node in model.graph.node} == {""}, "standard operators only"


class Threshold:
    def fit(self, scores):
        self.labels_ = np.zeros(len(scores), dtype=int)
        return self

    def predict(self, scores):
        return np.zeros(len(scores), dtype=int)


@pytest.mark.parametrize(
    ("detector", "error", "sentence"),
    [
        (
            GESSVDD(kernel="cosine", n_components=2),
            ValueError,
            "kernel 'cosine' has no ONNX form; linear, mixed, rbf, ",
        ),
        (
            GESSVDD(kernel="rbf*cosine", n_components=2),
            ValueError,
            "kernel 'cosine' has no ONNX form; linear, mixed, rbf, ",
        ),
        (
            GESSVDD(contamination=Threshold()),
            ValueError,
            "a PyThresh object decides the labels, which has no ONNX form",
        ),
        (MSSVDD([[0, 1], [2, 3]]), TypeError, "to_onnx takes a detector of this package other than MSSVDD, got MSSVDD"),
    ],
    ids=["kernel", "product", "PyThresh", "MSSVDD"],
)
def test_what_has_no_onnx_form_is_refused(detector, error, sentence, data):
    detector.fit(data[0][:, :4])
    with pytest.raises(error, match=sentence):
        to_onnx(detector)


def test_an_unfitted_or_foreign_detector_is_refused():
    with pytest.raises(NotFittedError, match="not fitted"):
        to_onnx(GESSVDD())
    with pytest.raises(TypeError, match="to_onnx takes a detector of this package other than MSSVDD, got int"):
        to_onnx(3)


def test_a_model_that_is_too_large_is_refused(data, monkeypatch):
    detector = GESSVDD(kernel="rbf").fit(data[0])
    monkeypatch.setattr("pyod_gessvdd.export.MAX_COLUMNS", 7)
    with pytest.raises(ValueError, match="to_onnx takes at most 7 columns of all views together, got 8"):
        to_onnx(detector)
    monkeypatch.setattr("pyod_gessvdd.export.MAX_COLUMNS", 8)
    monkeypatch.setattr("pyod_gessvdd.export.MAX_LANDMARKS", 10)
    with pytest.raises(ValueError, match=r"to_onnx takes at most 10 landmarks, got \d+"):
        to_onnx(detector)


def test_without_onnx_the_extra_is_named(data, monkeypatch):
    real = builtins.__import__

    def without_onnx(name, *arguments, **keywords):
        if name.partition(".")[0] == "onnx":
            raise ImportError("No module named 'onnx'")
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_onnx)
    with pytest.raises(ImportError, match=r"exporting to ONNX needs onnx: pip install 'pyod-gessvdd\[onnx\]'"):
        to_onnx(GESSVDD(kernel="linear").fit(data[0]))
