"""Apache Beam: its PyOD handler loads a pickled detector, and its anomaly detection takes scores and threshold."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD
from tests.compatibility.packages import real


@pytest.mark.filterwarnings("default")  # Beam leaves the model's file to the garbage collector
def test_beam_scores_and_labels_rows(X, tmp_path):
    beam, adapter = real("apache_beam"), real("apache_beam.ml.anomaly.detectors.pyod_adapter")
    anomaly = real("apache_beam.ml.anomaly.transforms")
    detector = GESSVDD(novelty=True, random_state=0).fit(X)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(detector))
    new = np.vstack([X[:3], X[:2] + 9.0])
    rows = [(key, beam.Row(**dict(zip("abcd", map(float, row), strict=True)))) for key, row in enumerate(new)]
    scored = tmp_path / "scored"

    def line(item):
        key, result = item
        (prediction,) = result.predictions
        return f"{key} {float(prediction.score)!r} {prediction.label}"

    with beam.Pipeline(runner="DirectRunner") as pipeline:
        found = (
            pipeline
            | beam.Create(rows)
            | anomaly.AnomalyDetection(detector=adapter.PyODFactory.create_detector(str(tmp_path / "model.pkl")))
        )
        found | beam.Map(line) | beam.io.WriteToText(str(scored), num_shards=1)
    lines = sorted(next(tmp_path.glob("scored*")).read_text().split("\n"))[1:]
    scores = [float(line.split()[1]) for line in lines]
    np.testing.assert_allclose(scores, detector.decision_function(new), rtol=1e-12)
    assert [int(line.split()[2]) for line in lines] == detector.predict(new).tolist()
