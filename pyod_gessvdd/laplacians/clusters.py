"""What the within and between graphs share: k-means clusters of the training features, as a sparse indicator."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from pyod_gessvdd.linalg import k_means


def cluster_indicator(
    Phi: np.ndarray, n_clusters: int, random_state: Any, owner: str, sample_weight: np.ndarray | None = None
) -> sp.csr_array:
    """The N × K matrix whose column c is 1_c, the indicator of cluster c; empty clusters are left out.

    With sample weights, these are its entries: either way the column sums are the numbers of samples in the clusters.
    """
    N = len(Phi)
    if not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f"n_clusters must be a whole number of at least 1, got {n_clusters!r}")
    if n_clusters > N:
        raise ValueError(f"{owner} needs at least n_clusters={n_clusters} samples, got {N}")
    labels = k_means(Phi, int(n_clusters), check_random_state(random_state), sample_weight).predict(Phi)
    _, labels = np.unique(labels, return_inverse=True)
    counts = np.ones(N) if sample_weight is None else sample_weight.astype(float)
    return sp.csr_array((counts, (np.arange(N), labels)))
