"""What the within and between graphs share: k-means clusters of the training features, as a sparse indicator."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from pyod_gessvdd.linalg import k_means


def cluster_indicator(Phi: np.ndarray, n_clusters: int, random_state: Any, owner: str) -> sp.csr_array:
    """The N × K matrix whose column c is 1_c, the indicator of cluster c; empty clusters are left out."""
    N = len(Phi)
    if not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f"n_clusters must be a whole number of at least 1, got {n_clusters!r}")
    if n_clusters > N:
        raise ValueError(f"{owner} needs at least n_clusters={n_clusters} samples, got {N}")
    labels = k_means(Phi, int(n_clusters), check_random_state(random_state)).predict(Phi)
    _, labels = np.unique(labels, return_inverse=True)
    return sp.csr_array((np.ones(N), (np.arange(N), labels)))
