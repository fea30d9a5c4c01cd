"""Shapley values by their definition, over all subsets: for a handful of features."""

from itertools import combinations
from math import factorial

import numpy as np


def shapley_values(value, row, reference):
    """The Shapley values of ``value`` between a row and a reference, feature by feature."""
    D = len(row)

    def of(subset):
        mixed = reference.copy()
        mixed[list(subset)] = row[list(subset)]
        return value(mixed)

    result = np.zeros(D)
    for j in range(D):
        others = [k for k in range(D) if k != j]
        for size in range(D):
            weight = factorial(size) * factorial(D - size - 1) / factorial(D)
            for subset in combinations(others, size):
                result[j] += weight * (of((*subset, j)) - of(subset))
    return result
