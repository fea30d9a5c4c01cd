"""Broken graphs. Each differs from ``Chain``, which keeps its contract, in one thing."""

from __future__ import annotations

import random

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd import Graph, Laplacian
from tests.checks.mutants.register import caught_by


def chain(Phi):
    """The adjacency of each sample and the next one along the first principal direction."""
    order = np.argsort(Phi @ np.cos(np.arange(1, Phi.shape[1] + 1)), kind="stable")
    A = sp.csr_array((np.ones(len(Phi) - 1), (order[:-1], order[1:])), shape=(len(Phi),) * 2)
    return A + A.T


class Chain(Laplacian):
    """Links each sample to the next one along a line."""

    kills_constants = True

    def __init__(self, weight=1.0):
        self.weight = weight

    def build(self, Phi, random_state):
        return self.weight * Graph.from_adjacency(chain(Phi))


@caught_by("check_contract", "needs contract 99, this pyod-gessvdd")
class FromTheFuture(Chain):
    """Is written for a contract that does not exist yet."""

    contract = 99


@caught_by("check_contract", "a name is letters, digits, '_' and '-'")
class BadName(Chain):
    """Has a name that no spec string can hold."""

    name = "my graph!"


@caught_by("check_contract", "give every parameter of __init__ a default")
class NoDefault(Chain):
    """Cannot be made without arguments."""

    def __init__(self, weight):
        self.weight = weight


@caught_by("check_docstring", "begin it with a sentence")
class Undocumented(Chain):
    pass


@caught_by("check_docstring", "end the sentence with a full stop")
class NoSentence(Chain):
    """my graph"""


@caught_by("check_parameters_are_only_stored", "write self.weight = weight")
class Converts(Chain):
    """Alters a parameter in its constructor."""

    def __init__(self, weight=1):
        self.weight = str(weight)

    def build(self, Phi, random_state):
        return float(self.weight) * Graph.from_adjacency(chain(Phi))


@caught_by("check_parameters_are_only_stored", "only store them there")
class Validates(Chain):
    """Checks a parameter in its constructor."""

    def __init__(self, weight=1.0):
        self.weight = weight
        if weight <= 0:
            raise ValueError("weight must be positive")


@caught_by("check_parameters_are_only_stored", "__init__ sets cache, which is not a parameter")
class SetsMore(Chain):
    """Sets in its constructor what is no parameter."""

    def __init__(self, weight=1.0):
        self.weight = weight
        self.cache = {}


@caught_by("check_parameters_can_be_set", "set_params(weight=…) has no effect on get_params()")
class Deaf(Chain):
    """Keeps the first value of a parameter."""

    @property
    def weight(self):
        return self._weight

    @weight.setter
    def weight(self, value):
        self.__dict__.setdefault("_weight", value)


@caught_by("check_parameters_can_be_set", "set_params(scale=…) changes weight too")
class Entangled(Chain):
    """Has a parameter that is another's double."""

    def __init__(self, weight=1.0, scale=1.0):
        self.weight = weight
        self.scale = scale

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "scale":
            super().__setattr__("weight", value)


@caught_by("check_clone", "its clone gives another graph")
class HiddenState(Chain):
    """Has a setting that is no parameter, and that only a new one has not."""

    def build(self, Phi, random_state):
        self.calls = getattr(self, "calls", 0) + 1
        return (1.0 if self.calls == 1 else 2.0) * Graph.from_adjacency(chain(Phi))

    def __sklearn_clone__(self):
        cloned = type(self)(self.weight)
        cloned.calls = 1
        return cloned


@caught_by("check_pickle", "a used one cannot be pickled")
class Unpicklable(Chain):
    """Keeps a function that cannot be pickled."""

    def build(self, Phi, random_state):
        self.link_ = lambda rows: chain(rows)
        return Graph.from_adjacency(self.link_(Phi))


@caught_by("check_use_leaves_parameters_alone", "using it changes its parameter weight")
class Adapts(Chain):
    """Replaces a parameter by what it learns."""

    def build(self, Phi, random_state):
        self.weight = 1.0 + len(Phi)
        return Graph.from_adjacency(chain(Phi))


@caught_by("check_inputs_are_not_changed", "it changes Phi, which belongs to the host")
class CentresInPlace(Chain):
    """Scales the host's features."""

    def build(self, Phi, random_state):
        Phi /= np.abs(Phi).max()
        return super().build(Phi, random_state)


@caught_by("check_same_seed_same_answer", "draw every random number from sklearn.utils.check_random_state")
class IgnoresRandomState(Chain):
    """Draws random weights that nobody can repeat."""

    def build(self, Phi, random_state):
        return np.random.default_rng().uniform(1.0, 2.0) * super().build(Phi, random_state)


@caught_by("check_global_random_numbers_are_not_used", "the random numbers that the whole process shares")
class NumpyGlobal(Chain):
    """Draws from numpy's global random numbers."""

    def build(self, Phi, random_state):
        return (1.0 + np.random.rand()) * super().build(Phi, random_state)  # noqa: NPY002


@caught_by("check_global_random_numbers_are_not_used", "the random numbers that the whole process shares")
class SeedsPython(Chain):
    """Seeds Python's global random numbers, so that its own can be repeated."""

    def build(self, Phi, random_state):
        random.seed(random_state)
        return (1.0 + random.random()) * super().build(Phi, random_state)


@caught_by("check_nothing_is_remembered", "one that was used on other data of the same shape before")
class Stale(Chain):
    """Keeps its first graph."""

    def build(self, Phi, random_state):
        if not hasattr(self, "graph_"):
            self.graph_ = super().build(Phi, random_state)
        return self.graph_


@caught_by("check_works_in_a_detector", "GESSVDD(laplacian=…).fit raised IndexError")
class SmallSeeds(Chain):
    """Works for small seeds only."""

    def build(self, Phi, random_state):
        if random_state is not None and not isinstance(random_state, np.random.RandomState):
            np.zeros(100)[random_state]
        return super().build(Phi, random_state)


@caught_by("check_laplacian_shape", "build returned a matrix of shape (39, 39) for 40 samples")
class TooSmall(Chain):
    """Forgets the last sample."""

    def build(self, Phi, random_state):
        return Graph.from_adjacency(chain(Phi[:-1])).base


@caught_by("check_laplacian_shape", "build returned list")
class Lists(Chain):
    """Returns lists."""

    def build(self, Phi, random_state):
        return super().build(Phi, random_state).toarray().tolist()


@caught_by("check_laplacian_is_real_and_finite", "L holds NaN or infinite weights on ordinary data")
class DividesByZero(Chain):
    """Divides by the distance of each sample to itself."""

    def build(self, Phi, random_state):
        L = super().build(Phi, random_state).toarray()
        return L + np.diag(1.0 / np.linalg.norm(Phi - Phi, axis=1))


@caught_by("check_laplacian_is_real_and_finite", "L holds values of type complex128")
class Complex(Chain):
    """Returns complex numbers."""

    def build(self, Phi, random_state):
        return super().build(Phi, random_state).base.astype(complex)


@caught_by("check_laplacian_is_symmetric", "L is not symmetric on ordinary data")
class OneWay(Chain):
    """Links samples in one direction only."""

    def build(self, Phi, random_state):
        A = sp.triu(chain(Phi), format="csr")
        return sp.diags_array(A.sum(axis=1)) - A


@caught_by("check_laplacian_is_positive_semi_definite", "is D − A (Graph.from_adjacency), not A − D")
class WrongSign(Chain):
    """Returns A − D."""

    def build(self, Phi, random_state):
        return -1.0 * super().build(Phi, random_state)


@caught_by("check_laplacian_is_positive_semi_definite", "its smallest eigenvalue is -")
class Adjacency(Chain):
    """Returns the edge weights instead of the Laplacian."""

    kills_constants = False

    def build(self, Phi, random_state):
        return chain(Phi)


@caught_by("check_laplacian_rows_sum_to_zero", "declare kills_constants = False")
class Ridge(Chain):
    """Adds a ridge, and still says that constants are not seen."""

    def build(self, Phi, random_state):
        return super().build(Phi, random_state) + Graph.identity(len(Phi), 0.1)


@caught_by("check_laplacian_sees_the_scatter", "the graph has no edges")
class NoEdges(Chain):
    """Links nothing."""

    def build(self, Phi, random_state):
        return sp.csr_array((len(Phi),) * 2)


@caught_by("check_laplacian_is_sparse", "L is kept in 1,000,000 numbers")
class Dense(Chain):
    """Returns a dense matrix and claims to be sparse."""

    def build(self, Phi, random_state):
        return super().build(Phi, random_state).base.toarray()


@caught_by("check_laplacian_is_sparse", "return a sparse matrix or Graph.low_rank, or declare sparse = False")
class FullOfSmallWeights(Chain):
    """Links all pairs, in a sparse matrix."""

    def build(self, Phi, random_state):
        distances = ((Phi[:, None] - Phi) ** 2).sum(axis=2)
        return Graph.from_adjacency(sp.csr_array(np.exp(-distances / distances.max())))


@caught_by("check_laplacian_follows_the_samples", "let nothing depend on a row's number")
class RowNumbers(Chain):
    """Links each row to the next one in the array."""

    def build(self, Phi, random_state):
        ones = np.ones(len(Phi) - 1)
        return Graph.from_adjacency(sp.diags_array([ones, ones], offsets=[-1, 1]))


@caught_by("check_laplacian_takes_any_random_state", "pass it through sklearn.utils.check_random_state")
class WholeSeeds(Chain):
    """Takes whole numbers as seeds only."""

    def build(self, Phi, random_state):
        np.random.default_rng(random_state + 1)
        return super().build(Phi, random_state)


class _Operator(Graph):
    """Multiplies by a function instead of its parts."""

    def dot(self, B):
        return B - B.mean(axis=0)


@caught_by("check_laplacian_in_a_sum", "half of it plus half of I is not that")
class OwnGraph(Chain):
    """Returns a graph that loses itself in a sum."""

    def build(self, Phi, random_state):
        return _Operator(len(Phi))


@caught_by("check_laplacian_on_one_column", "on data of one column it raised IndexError")
class TwoColumns(Chain):
    """Needs a second column."""

    def build(self, Phi, random_state):
        Phi[:, 1].max()
        return super().build(Phi, random_state)


@caught_by("check_laplacian_on_duplicates", "on data in which every row occurs six times the host refuses")
class InverseDistance(Chain):
    """Weighs edges by the inverse distance, which is infinite between equal rows."""

    def build(self, Phi, random_state):
        A = chain(Phi).tocoo()
        A.data = 1.0 / np.linalg.norm(Phi[A.row] - Phi[A.col], axis=1)
        return Graph.from_adjacency(A)


@caught_by("check_laplacian_on_a_constant_column", "on data with a constant column the host refuses")
class Standardises(Chain):
    """Divides by the spread of each column."""

    def build(self, Phi, random_state):
        spread = Phi.std(axis=0)
        return np.mean(1.0 / np.where(spread > 0, spread, np.nan)) * super().build(Phi, random_state)


@caught_by("check_laplacian_on_few_samples", "on 2 samples it raised IndexError")
class TenSamples(Chain):
    """Takes the tenth sample for granted."""

    def build(self, Phi, random_state):
        Phi[9].max()
        return super().build(Phi, random_state)


@caught_by("check_laplacian_on_few_samples", "state in a sentence what is wrong")
class Terse(Chain):
    """Refuses few samples without a sentence."""

    def build(self, Phi, random_state):
        if len(Phi) < 10:
            raise ValueError("too few")
        return super().build(Phi, random_state)


@caught_by("check_laplacian_on_wide_data", "on data with more columns than rows it raised")
class NeedsMoreRows(Chain):
    """Inverts the covariance of the columns."""

    def build(self, Phi, random_state):
        np.linalg.inv(np.round(Phi.T @ Phi, 8) * (np.linalg.matrix_rank(Phi) == Phi.shape[1]))
        return super().build(Phi, random_state)


class Spread(Laplacian):
    """The covariance of the samples, each counted as often as its weight says."""

    kills_constants = True
    supports_sample_weight = True

    def build(self, Phi, random_state, sample_weight=None):
        shares = np.full(len(Phi), 1 / len(Phi)) if sample_weight is None else sample_weight / sample_weight.sum()
        return Graph(len(Phi), shares, shares[:, None], [-1.0])


@caught_by("check_laplacian_sample_weight", "weight the samples, their number and their means")
class ForgetsToWeighTheMean(Spread):
    """Weights the samples but takes them off their plain mean."""

    kills_constants = None

    def build(self, Phi, random_state, sample_weight=None):
        graph = super().build(Phi, random_state, sample_weight)
        return Graph(len(Phi), graph.base, np.full((len(Phi), 1), 1 / len(Phi)), [-0.9])


@caught_by("check_laplacian_sample_weight", "declare supports_sample_weight = False")
class IgnoresWeights(Chain):
    """Claims to take sample weights and does not use them."""

    supports_sample_weight = True
    repeats_exactly = False

    def build(self, Phi, random_state, sample_weight=None):
        return super().build(Phi, random_state)


@caught_by("check_laplacian_sample_weight", "though no sample counts more than another")
class LinksTheHeavy(Chain):
    """Adds links between samples of a weight above one."""

    supports_sample_weight = True
    repeats_exactly = False

    def build(self, Phi, random_state, sample_weight=None):
        graph = super().build(Phi, random_state)
        return graph if sample_weight is None else graph + Graph(len(Phi), sample_weight - 1.0)
