"""k-means as the graphs and the landmarks use it: seeded, repeatable, and linear in the number of rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd.graph import rows_by_content

#: k-means is run on at most this many rows. It needs no more to place its centres, and the fit stays linear in N.
MAX_ROWS = 20_000


def k_means(X: np.ndarray, n_clusters: int, random: np.random.RandomState) -> Any:
    """A fitted ``sklearn.cluster.KMeans``.

    Rows are taken in the order of their values, so that the order in which they came does not matter.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    rows = rows_by_content(X)
    if len(X) > MAX_ROWS:
        rows = rows[np.sort(random.choice(len(X), MAX_ROWS, replace=False))]
    model = KMeans(n_clusters, n_init=1, random_state=random)
    # One OpenMP thread: several add up the centres in an order that changes from run to run.
    with warnings.catch_warnings(), threadpool_limits(1, user_api="openmp"):
        # Fewer distinct rows than clusters leave clusters empty, which is all there is to say.
        warnings.filterwarnings("ignore", message="Number of distinct clusters", category=ConvergenceWarning)
        return model.fit(X[rows])
