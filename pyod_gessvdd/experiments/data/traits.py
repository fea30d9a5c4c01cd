"""What kind of data a set is: the traits that losses are looked at by."""

from __future__ import annotations

import numpy as np

#: The traits beyond the numbers of rows, features and outliers.
TRAITS = ("repeated", "discrete", "skewness")

#: A column with at most this many different values is a discrete one.
FEW_VALUES = 10

#: Of larger sets this many rows, evenly spread, are looked at.
MOST_ROWS = 10_000


def traits(X: np.ndarray) -> dict[str, float]:
    """The share of rows that repeat an earlier one, the share of discrete columns, and the median |skewness|."""
    from scipy.stats import skew

    X = X[:: -(-len(X) // MOST_ROWS)]
    rows = np.ascontiguousarray(X + 0.0)
    distinct = len({row.tobytes() for row in rows})
    few = [len(np.unique(column)) <= FEW_VALUES for column in X.T]
    # A constant column has no skewness.
    varied = X[:, np.ptp(X, axis=0) > 0]
    skewness = np.abs(skew(varied, axis=0)) if varied.size else np.zeros(1)
    return {
        "repeated": 1 - distinct / len(X),
        "discrete": float(np.mean(few)),
        "skewness": float(np.median(np.nan_to_num(skewness))),
    }
