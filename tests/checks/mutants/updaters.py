"""Broken updaters. Each differs from ``Step``, which keeps its contract, in one thing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyod_gessvdd import Updater
from tests.checks.mutants.register import caught_by


def gradient(state):
    """Of Tr((Q S_x Qᵀ)⁻¹ Q S_α Qᵀ) on the Grassmann manifold, of shape (d, F)."""
    QS = state.Q @ state.S_alpha
    if state.S_x is None:
        return QS
    return state.S_inv @ (QS - QS @ state.Q.T @ state.S_inv @ state.Q @ state.S_x)


class Step(Updater):
    """One step along the gradient."""

    def __init__(self, step_size=0.1):
        self.step_size = step_size

    def update(self, state):
        return state.Q + state.sign * self.step_size * gradient(state)


@caught_by("check_inputs_are_not_changed", "it changes state.Q, which belongs to the host")
class InPlace(Step):
    """Adds to the host's Q."""

    def update(self, state):
        Q = state.Q
        Q += state.sign * self.step_size * gradient(state)
        return Q


@caught_by("check_nothing_is_remembered", "gives another subspace")
class Momentum(Step):
    """Keeps its last step from one fit to the next."""

    def update(self, state):
        last = getattr(self, "last_", 0.0)
        self.last_ = state.sign * self.step_size * gradient(state)
        return state.Q + self.last_ + last


@caught_by("check_updater_shape", "update returned shape (6, 1) for n_components=1 and 6 features")
class Transposed(Step):
    """Returns columns."""

    def update(self, state):
        return super().update(state).T


@caught_by("check_updater_is_real_and_finite", "update returned NaN or infinite values on ordinary data")
class NaN(Step):
    """Divides zero by zero."""

    def update(self, state):
        return super().update(state) * np.divide(0.0, np.zeros(1))


@caught_by("check_updater_is_real_and_finite", "update returned values of type complex128")
class Complex(Step):
    """Returns complex numbers."""

    def update(self, state):
        return super().update(state).astype(complex)


@caught_by("check_updater_keeps_the_dimension", "of the 3 dimensions asked for, 1 are left")
class Collapses(Step):
    """Returns the same direction three times."""

    def update(self, state):
        return np.tile(super().update(state)[:1], (len(state.Q), 1))


@caught_by("check_updater_moves_the_criterion_as_asked", "multiply the step along the gradient by state.sign")
class WrongSign(Step):
    """Minimises when asked to maximise, and the other way round."""

    def update(self, state):
        return state.Q - state.sign * self.step_size * gradient(state)


@caught_by("check_updater_moves_the_criterion_as_asked", "follow state.criterion")
class AlwaysMinimises(Step):
    """Does not look at the criterion."""

    def update(self, state):
        return state.Q - self.step_size * gradient(state)


@caught_by("check_updater_moves_the_criterion_as_asked", "declare improves_criterion = False")
class Overshoots(Step):
    """Takes steps that are far too long."""

    def __init__(self, step_size=-1.5):
        self.step_size = step_size

    def update(self, state):
        # Half of the way to where the criterion is lowest, in either direction; a little less for "max".
        step = (1.0 if state.criterion == "min" else 0.9) * 0.05
        return state.Q - step * gradient(state)


@caught_by("check_updater_without_a_graph", "use state.scatter_dot, which takes S_x = I then, or declare needs_graph")
class NeedsGraph(Step):
    """Uses the graph's scatter and does not say so."""

    def update(self, state):
        return super().update(state) @ np.eye(len(state.S_x))


@caught_by("check_updater_ignores_the_order_of_rows", "the same samples in another order")
class FirstRow(Step):
    """Leans towards the first sample."""

    def update(self, state):
        return super().update(state) + 0.1 * state.Phi[0]


@caught_by("check_updater_ignores_the_basis", "the signs and the order of Q's rows are arbitrary")
class RowByRow(Step):
    """Steps farther in the first direction than in the last."""

    def update(self, state):
        lengths = np.linspace(1.0, 0.1, len(state.Q))[:, None]
        return state.Q + state.sign * self.step_size * lengths * gradient(state)


@caught_by("check_updater_memo", "keep there only what depends on Φ and the graph")
class Memorises(Step):
    """Keeps S_α, which changes, from the first update on."""

    def update(self, state):
        state.memo.setdefault("gradient", gradient(state))
        return state.Q + state.sign * self.step_size * state.memo["gradient"]


@caught_by("check_updater_on_one_column", "on data of one column it raised IndexError")
class TwoColumns(Step):
    """Needs a second column."""

    def update(self, state):
        state.Phi[:, 1].max()
        return super().update(state)


@caught_by("check_updater_on_the_whole_space", "on a subspace of all dimensions it raised IndexError")
class LooksOutside(Step):
    """Takes a direction outside the subspace for granted."""

    def update(self, state):
        np.linalg.qr(state.Q.T, mode="complete")[0].T[len(state.Q) :][0].max()
        return super().update(state)


@caught_by("check_updater_on_duplicates", "on data in which every row occurs six times it raised RuntimeError")
class DistinctRows(Step):
    """Takes distinct rows for granted."""

    def update(self, state):
        if len(np.unique(state.Phi, axis=0)) < len(state.Phi):
            raise RuntimeError("equal rows")
        return super().update(state)


@caught_by("check_updater_on_a_constant_column", "on data with a constant column the host refuses")
class Standardises(Step):
    """Divides by the spread of each column."""

    def update(self, state):
        spread = state.Phi.std(axis=0)
        return super().update(replace(state, Phi=state.Phi / np.where(spread > 0, spread, np.nan)))


@caught_by("check_updater_on_a_singular_graph", "state in a sentence what is wrong")
class Inverts(Step):
    """Inverts the scatter of the graph."""

    def update(self, state):
        if state.S_x is not None and np.linalg.cond(state.S_x) > 1e10:
            raise np.linalg.LinAlgError("Singular matrix")
        return super().update(state)


@caught_by("check_updater_on_few_support_vectors", "on three samples it raised IndexError")
class ManySupportVectors(Step):
    """Takes ten support vectors for granted."""

    def update(self, state):
        state.support[9].max()
        return super().update(state)
