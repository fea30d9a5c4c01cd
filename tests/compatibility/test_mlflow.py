"""MLflow: a run with parameters, a metric and the model; loaded again, the model gives the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD
from tests.compatibility.packages import real

pytestmark = pytest.mark.filterwarnings("default")  # MLflow's own, about type hints and its stores

#: A model as code, MLflow's way without a pickle: the file of `save` is its artifact.
CODE = """
import mlflow
import pyod_gessvdd


class Detector(mlflow.pyfunc.PythonModel):
    def load_context(self, context):
        self.detector = pyod_gessvdd.load(context.artifacts["model"])

    def predict(self, context, model_input, params=None):
        return self.detector.decision_function(model_input)


mlflow.models.set_model(Detector())
"""


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    mlflow = real("mlflow")
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri("sqlite:///runs.db")
    yield mlflow
    mlflow.set_tracking_uri(before)


@pytest.fixture
def detector(X):
    return GESSVDD(novelty=True, random_state=0).fit(X)


def test_a_run_keeps_parameters_metrics_and_a_model_without_a_pickle(mlflow, detector, X, tmp_path):
    (tmp_path / "detector.py").write_text(CODE)
    detector.save("model.gessvdd")
    with mlflow.start_run() as run:
        mlflow.log_params(detector.get_params(deep=False))
        mlflow.log_metric("share_of_outliers", float(detector.labels_.mean()))
        logged = mlflow.pyfunc.log_model(
            name="detector",
            python_model="detector.py",
            artifacts={"model": "model.gessvdd"},
            pip_requirements=["pyod-gessvdd"],
        )
    loaded = mlflow.pyfunc.load_model(logged.model_uri)
    np.testing.assert_array_equal(loaded.predict(X), detector.decision_function(X))
    kept = mlflow.get_run(run.info.run_id).data
    assert kept.params["novelty"] == "True"
    assert kept.metrics["share_of_outliers"] == detector.labels_.mean()


def test_the_sklearn_flavour_takes_the_detector_once_its_types_are_trusted(mlflow, detector, X):
    skops = real("skops.io")
    flavour = real("mlflow.sklearn")
    types = skops.get_untrusted_types(data=skops.dumps(detector))
    arguments = {"pip_requirements": ["pyod-gessvdd"]}
    with pytest.raises(mlflow.MlflowException, match="references untrusted types"):
        flavour.save_model(detector, "refused", **arguments)
    flavour.save_model(detector, "trusted", skops_trusted_types=types, **arguments)
    np.testing.assert_array_equal(flavour.load_model("trusted").decision_function(X), detector.decision_function(X))
    np.testing.assert_array_equal(mlflow.pyfunc.load_model("trusted").predict(X), detector.predict(X))
