"""A small data set, and the jobs on it."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd.experiments.data.datasets import resolve_datasets
from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
from pyod_gessvdd.experiments.metrics import METRICS
from pyod_gessvdd.experiments.protocols import protocols_of
from pyod_gessvdd.experiments.run.job import Job

BAD = "tests.experiments.bad_detectors"


def arrays(n_normal=100, n_outliers=20, seed=0):
    """Two blobs that are easy to tell apart."""
    random = np.random.default_rng(seed)
    X = np.vstack([random.normal(size=(n_normal, 3)), random.normal(size=(n_outliers, 3)) + 4])
    return X, np.arange(len(X)) >= n_normal


def job(spec, seed=0, setting="novelty", metrics=METRICS, name="toy", max_rows=None):
    """A job on the blobs; a name that is no PyOD detector's is one of the bad ones."""
    (dataset,) = resolve_datasets({name: arrays()})
    (detector,) = resolve_detectors(spec if spec.islower() else f"{BAD}:{spec}")
    (protocol,) = protocols_of(setting, max_rows=max_rows)
    return Job(dataset, detector, protocol, seed, metrics)
