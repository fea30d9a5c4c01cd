"""Time series: the detector inside the PyOD adapters of sktime, aeon and darts."""

from __future__ import annotations

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD
from tests.compatibility.conftest import EVENT
from tests.compatibility.packages import real

# What these packages and those that they import warn of on the newest Python and pandas is not about us.
pytestmark = pytest.mark.filterwarnings("default")


def test_sktime_fits_and_predicts(series):
    adapters = real("sktime.detection.adapters")
    pandas = real("pandas")
    frame = pandas.DataFrame({"value": series, "change": np.gradient(series)})
    adapter = adapters.PyODDetector(GESSVDD(contamination=0.02, random_state=0)).fit(frame)
    alone = GESSVDD(contamination=0.02, random_state=0).fit(frame.to_numpy())
    np.testing.assert_array_equal(adapter.estimator_.decision_scores_, alone.decision_scores_)
    assert set(EVENT) & set(np.flatnonzero(adapter.estimator_.labels_))
    # sktime 1.2 returns the labels of the detections, all of them 1, where their positions belong, for any detector.
    assert len(adapter.predict(frame)) == alone.predict(frame.to_numpy()).sum()


def test_sktime_clones_the_detector_with_its_parameters():
    adapters = real("sktime.detection.adapters")
    adapter = adapters.PyODDetector(GESSVDD(laplacian="knn(n_neighbors=7)")).clone()
    assert adapter.estimator.laplacian == "knn(n_neighbors=7)"
    assert adapter.set_params(estimator__contamination=0.2).estimator.contamination == 0.2


def test_aeon_scores_windows(series):
    aeon = real("aeon.anomaly_detection.series")
    adapter = aeon.PyODAdapter(GESSVDD(novelty=True, random_state=0), window_size=12)
    scores = adapter.fit(series[:280]).predict(series)
    assert scores.shape == series.shape
    assert scores.argmax() in EVENT


def test_aeon_scores_the_series_that_it_was_fitted_to(series):
    aeon = real("aeon.anomaly_detection.series")
    adapter = aeon.PyODAdapter(GESSVDD(random_state=0), window_size=12)
    assert adapter.fit_predict(series).argmax() in EVENT
    assert adapter.fit_predict(np.column_stack([series, np.roll(series, 3)]), axis=0).shape == series.shape


def test_darts_scores_windows(series):
    darts, ad = real("darts"), real("darts.ad")
    whole = darts.TimeSeries.from_values(series)
    scorer = ad.PyODScorer(GESSVDD(novelty=True, random_state=0), window=12)
    scorer.fit(whole[:280])
    scores = scorer.score(whole)
    assert scores.time_index[int(scores.values().argmax())] in EVENT


def test_darts_scores_components_one_by_one(series):
    darts, ad = real("darts"), real("darts.ad")
    whole = darts.TimeSeries.from_values(np.column_stack([series, np.sin(np.arange(400) / 5)]))
    scorer = ad.PyODScorer(GESSVDD(novelty=True, random_state=0), window=6, component_wise=True)
    scorer.fit(whole[:280])
    scores = scorer.score(whole).values()
    assert scores.shape[1] == 2
    assert scores[:, 0].max() > 10 * scores[:, 1].max()
