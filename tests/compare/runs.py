"""Runs to report on: a real one, small but with everything in it, and tables of made-up figures."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd

from pyod_gessvdd.compare import compare
from tests.compare.bad_detectors import Good, Warns

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


@lru_cache(maxsize=1)
def real_run():
    """Five detectors on three data sets in both settings with two seeds: one fails on one set, one warns."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(120, 3)), rng.normal(scale=4, size=(24, 3))])
    # A duplicated row in every third place: some lie on both sides of a split.
    X[::3] = X[0]
    y = np.repeat([0, 1], [120, 24])
    return compare({"wine-like": _wine(), "iris": _iris(), NASTY: (X, y)}, DETECTORS, setting="both", seeds=2, jobs=2)


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
