"""Runs to report on: a real one, small but with everything in it, and tables of made-up figures."""

from __future__ import annotations

from contextlib import closing
from itertools import product

import numpy as np
import pandas as pd

from pyod_gessvdd.compare import ComparisonResult
from pyod_gessvdd.experiments.data.datasets import resolve_datasets
from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
from pyod_gessvdd.experiments.metrics import METRICS
from pyod_gessvdd.experiments.protocols import protocols_of
from pyod_gessvdd.experiments.run.job import Job, run_job
from pyod_gessvdd.experiments.store import Store
from tests.experiments.bad_detectors import Good, Warns

#: Would be HTML, a formula, a column or emphasis if it were not escaped.
NASTY = "<b>bold</b> & $x_1$ | *set* \"q\" 'a'"


class DislikesFourFeatures(Good):
    """Fails on iris alone, so that one detector finishes some data sets and not others."""

    def fit(self, X, y=None):
        if X.shape[1] == 4:
            raise ValueError("four features <script>document.title='injected'</script>")
        return super().fit(X)


DETECTORS = ("knn", "hbos", "pca", f"{__name__}:DislikesFourFeatures", f"{__name__}:Warns")
assert Warns  # found by the name of this module


def real_run(folder):
    """Five detectors on three data sets in both settings with two seeds: one fails on one set, one warns."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(120, 3)), rng.normal(scale=4, size=(24, 3))])
    # The same row in every third place: it lies on both sides of every split.
    X[::3] = X[0]
    data = {"wine-like": _wine(), "iris": _iris(), NASTY: (X, np.repeat([0, 1], [120, 24]))}
    return run(folder, data, DETECTORS, {"novelty": (0, 1), "unsupervised": (1, 2)})


def run(folder, data, detectors, seeds, metrics=METRICS):
    """A run in this process, which is faster than one process per job."""
    datasets, detectors = resolve_datasets(data), resolve_detectors(detectors)
    arguments = {"setting": list(seeds), "seeds": seeds, "metrics": metrics, "max_rows": None}
    with closing(Store.create(folder, arguments)) as store:
        store.add(datasets, detectors)
        for dataset, detector, setting in product(datasets, detectors, seeds):
            (protocol,) = protocols_of(setting, max_rows=None)
            for seed in seeds[setting]:
                store.record(run_job(Job(dataset, detector, protocol, seed, tuple(metrics))))
    return ComparisonResult.load(folder)


def _wine():
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    return X, (y != 1).astype(int)


def _iris():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return X, (y != 1).astype(int)


def table_of(values, setting="novelty", metric="roc_auc"):
    """A table of jobs from an array (data set, detector, seed); NaN is a failed job."""
    rows = []
    for i, j, k in product(*map(range, np.shape(values))):
        value = values[i][j][k]
        row = {"dataset": f"set {i}", "detector": f"D{j}", "setting": setting, "seed": k}
        status = "failed" if np.isnan(value) else "done"
        seconds = np.nan if np.isnan(value) else 1.0
        rows.append(row | {"status": status, metric: value, "fit_seconds": seconds, "score_seconds": seconds})
    table = pd.DataFrame(rows)
    for column in ("roc_auc", "average_precision", "precision_at_n", "gmean"):
        table[column] = table.get(column, np.nan)
    return table
