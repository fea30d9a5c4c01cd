"""The checks of an updater: what ``update`` returns, and whether the criterion moves the way it is asked to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pyod_gessvdd.checks import data
from pyod_gessvdd.checks.check import CheckFailed, CheckFunction, refuses_politely, require
from pyod_gessvdd.checks.common import Kind, common_checks
from pyod_gessvdd.components.contracts import Laplacian, UpdateState
from pyod_gessvdd.components.validation import as_graph, check_projection
from pyod_gessvdd.dual import upper_bounds
from pyod_gessvdd.errors import ComponentError
from pyod_gessvdd.laplacians.between import Between
from pyod_gessvdd.laplacians.knn import KNN
from pyod_gessvdd.laplacians.pca import PCA
from pyod_gessvdd.qp import solve_in_place
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe
from pyod_gessvdd.subspace import orthonormalise, random_directions, subspace_distance, whiten

Array = np.ndarray

#: Subspaces whose largest angle has a smaller sine than this are the same.
SAME_SUBSPACE = 1e-5
#: The direction of the criterion is judged over this many random starts per graph.
N_STARTS = 5


def _state(
    updater: Any,
    seed: int = 0,
    *,
    criterion: str = "max",
    graph: Laplacian | None = PCA(),  # noqa: B008 (stateless)
    Phi: Array | None = None,
    d: int = 3,
    nu: float = 0.4,
) -> UpdateState:
    """What the host gives an updater at its first update, from a random subspace."""
    Phi = data.rows(seed, 60, 6) if Phi is None else Phi
    L = None if graph is None else as_graph(graph.build(Phi, 0), len(Phi), graph)
    S_x = None if L is None else L.scatter(Phi)
    Q = random_directions(d, Phi.shape[1], seed)
    whitening = whiten(Q, S_x, 1e-6)
    sphere = solve_in_place(
        Phi @ (whitening.root @ Q).T, upper_bounds(len(Phi), None, nu), FrankWolfe(compiled=False), 1e-8, None
    )
    return UpdateState(
        Q=Q,
        Phi=Phi,
        alpha=sphere.alpha,
        S_x=S_x,
        S_inv=whitening.inverse,
        graph=L,
        n_components=d,
        criterion=criterion,
        iteration=1,
        boundary=sphere.boundary,
    )


def _arrays(state: UpdateState) -> dict[str, Array]:
    names = ("Q", "Phi", "alpha", "S_x", "S_inv", "boundary")
    return {f"state.{name}": value for name in names if (value := getattr(state, name)) is not None}


def _update(updater: Any, state: UpdateState) -> Array:
    """The new subspace: orthonormal rows, as the host makes them, after the host's own checks."""
    try:
        Q = check_projection(updater.update(state), state.n_components, state.Q.shape[1], updater)
    except ComponentError as error:
        raise CheckFailed(f"the host refuses what update returned: {error}") from error
    return orthonormalise(Q)


def _answer(updater: Any, state: UpdateState) -> dict[str, Array]:
    Q = _update(updater, state)
    return {"subspace": Q.T @ Q}


def _detector(updater: Any) -> tuple[dict[str, Any], Array, Array]:
    return {"kernel": "linear", "n_components": 2, "laplacian": "pca"}, data.rows(0), data.rows(1)[:10]


KIND = Kind(
    name="updater",
    inputs=_state,
    arrays=_arrays,
    answer=_answer,
    tolerance=lambda updater: 1e-7,
    detector=_detector,
)


def _criterion(state: UpdateState, Q: Array) -> float:
    """Tr((Q S_x Qᵀ)⁻¹ Q S_α Qᵀ) for the state's α."""
    return float(np.trace(np.linalg.solve(Q @ state.scatter_dot(Q.T), Q @ state.S_alpha @ Q.T)))


def check_updater_shape(updater: Any) -> None:
    """``update`` returns at most ``state.n_components`` rows of F numbers."""
    for d in (1, 3):
        state = _state(updater, d=d)
        Q = np.asarray(updater.update(state))
        F = state.Q.shape[1]
        require(
            Q.ndim == 2 and Q.shape[1] == F and Q.shape[0] <= d,
            f"update returned shape {Q.shape} for n_components={d} and {F} features; return shape ({d}, {F}), one "
            "direction per row",
        )


def check_updater_is_real_and_finite(updater: Any) -> None:
    """The projection holds finite real numbers."""
    for criterion in ("min", "max"):
        Q = np.asarray(updater.update(_state(updater, criterion=criterion)))
        require(Q.dtype.kind in "biuf", f"update returned values of type {Q.dtype}; return real numbers")
        require(np.isfinite(Q).all(), "update returned NaN or infinite values on ordinary data")


def check_updater_keeps_the_dimension(updater: Any) -> None:
    """On data with enough directions the rows are as many as asked for, and independent."""
    for criterion in ("min", "max"):
        state = _state(updater, criterion=criterion)
        found = len(_update(updater, state))
        require(
            found == state.n_components,
            f"of the {state.n_components} dimensions asked for, {found} are left (criterion {criterion!r}); return "
            "independent rows",
        )


def check_updater_moves_the_criterion_as_asked(updater: Any) -> str | None:
    """From random starts the criterion ends higher for "max" than for "min"; on average it rises, and falls.

    A step of a fixed length may overshoot, so no single one is judged. With ``improves_criterion = False`` only the
    order of the two counts, and with None nothing.
    """
    if updater.improves_criterion is None:
        return "it declares improves_criterion = None"
    graphs: list[Laplacian | None] = [PCA(), KNN()]
    if not updater.needs_graph:
        graphs.append(None)
    for graph in graphs:
        name = "no graph" if graph is None else f"the {graph.name} graph"
        changes: dict[str, list[float]] = {"min": [], "max": []}
        for seed in range(N_STARTS):
            start = _state(updater, seed, graph=graph)
            for criterion, changed in changes.items():
                state = replace(start, criterion=criterion, Q=start.Q.copy(), memo={})
                changed.append(np.log(_criterion(start, _update(updater, state)) / _criterion(start, start.Q)))
        rise, fall = float(np.mean(changes["max"])), float(np.mean(changes["min"]))
        require(
            rise > fall,
            f"with {name} the criterion Tr((Q S_x Qᵀ)⁻¹ Q S_α Qᵀ) changes by {np.expm1(rise):+.2g} for 'max' and by "
            f"{np.expm1(fall):+.2g} for 'min' (shares of itself, mean over {N_STARTS} starts); follow state.criterion: "
            "multiply the step along the gradient by state.sign",
        )
        require(
            rise > 0 > fall or not updater.improves_criterion,
            f"with {name} the criterion changes by {np.expm1(rise):+.2g} for 'max' and by {np.expm1(fall):+.2g} for "
            f"'min' (shares of itself, mean over {N_STARTS} starts); it must rise for 'max' and fall for 'min': take a "
            "smaller step, or declare improves_criterion = False if the update improves something else",
        )
    return None


def check_updater_without_a_graph(updater: Any) -> str | None:
    """Without a graph (``state.graph`` and ``state.S_x`` None) it works too, unless it declares ``needs_graph``."""
    if updater.needs_graph:
        return "it declares needs_graph = True"
    for criterion in ("min", "max"):
        state = _state(updater, criterion=criterion, graph=None)
        try:
            found = len(_update(updater, state))
        except Exception as error:
            raise CheckFailed(
                f"without a graph update raised {type(error).__name__} ({error}); use state.scatter_dot, which takes "
                "S_x = I then, or declare needs_graph = True"
            ) from error
        require(found > 0, "without a graph update finds no direction; declare needs_graph = True")
    return None


def check_updater_ignores_the_order_of_rows(updater: Any) -> None:
    """Samples in another order give the same subspace."""
    state = _state(updater, graph=KNN())
    order = np.random.default_rng(0).permutation(len(state.Phi))
    graph = as_graph(KNN().build(state.Phi[order], 0), len(order), KNN())
    place = np.argsort(order)
    moved = replace(
        state,
        Phi=state.Phi[order],
        alpha=state.alpha[order],
        graph=graph,
        boundary=np.sort(place[state.boundary]),
        memo={},
    )
    distance = subspace_distance(_update(updater, state), _update(updater, moved))
    require(
        distance <= SAME_SUBSPACE,
        f"the same samples in another order give a subspace that is {distance:.1g} away (sine of the largest angle); "
        "let nothing depend on a row's number",
    )


def check_updater_ignores_the_basis(updater: Any) -> None:
    """A rotated basis of the same subspace gives the same new subspace: the criterion does not see the basis."""
    state = _state(updater)
    R = orthonormalise(np.random.default_rng(0).normal(size=(len(state.Q),) * 2))
    rotated = replace(state, Q=R @ state.Q, S_inv=R @ state.S_inv @ R.T, memo={})
    distance = subspace_distance(_update(updater, state), _update(updater, rotated))
    require(
        distance <= SAME_SUBSPACE,
        f"another orthonormal basis of the same subspace leads to a subspace that is {distance:.1g} away (sine of the "
        "largest angle); the signs and the order of Q's rows are arbitrary: treat all rows together",
    )


def check_updater_memo(updater: Any) -> None:
    """What it keeps in ``state.memo`` does not depend on Q or α: a later update finds the same with it as without."""
    first = _state(updater, 0)
    later = replace(_state(updater, 0, criterion="max", nu=0.2), iteration=2, memo=first.memo)
    _update(updater, first)
    with_memo = _update(updater, later)
    without = _update(updater, replace(later, memo={}))
    distance = subspace_distance(with_memo, without)
    require(
        distance <= SAME_SUBSPACE,
        f"after another update on the same data, state.memo leads {distance:.1g} away (sine of the largest angle) from "
        "what an empty memo gives; keep there only what depends on Φ and the graph",
    )


def _check_on(updater: Any, on: str, **settings: Any) -> None:
    for criterion in ("min", "max"):
        state = _state(updater, criterion=criterion, **settings)
        Q = refuses_politely(lambda state=state: updater.update(state), on)  # type: ignore[misc]
        if Q is not None:
            try:
                check_projection(Q, state.n_components, state.Q.shape[1], updater)
            except ComponentError as error:
                raise CheckFailed(f"on {on} the host refuses what update returned: {error}") from error


def check_updater_on_one_column(updater: Any) -> None:
    """Data of one column get a valid projection, or are refused by a sentence."""
    _check_on(updater, "data of one column", Phi=data.rows(0)[:, :1], d=1)


def check_updater_on_the_whole_space(updater: Any) -> None:
    """A subspace of all dimensions gets a valid projection, or is refused by a sentence."""
    _check_on(updater, "a subspace of all dimensions", d=6)


def check_updater_on_duplicates(updater: Any) -> None:
    """Data in which every row occurs six times get a valid projection, or are refused by a sentence."""
    _check_on(updater, "data in which every row occurs six times", Phi=np.tile(data.rows(0, 10), (6, 1)))


def check_updater_on_a_constant_column(updater: Any) -> None:
    """Data with a constant column, in which there is no scatter, get a valid projection, or are refused."""
    Phi = data.rows(0, 60, 6)
    Phi[:, 1] = 0.0
    _check_on(updater, "data with a constant column", Phi=Phi)


def check_updater_on_a_singular_graph(updater: Any) -> None:
    """A graph that does not see every direction gets a valid projection, or is refused by a sentence."""
    _check_on(updater, "a graph of rank 1", graph=Between(n_clusters=2))


def check_updater_on_few_support_vectors(updater: Any) -> None:
    """Three support vectors, fewer than S_α needs for its full rank, get a valid projection, or are refused."""
    _check_on(updater, "three samples", Phi=data.rows(0, 3, 6), d=1, nu=0.5)


CHECKS: tuple[CheckFunction, ...] = (
    *common_checks(KIND),
    check_updater_shape,
    check_updater_is_real_and_finite,
    check_updater_keeps_the_dimension,
    check_updater_moves_the_criterion_as_asked,
    check_updater_without_a_graph,
    check_updater_ignores_the_order_of_rows,
    check_updater_ignores_the_basis,
    check_updater_memo,
    check_updater_on_one_column,
    check_updater_on_the_whole_space,
    check_updater_on_duplicates,
    check_updater_on_a_constant_column,
    check_updater_on_a_singular_graph,
    check_updater_on_few_support_vectors,
)
