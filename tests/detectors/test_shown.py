"""What a notebook shows of a detector, and the names of what ``transform`` returns."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from pyod_gessvdd import GESSVDD, MSSVDD, SSVDD, SVDD


@pytest.fixture(scope="module")
def X():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4)), columns=list("abcd"))


DETECTORS = [
    GESSVDD(),
    GESSVDD(kernel="linear", n_components=2),
    SVDD(),
    SSVDD(n_components=2),
    MSSVDD([[0, 1], [2, 3]]),
]


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: type(detector).__name__)
def test_a_notebook_shows_what_was_learnt(X, detector):
    assert "Fitted</summary><table" not in detector._repr_html_()
    detector.set_params(random_state=0).fit(X)
    for html in (detector._repr_html_(), detector._repr_mimebundle_()["text/html"]):
        assert "<th>rows</th><td>60</td>" in html
        assert f"<th>outliers</th><td>{detector.labels_.sum()}</td>" in html
        assert f"<th>threshold</th><td>{detector.threshold_:.4g}</td>" in html
        assert f"<th>duality gap</th><td>{detector.history_[-1]['gap']:.1e}</td>" in html
        assert html.index("Fitted</summary><table") > html.index(type(detector).__name__)


def test_coordinates_have_names(X):
    with_residual = GESSVDD(kernel="linear", n_components=2, random_state=0).fit(X)
    assert_array_equal(with_residual.get_feature_names_out(), ["z1", "z2", "residual"])
    without = GESSVDD(kernel="linear", n_components=2, residual=False, random_state=0).fit(X)
    assert_array_equal(without.get_feature_names_out(list("abcd")), ["z1", "z2"])
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        without.get_feature_names_out(list("abcx"))


def test_coordinates_come_as_a_data_frame_if_asked_for(X):
    detector = GESSVDD(random_state=0).fit(X)
    plain = detector.transform(X)
    frame = detector.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(detector.get_feature_names_out())
    assert_array_equal(frame.to_numpy(), plain)
    assert detector.plot_subspace(X[:5]).axes
    assert detector.plot_outlier_map(X[:5]).axes


def test_polars_data_frames_are_rows_too(X):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X.to_numpy(), schema=list("abcd"))
    detector = GESSVDD(random_state=0).fit(frame)
    assert_array_equal(detector.decision_scores_, GESSVDD(random_state=0).fit(X).decision_scores_)
    assert list(detector.feature_names_in_) == list("abcd")
    assert detector.set_output(transform="polars").transform(frame).columns[-1] == "residual"
    with pytest.raises(ValueError, match="column 'e' holds values of type String, such as 'x'"):
        GESSVDD().fit(frame.with_columns(e=polars.Series(["x"] * 60)))
