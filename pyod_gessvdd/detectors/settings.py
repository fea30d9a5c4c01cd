"""The settings of a fit: the paper's values, and values for what is left open, which depend on the rows."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from pyod_gessvdd.components.contracts import FeatureLaplacian, Kernel, Laplacian, NoGraph, QPBackend, Updater
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.laplacians.identity import Identity
from pyod_gessvdd.preprocessing import Scaling

#: Algorithm 1 as the paper has it: the value of every setting that a detector neither fixes nor has as a parameter.
PAPER: dict[str, Any] = {
    "kernel": "linear",
    "gamma": None,
    "sigma": None,
    "laplacian": "none",
    "updater": "gradient",
    "criterion": "min",
    "n_components": None,
    "C": None,
    "nu": None,
    "largest_bound": 1.0,
    "step_size": 0.1,
    "n_iter": 5,
    "tol": 0.0,
    "keep": "last",
    "init": "pca",
    "around_mean": True,
    "center": True,
    "novelty": True,
    "trim": 0.0,
    "standardize": False,
    "ridge": 1e-6,
    "qp_backend": "auto",
    "qp_tol": 1e-8,
    "residual": False,
    "threshold": "radius",
    "contamination": 0.1,
    "calibration": None,
    "use_labels": False,
    "feature_laplacian": None,
    "feature_beta": 0.1,
    "random_state": None,
    "verbose": False,
}


@dataclass(frozen=True)
class Components:
    """The components of a fit, freshly made."""

    kernel: Kernel
    laplacian: Laplacian
    updater: Updater
    qp_backend: QPBackend
    feature_laplacian: FeatureLaplacian | None = None

    def inheriting(self, settings: dict[str, Any]) -> Components:
        """The same components, with the detector's values for what they inherit and were not given."""
        for component in (self.kernel, self.laplacian, self.updater, self.qp_backend, self.feature_laplacian):
            if component is not None:
                component.inherit(settings)
        return self

    def check(self, settings: dict[str, Any]) -> None:
        """Raise a ``ValueError`` where one of them cannot work with the settings or with another."""
        if settings["sigma"] is not None and "sigma" not in self.kernel.asks_for:
            raise ValueError(
                f"sigma is the width of kernel 'rbf', got {settings['sigma']!r}; kernel {self.kernel.name!r} has none"
            )
        if self.updater.needs_graph and isinstance(self.laplacian, NoGraph):
            raise ValueError(
                f"updater {self.updater.name!r} needs a graph, and laplacian {self.laplacian.name!r} has none"
            )
        if self.feature_laplacian is None:
            return
        if not self.kernel.is_identity:
            raise ValueError(
                f"feature_laplacian is a graph over columns and needs kernel='linear', got kernel {self.kernel.name!r}"
            )
        if not self.updater.by_scatter:
            raise ValueError(f"updater {self.updater.name!r} takes no feature_laplacian; {BY_SCATTER}")
        if settings["n_iter"] == 0 or (settings["n_iter"] is None and settings["n_components"] == "all"):
            raise ValueError(
                "feature_laplacian regularises the updates of a subspace, and there are none; give n_components, and "
                "an n_iter of at least 1"
            )


#: The updates that use α through S_α alone.
BY_SCATTER = "use 'gradient', 'spectral', 'newton' or 'riemannian'"
#: The updates of a subspace, and its ridge, unless given.
DEFAULT_UPDATES, SUBSPACE_RIDGE = 5, 0.1
#: The largest share that ``trim="auto"`` leaves out: with more outliers expected, wide scores separate them less well.
MOST_TRIMMED = 0.1
#: How far rows that are not trusted are brought towards the limit above which rows are labelled, on a scale of
#: logarithms: at ½ their length would become the geometric mean of both. With few rows it is less.
DOUBTED = 0.4
#: The share of the smooth kernel in each view, by ``novelty``: only with clean rows logarithms and ranks gain from the
#: cusp of the other one.
SMOOTH = {False: (1.0, 1.0, 1.0), True: (1.0, 0.5, 0.5)}
#: From this many columns on, the columns as they are gain weight, and from twice as many on they have it all.
MANY_COLUMNS = 100
#: With this many rows per column correlations begin to count, and with twice as many they count in full.
ROWS_PER_COLUMN = 5
#: Below the first number of rows kernels become wider; from the second on, nothing depends on the number of rows.
FEW_ROWS, MANY_ROWS = 100, 700


def for_rows(settings: dict[str, Any], n_rows: float, *, has_features: bool = False) -> dict[str, Any]:
    """The settings, with values for what was left open.

    Parameters
    ----------
    settings : dict
        The detector's settings.
    n_rows : float
        The number of training rows, or the sum of their weights.
    has_features : bool, default=False
        Whether a kernel's whole space would have to be whitened through its features: then it is their first 300
        directions, in which the rest is the residual.
    """
    whole = settings["n_components"] == "all" and not has_features
    novelty, residual = bool(settings["novelty"]), bool(settings["residual"])
    # The constants were chosen by measurement; docs/defaults.md has the table and the log.
    few, many = min(1.0, max(0.05, (n_rows / FEW_ROWS) ** 2)), min(1.0, n_rows / MANY_ROWS)
    filled = dict(settings)
    expected = settings["contamination"]
    filled["share_outside"] = float(expected) if isinstance(expected, Real) else MOST_TRIMMED
    if settings["trim"] == "auto":
        filled["trim"] = 0.0 if novelty or not residual else min(filled["share_outside"], MOST_TRIMMED)
    elif settings["trim"] is None:
        filled["trim"] = 0.0
    filled["doubted"] = DOUBTED * many**2
    if settings["n_iter"] is None:
        filled["n_iter"] = 0 if settings["n_components"] == "all" else DEFAULT_UPDATES
    if has_features:
        filled["n_components"] = None
    if settings["ridge"] is None:
        filled["ridge"] = SUBSPACE_RIDGE if not whole else 1e-7 / few**3 if novelty else 3e-5 / (few * many**2)
    filled["widening"] = (8.0 if novelty else 1.0) / few if whole and residual else None
    has_views = settings["standardize"] == "auto"
    filled["views"] = ViewWeights.of(novelty, many) if has_views else None
    filled["smooth"] = SMOOTH[novelty] if has_views else None
    return {**filled, **(filled["views"].parameters() if has_views else {"view_weights": None})}


@dataclass(frozen=True)
class ViewWeights:
    """The weights of the default kernel's parts.

    Attributes
    ----------
    few_rows : float
        The weight of the columns as they are where rows are few.
    plain : float
        Their weight otherwise: only they reveal a row that is far off in one of many columns.
    ranks, decorrelated, linear : float
        The weight of the ranks, and of the decorrelated logarithms and of inner products where correlations count in
        full. Inner products, if they have any weight, take the place of the columns as they are.
    """

    few_rows: float
    plain: float
    ranks: float
    decorrelated: float
    linear: float

    @classmethod
    def of(cls, novelty: bool, many: float) -> ViewWeights:
        """The weights chosen by measurement, by how many rows there are, from 0 to 1 for :data:`MANY_ROWS`."""
        # The more rows, the more their ranks are worth; with few, the columns as they are stand in for them.
        if novelty:
            return cls(0.5 * (1.0 - many), 0.02, 0.15 * many, 0.2 * many, 0.8)
        return cls(0.5 * (1.0 - many), 0.05, 0.25 * many**2, 0.3 * many, 0.0)

    def parameters(self, correlated: float = 0.0, plain_only: float = 0.0) -> dict[str, tuple[float, ...]]:
        """The kernel's parameters.

        Parameters
        ----------
        correlated : float, default=0.0
            How much correlations count, from 0 to 1.
        plain_only : float, default=0.0
            How much of the other views' weight goes to the columns as they are.
        """
        plain = max(self.few_rows, self.plain * (1.0 - correlated if self.linear else 1.0))
        decorrelated = correlated * self.decorrelated
        others = np.array([1.0 - plain - self.ranks - decorrelated, self.ranks, decorrelated])
        logarithms, ranks, decorrelated = ((1.0 - plain_only) * others).tolist()
        return {
            "view_weights": (plain + plain_only * (1.0 - plain), logarithms, ranks),
            "decorrelated": (0.0, decorrelated, 0.0),
            "linear": (correlated * self.linear, 0.0, 0.0),
        }

    def for_columns(self, scaling: Scaling, n_rows: int, n_columns: int) -> dict[str, tuple[float, ...]]:
        """The kernel's parameters for so many rows and columns.

        Correlations count where there are more than five rows per column, in full from ten on: a covariance of fewer
        is mostly noise, and training rows are closer than new ones in a metric of that noise.

        Where columns are many, also relative to the rows, and their tails are light, logarithms and ranks gain nothing,
        and hide a row that is far off in one of them: the columns as they are have all the weight with at least 200
        columns, half as many as rows, none of them heavy. With fewer than 90 rows they have less: otherwise too many
        new rows would be labelled outliers.
        """
        correlated = min(max(n_rows / (ROWS_PER_COLUMN * n_columns) - 1.0, 0.0), 1.0)
        ramps = (n_columns / MANY_COLUMNS - 1.0, 4.0 * n_columns / n_rows - 1.0, 2.0 * n_rows / FEW_ROWS - 0.8)
        many = max(min(*ramps, 1.0), 0.0)
        light = max(0.0, 1.0 - 10.0 * scaling.heavy_share) if many else 0.0
        return self.parameters(correlated, many * light)


def has_features(parts: Components, settings: dict[str, Any]) -> bool:
    """Whether a whitened description of the whole space needs a kernel's features; see :func:`for_rows`."""
    everything = settings["n_components"] == "all" and settings["residual"]
    return everything and not (parts.kernel.is_identity or isinstance(parts.laplacian, NoGraph))


def has_whole_space(parts: Components, settings: dict[str, Any], n_rows: int) -> bool:
    """Whether the description is that of a kernel's whole space, which needs no features."""
    kernel, laplacian = parts.kernel, parts.laplacian
    if not (isinstance(kernel, PairwiseKernel) and kernel.energy in (None, 1.0) and kernel.has_whole_space):
        return False
    open_settings = settings["n_components"] == "all" and not settings["n_iter"] and settings["residual"]
    if not open_settings or not isinstance(settings["init"], str) or settings["center"]:
        return False
    return isinstance(laplacian, Identity) or (isinstance(laplacian, NoGraph) and kernel.is_exact(n_rows))
