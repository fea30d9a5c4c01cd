"""What the within and between graphs share: k-means clusters of the training features, as a sparse indicator."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from pyod_gessvdd.graph import rows_by_content

#: k-means is run on at most this many rows; the others join the nearest centre. It needs no more to place a few
#: centres, and the fit stays linear in N.
MAX_ROWS = 20_000


def cluster_indicator(Phi: np.ndarray, n_clusters: int, random_state: Any, owner: str) -> sp.csr_array:
    """The N × K matrix whose column c is 1_c, the indicator of cluster c; empty clusters are left out.

    Rows are clustered in the order of their values, so that the order in which they came does not matter.
    """
    N = len(Phi)
    if not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f"n_clusters must be a whole number of at least 1, got {n_clusters!r}")
    if n_clusters > N:
        raise ValueError(f"{owner} needs at least n_clusters={n_clusters} samples, got {N}")
    random = check_random_state(random_state)
    rows = rows_by_content(Phi)
    if N > MAX_ROWS:
        rows = rows[np.sort(random.choice(N, MAX_ROWS, replace=False))]
    labels = _k_means_labels(Phi, rows, n_clusters, random)
    _, labels = np.unique(labels, return_inverse=True)
    return sp.csr_array((np.ones(N), (np.arange(N), labels)))


def _k_means_labels(Phi: np.ndarray, rows: np.ndarray, n_clusters: int, random: np.random.RandomState) -> np.ndarray:
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    model = KMeans(n_clusters, n_init=1, random_state=random)
    # One OpenMP thread: several add up the centres in an order that changes from run to run.
    with warnings.catch_warnings(), threadpool_limits(1, user_api="openmp"):
        # Fewer distinct rows than clusters: the empty clusters are dropped, which is all there is to say.
        warnings.filterwarnings("ignore", message="Number of distinct clusters", category=ConvergenceWarning)
        return model.fit(Phi[rows]).predict(Phi)
