"""How a fit learns from a source: the steps of :mod:`learning` as sums over blocks, with the same components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from pyod_gessvdd import progress
from pyod_gessvdd.boundaries.boundary import Boundary
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.contracts import Kernel, NoGraph, UpdateState
from pyod_gessvdd.description import Description
from pyod_gessvdd.detectors.learning import learn_whole_space
from pyod_gessvdd.detectors.rows import MAX_LEARNING_ROWS
from pyod_gessvdd.detectors.settings import Components
from pyod_gessvdd.detectors.start import start
from pyod_gessvdd.dual import BOUND_TOLERANCE, QPSolution, upper_bounds
from pyod_gessvdd.feature_map import FeatureMap
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import RELATIVE_ZERO, row_blocks, shift_rows
from pyod_gessvdd.preprocessing import Scaling
from pyod_gessvdd.qp.auto import Auto
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe
from pyod_gessvdd.residual import LEFT_OUT_POWER, left_out_factor, leverage_of
from pyod_gessvdd.sources.source import Source, meeting
from pyod_gessvdd.streamed import graphs, sphere
from pyod_gessvdd.streamed.kernels import check_streamable_kernel, fit_kernel
from pyod_gessvdd.streamed.order import draw
from pyod_gessvdd.streamed.scaling import learn_scaling
from pyod_gessvdd.streamed.sphere import StreamedSolution
from pyod_gessvdd.streamed.sums import Moments, moments, survey
from pyod_gessvdd.streamed.trust import TrustRule, trust_rule
from pyod_gessvdd.subspace import Subspace
from pyod_gessvdd.training import alternate
from pyod_gessvdd.whole_space import WholeSpace

Array = np.ndarray


class RowResults(NamedTuple):
    """What a fit finds for the training rows of a block.

    Attributes
    ----------
    scores : ndarray of float
        As if left out, where that is known.
    alpha : ndarray of float
        Their α.
    trusted : ndarray of bool
        Whether each is trusted.
    side : ndarray of int8
        0 inside the sphere, 1 on it, 2 outside.
    """

    scores: Array
    alpha: Array
    trusted: Array
    side: Array

    @classmethod
    def of(cls, scores: Array, alpha: Array, trusted: Array, upper: Any) -> RowResults:
        """The results, with the side that follows from α and its bound."""
        side = (alpha > BOUND_TOLERANCE * upper).astype(np.int8) + (alpha >= (1.0 - BOUND_TOLERANCE) * upper)
        return cls(scores, alpha, trusted, side)


NO_ROWS = RowResults(np.empty(0), np.empty(0), np.empty(0, dtype=bool), np.empty(0, dtype=np.int8))


@dataclass(frozen=True, eq=False)
class StreamedModel:
    """What a fit to a source learns, see :class:`~pyod_gessvdd.detectors.model.Model`.

    Attributes
    ----------
    components, description, history, stop_reason, best_iteration, trust_history
        As for rows in memory.
    of_rows : callable
        Maps a block and the indices of its rows to their :class:`RowResults`.
    n_trusted : int
        How many rows the description was learnt from.
    nu : float
        The share of them that may be outside the sphere.
    has_left_out : bool
        Whether trusted rows are scored as if left out.
    boundary : ndarray of int
        The indices of the rows on the sphere.
    alpha_mean : ndarray of shape (F,) or None
        The features' mean weighted by α, where explanations of a linear description start.
    """

    components: Components
    description: Description | WholeSpace
    history: list[dict[str, Any]]
    stop_reason: str
    best_iteration: int
    of_rows: Callable[[Array, Array], RowResults]
    n_trusted: int
    nu: float
    has_left_out: bool
    boundary: Array
    trust_history: list[dict[str, Any]] = field(default_factory=list)
    alpha_mean: Array | None = None


def check_streamable(
    parts: Components, settings: dict[str, Any], boundary: type[Boundary], whole: bool, n_rows: int
) -> None:
    """Raise one sentence about the first thing that needs all rows in memory, and what does not."""
    if boundary is not Sphere:
        raise ValueError("a half-space needs all rows in memory; the detectors with a sphere accept a source")
    if settings["calibration"] is not None:
        raise ValueError(
            "calibration holds single rows back, which needs all rows in memory; for a source, pass the scores of rows "
            "that you held back to update_threshold"
        )
    if settings["use_labels"]:
        raise ValueError("labels need all rows in memory; fit a source without use_labels")
    if parts.feature_laplacian is not None:
        raise ValueError("a graph over the columns needs all rows in memory; use feature_laplacian=None with a source")
    kernel, updater, backend = parts.kernel, parts.updater, parts.qp_backend
    if not whole:
        check_streamable_kernel(kernel, n_rows)
    if whole and isinstance(parts.laplacian, NoGraph):
        raise ValueError(
            "a whole space without a graph is described by the kernel matrix of all rows; laplacian='identity' accepts "
            "a source"
        )
    if settings["n_iter"] and not (updater.by_scatter and getattr(updater, "psi", None) in (None, 0, 2)):
        raise ValueError(
            f"updater {updater.name!r} needs all rows in memory; gradient (with psi 0 or 2), spectral, riemannian and "
            "newton accept a source"
        )
    if not isinstance(backend, Auto | FrankWolfe):
        raise ValueError(
            f"QP backend {backend.name!r} needs all points in memory; auto and frank_wolfe accept a source"
        )


def learn(
    source: Source, parts: Components, settings: dict[str, Any], trust_kernel: Kernel, whole: bool
) -> StreamedModel:
    """The description of a source's rows.

    Parameters
    ----------
    source : Source
        The rows, more than are read into memory.
    parts, settings
        The components, and every setting with its value.
    trust_kernel : Kernel
        The kernel of the wide description that decides which rows are trusted.
    whole : bool
        Whether the whole of the kernel's space is described.
    """
    progress.stage("columns")
    known = survey(source)
    if not known.scatter.any():
        raise ValueError(f"all {len(source)} rows of X are equal: there is nothing to describe")
    rule: TrustRule | None = None
    if settings["trim"]:
        rule = trust_rule(
            source,
            known,
            trust_kernel,
            1.0 - settings["trim"],
            settings["random_state"],
            standardize=bool(settings["standardize"]),
            center=settings["center"] is not False,
        )
    if whole:
        return _in_whole_space(source, known, rule, parts, settings)
    return _in_subspace(source, known, rule, parts, settings)


def _in_whole_space(
    source: Source, known: Moments, rule: TrustRule | None, parts: Components, settings: dict[str, Any]
) -> StreamedModel:
    progress.stage("scaling")
    scaling = learn_scaling(source, known, parts.kernel, center=True, standardize=settings["standardize"])
    scaled = source.mapped(scaling.apply, scaling.n_views * source.n_columns)
    drawn = draw(scaled, MAX_LEARNING_ROWS, check_random_state(settings["random_state"]))
    X = source.take(drawn)
    is_trusted = np.ones(len(X), dtype=bool) if rule is None else rule(X, drawn)
    learnt = learn_whole_space(X, None, is_trusted, scaling, parts, settings)
    solution, trusted = learnt.solution, learnt.trusted
    places = drawn[trusted]
    everywhere = np.ones(len(trusted), dtype=bool)
    results = RowResults.of(learnt.left_out_scores[trusted], solution.alpha, everywhere, solution.upper)
    return StreamedModel(
        parts,
        learnt.description,
        learnt.history,
        learnt.stop_reason,
        learnt.best_iteration,
        _WholeSpaceRows(learnt.description, places, results),
        len(places),
        min(1.0, 1.0 / float(solution.upper.sum())),
        True,
        places[solution.boundary],
        [] if rule is None else rule.history,
    )


class _WholeSpaceRows:
    """Rows that were learnt from keep their results; the others are new rows."""

    def __init__(self, description: Any, places: Array, results: RowResults) -> None:
        self.description, self.places, self.results = description, places, results

    def __call__(self, block: Array, rows: Array) -> RowResults:
        if not len(block):
            return NO_ROWS
        zeros = np.zeros(len(block))
        out = RowResults(self.description.scores(block), zeros, zeros.astype(bool), zeros.astype(np.int8))
        ours, here = meeting(self.places, rows)
        for values, kept in zip(out, self.results, strict=True):
            values[here] = kept[ours]
        return out


def _in_subspace(
    source: Source, known: Moments, rule: TrustRule | None, parts: Components, settings: dict[str, Any]
) -> StreamedModel:
    rows, keep = source, None
    progress.stage("scaling")
    if rule is not None:
        rows = chosen = rule.rows(source)
        keep = chosen.keep
    center = settings["center"] is not False
    if rule is not None:
        known = survey(rows)
    scaling = learn_scaling(rows, known, parts.kernel, center=center, standardize=settings["standardize"])
    scaled = rows.mapped(scaling.apply, scaling.n_views * source.n_columns)
    total = known.after(scaling) or moments(scaled)
    if not parts.kernel.is_identity:
        total = fit_kernel(parts.kernel, scaled, total)
    mean = None
    if center:
        size = np.sqrt(float(np.trace(total.around_zero)) / (total.n_rows * len(total.mean)))
        mean = total.mean if np.abs(total.mean).max() > RELATIVE_ZERO * size else None
        total = Moments(total.n_rows, np.zeros_like(total.mean) if mean is not None else total.mean, total.scatter)
    feature_map = FeatureMap(scaling, parts.kernel, mean, len(total.mean), counts_missed=bool(settings["residual"]))
    data = SourceData(rows, feature_map, total, parts.laplacian, settings)
    C = float(upper_bounds(rows.n_rows, _bound(settings["C"], rows.n_rows), settings["nu"])[0])
    backend = parts.qp_backend if isinstance(parts.qp_backend, FrankWolfe) else FrankWolfe()

    def fit_boundary(points_of: PointsOf, last: QPSolution | None) -> tuple[Boundary, QPSolution]:
        features_of = _FeaturesOf(feature_map)
        solution = sphere.solve(rows, points_of, C, data.sample, backend, settings["qp_tol"], features_of)
        return Sphere(solution.center, solution.radius2), solution

    around = total.scatter if settings["around_mean"] else total.around_zero
    progress.stage("graph")
    Q = start(data.features, data.S_x, settings, settings["random_state"], None, around)
    result = alternate(
        data,
        Q,
        updater=parts.updater,
        fit_boundary=fit_boundary,
        warn_of_lost_dimensions=isinstance(settings["n_components"], int) or not isinstance(settings["init"], str),
        **{name: settings[name] for name in ("criterion", "ridge", "n_iter", "tol", "keep")},
    )
    solution = result.solution
    assert isinstance(solution, StreamedSolution)
    description = Description(feature_map, result.subspace, result.boundary)
    has_left_out = bool(settings["residual"]) and data.S_x is not None
    power = 1.0 if settings["n_components"] == "all" else LEFT_OUT_POWER
    unit = data.largest_scatter(result.subspace) if has_left_out else 0.0
    return StreamedModel(
        parts,
        description,
        result.history,
        result.stop_reason,
        result.best_iteration,
        _SubspaceRows(description, solution, keep, unit, power),
        rows.n_rows,
        min(1.0, 1.0 / (C * rows.n_rows)),
        has_left_out,
        solution.places[solution.boundary],
        [] if rule is None else rule.history,
        solution.alpha_mean if parts.kernel.is_identity else None,
    )


def _bound(C: float | None, n_rows: int) -> float | None:
    """C, raised where it sufficed for all rows but not for fewer."""
    return None if C is None else max(C, 1.0 / n_rows)


class PointsOf:
    """From rows to their points in a subspace, Z and r²/ρ or None; in one product where that suffices.

    Attributes
    ----------
    before : Scaling or None
        What is done to the rows before the product.
    product : tuple of ndarray or None
        W and b with z = Wx − b, where the features are the scaled rows and nothing of them is outside the subspace.
    """

    def __init__(self, feature_map: FeatureMap, subspace: Subspace) -> None:
        self.feature_map, self.subspace = feature_map, subspace
        self.before: Scaling | None = None
        self.product: tuple[Array, Array] | None = None
        everything = subspace.residual_scale is None or len(subspace.Q) == feature_map.n_features
        if not (feature_map.kernel.is_identity and everything):
            return
        if feature_map.is_affine:
            self.product = feature_map.folded(subspace.projection)
        else:
            self.before, W, mean = feature_map.scaling, subspace.projection, feature_map.mean
            self.product = W, np.zeros(len(W)) if mean is None else W @ mean

    def __call__(self, block: Array) -> tuple[Array, Array | None]:
        """The points of a block."""
        if self.product is None:
            return self._in_parts(block)
        W, b = self.product
        Z = (block if self.before is None else self.before.apply(block)) @ W.T
        return shift_rows(Z, b, out=Z), None

    def _in_parts(self, block: Array) -> tuple[Array, Array | None]:
        """Through the features, which take far more memory than the points: never for many rows at once."""
        if not len(block):
            return np.empty((0, len(self.subspace.Q))), None
        feature_map = self.feature_map
        cost = max(feature_map.kernel.row_cost(block.shape[1]), feature_map.n_features)
        parts = [self.subspace.points(*feature_map.features(block[rows])) for rows in row_blocks(len(block), cost)]
        residuals = [residual2 for _, residual2 in parts if residual2 is not None]
        return np.concatenate([Z for Z, _ in parts]), np.concatenate(residuals) if residuals else None


class _FeaturesOf:
    def __init__(self, feature_map: FeatureMap) -> None:
        self.feature_map = feature_map

    def __call__(self, block: Array) -> Array:
        if not len(block):
            return np.empty((0, self.feature_map.n_features))
        return self.feature_map.features(block)[0]


@dataclass(frozen=True, eq=False)
class SourceData:
    """What stays fixed during the alternation, see :class:`~pyod_gessvdd.training.TrainingData`.

    Attributes
    ----------
    rows : Source
        The trusted rows.
    feature_map : FeatureMap
        From rows to features.
    total : Moments
        The mean and the scatter of the features.
    laplacian, settings
        The graph, and what seeds it.
    """

    rows: Source
    feature_map: FeatureMap
    total: Moments
    laplacian: Any
    settings: dict[str, Any]
    graph: Graph | None = None

    @cached_property
    def features(self) -> Source:
        """The features of the rows."""
        cost = self.feature_map.kernel.row_cost(self.rows.n_columns)
        return self.rows.mapped(_FeaturesOf(self.feature_map), self.feature_map.n_features, cost)

    @cached_property
    def S_x(self) -> Array | None:
        """The graph's scatter."""
        return graphs.scatter(self.laplacian, self.features, self.total, self.settings["random_state"])

    @cached_property
    def sample(self) -> Array:
        """Some of the rows."""
        return sphere.sample_of(self.rows)

    @property
    def counts_residual(self) -> bool:
        """Whether what lies outside the subspace counts."""
        return self.feature_map.counts_missed

    def points(self, subspace: Subspace, last: Any) -> PointsOf:
        """The map from rows to points; no row is kept."""
        return PointsOf(self.feature_map, subspace)

    def state(self, solution: StreamedSolution, **known: Any) -> UpdateState:
        """What an updater sees: Σ α φ and S_α, which came with the solution."""
        # One row that stands for all: with α = 1 it is their mean weighted by α.
        return SummedState(
            Phi=solution.alpha_mean[None], alpha=np.ones(1), sums=(solution.alpha_mean, solution.S_alpha), **known
        )

    def largest_scatter(self, subspace: Subspace) -> float:
        """N times the largest scatter of Z: the unit of a leverage."""
        P = subspace.projection
        return float(np.linalg.eigvalsh(P @ self.total.around_zero @ P.T)[-1])


@dataclass(frozen=True)
class SummedState(UpdateState):
    """The state of an update that knows α and the rows only by their sums: Σ α φ, and S_α."""

    sums: tuple[Array, Array] = field(kw_only=True)

    @cached_property
    def alpha_mean(self) -> Array:
        """Σ α φ."""
        return self.sums[0]

    @cached_property
    def S_alpha(self) -> Array:
        """S_α."""
        return self.sums[1]

    def alpha_scatter_dot(self, B: Array) -> Array:
        """S_α @ B."""
        return self.S_alpha @ B


class _SubspaceRows:
    """Scores of training rows, as if left out where they were trusted and that is known; their α."""

    def __init__(
        self,
        description: Description,
        solution: StreamedSolution,
        keep: Callable[[Array, Array], Array] | None,
        unit: float,
        power: float,
    ) -> None:
        self.description, self.solution = description, solution
        self.sphere = Sphere(solution.center, solution.radius2)
        self.keep, self.unit, self.power = keep, unit, power

    def __call__(self, block: Array, rows: Array) -> RowResults:
        if not len(block):
            return NO_ROWS
        trusted = np.ones(len(block), dtype=bool) if self.keep is None else self.keep(block, rows)
        Z, residual2 = self.solution.points_of(block)
        factor = left_out_factor(leverage_of(Z, residual2, self.unit), self.power) if self.unit > 0 else 1.0
        # Without left-out scores, a row's score is that of a new row, to the last bit.
        scores = self.sphere.scores(Z, residual2) if self.unit > 0 else self.description.scores(block)
        alpha = self.solution.alpha_of(scores * self.sphere.unit, rows)
        scores = scores * np.where(trusted, factor, 1.0)
        return RowResults.of(scores, np.where(trusted, alpha, 0.0), trusted, self.solution.C)
