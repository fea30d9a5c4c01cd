"""Choosing hyperparameters with a few labels, as the paper does: train on normal rows only, validate on both kinds.

Three pieces for scikit-learn's ``GridSearchCV``: a splitter, a score and a grid.

>>> from pyod_gessvdd import GESSVDD
>>> from pyod_gessvdd.model_selection import OneClassKFold, gmean_scorer, paper_grid
>>> from sklearn.model_selection import GridSearchCV
>>> search = GridSearchCV(
...     GESSVDD.from_variant("kNN-GR-min"),
...     paper_grid(kernel="linear", updater="gradient", n_features=13),
...     cv=OneClassKFold(random_state=0),
...     scoring=gmean_scorer,
...     refit=False,
... )

With ``refit=True`` GridSearchCV would fit all rows, outliers included; fit the normal ones with ``best_params_``
instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import column_or_1d

Array = np.ndarray

#: The paper's grid ("Datasets and experimental setup").
C_VALUES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
DIMENSIONS = (1, 2, 3, 4, 5, 10, 20)
STEP_SIZES = (0.1, 1.0, 10.0, 100.0, 1000.0)
SIGMAS = (0.1, 1.0, 10.0, 100.0, 1000.0)

#: The updaters, by name and by the paper's label, that do not step along a gradient and so have no η.
WITHOUT_STEP_SIZE = ("spectral", "S", "spectral_regression", "SR")


class OneClassKFold:
    """K folds whose training parts hold normal rows only, and whose test parts hold both kinds.

    The folds are stratified: each test part has about the same share of outliers, and every row is in exactly one.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds.
    shuffle : bool, default=True
        Whether the rows are shuffled before they are split.
    random_state : int, RandomState or None
        Seeds the shuffle.
    normal : int or str, default=0
        The label of the normal rows; 0 is PyOD's. All other labels are outliers.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod_gessvdd.model_selection import OneClassKFold
    >>> y = np.array([0, 0, 0, 0, 1, 1])
    >>> for train, test in OneClassKFold(2, shuffle=False).split(y[:, None], y):
    ...     print(y[train], y[test])
    [0 0] [0 0 1]
    [0 0] [0 0 1]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None, normal: Any = 0) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.normal = normal

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Indices of the training rows, all normal, and of the test rows, of both kinds.

        Parameters
        ----------
        X : array of shape (N, …)
            Only its length counts.
        y : array of shape (N,)
            The labels.
        groups : ignored
            Present for compatibility with scikit-learn.
        """
        is_normal = _is_normal(y, self.normal)
        for kind, rows in (("normal", is_normal), ("outlying", ~is_normal)):
            if np.count_nonzero(rows) < self.n_splits:
                raise ValueError(
                    f"{self.n_splits} folds need at least {self.n_splits} {kind} rows (normal={self.normal!r}), "
                    f"got {np.count_nonzero(rows)}"
                )
        random_state = self.random_state if self.shuffle else None
        folds = StratifiedKFold(self.n_splits, shuffle=self.shuffle, random_state=random_state)
        for train, test in folds.split(np.zeros(len(is_normal)), is_normal):
            yield train[is_normal[train]], test

    def __repr__(self) -> str:
        return (
            f"OneClassKFold(n_splits={self.n_splits}, shuffle={self.shuffle}, random_state={self.random_state!r}, "
            f"normal={self.normal!r})"
        )


def gmean_score(y_true: Any, y_pred: Any, *, normal: Any = 0) -> float:
    """The paper's Gmean: √(TPR · TNR), where a positive is a normal row.

    Parameters
    ----------
    y_true, y_pred : array of shape (n,)
        Labels; every label except ``normal`` marks an outlier.
    normal : int or str, default=0
        The label of the normal rows; 0 is PyOD's.

    Examples
    --------
    >>> from pyod_gessvdd.model_selection import gmean_score
    >>> gmean_score([0, 0, 1, 1], [0, 0, 0, 1])
    0.7071067811865476
    """
    positive, accepted = _is_normal(y_true, normal), _is_normal(y_pred, normal)
    if len(positive) != len(accepted):
        raise ValueError(
            f"y_true has {len(positive)} labels and y_pred {len(accepted)}; they must have the same length"
        )
    if positive.all() or not positive.any():
        kinds = "outlier" if positive.any() else "normal row"
        raise ValueError(f"Gmean needs rows of both kinds, and y_true holds no {kinds} (normal={normal!r})")
    return float(np.sqrt(accepted[positive].mean() * (1.0 - accepted[~positive].mean())))


#: ``scoring=gmean_scorer`` in scikit-learn's tools, for PyOD's labels.
gmean_scorer = make_scorer(gmean_score)


def paper_grid(
    kernel: str = "linear", updater: str = "gradient", n_features: int | None = None
) -> dict[str, list[Any]]:
    """The paper's grid for a GESSVDD, without the parameters that this kernel and this updater ignore.

    Parameters
    ----------
    kernel : str, default="linear"
        ``sigma`` is searched with "rbf" only.
    updater : str, default="gradient"
        ``step_size`` is searched unless the updater is "spectral" or "spectral_regression".
    n_features : int, optional
        The number of columns; larger dimensions are left out of a linear kernel's grid, as no such subspace exists.

    Returns
    -------
    dict of list
        For scikit-learn's ``GridSearchCV`` or ``ParameterGrid``.

    Examples
    --------
    >>> from pyod_gessvdd.model_selection import paper_grid
    >>> paper_grid(updater="spectral", n_features=4)
    {'C': [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 'n_components': [1, 2, 3, 4]}
    """
    limit = n_features if kernel == "linear" and n_features is not None else max(DIMENSIONS)
    grid: dict[str, list[Any]] = {"C": list(C_VALUES), "n_components": [d for d in DIMENSIONS if d <= limit]}
    if updater not in WITHOUT_STEP_SIZE:
        grid["step_size"] = list(STEP_SIZES)
    if kernel == "rbf":
        grid["sigma"] = list(SIGMAS)
    return grid


def _is_normal(labels: Any, normal: Any) -> Array:
    return np.asarray(column_or_1d(labels) == normal)
