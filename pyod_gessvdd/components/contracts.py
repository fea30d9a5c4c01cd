"""The contracts of the five kinds of component: Laplacian, Updater, QPBackend, Kernel and FeatureLaplacian.

A component subclasses one of these, implements one method, and works as an instance
(``GESSVDD(laplacian=MyGraph())``) without being registered anywhere. The host checks what it returns.

Parameters follow scikit-learn: ``__init__`` only stores them. A component may ask for values of the detector: a
parameter that is None and is listed in :attr:`Component.inherits` takes the detector's value of the same name.

The contract has a version, :data:`CONTRACT`. It grows when the contract asks more of components than before, or passes
them something different (2: the linear term of :class:`~pyod_gessvdd.SVDDDual`; 3: the fifth kind, and an α that may be
negative for updaters that declare it). A plugin written for a version declares it with ``contract = 3`` in its module,
or in a component class; one that declares nothing means 1. A plugin that needs a newer contract than this package has
is not loaded, and ``gessvdd plugins`` names the upgrade that helps. ``pyod_gessvdd.checks`` tests whether a component
keeps the contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.linalg import row_blocks

Array = np.ndarray

#: The version of the contract between this package and its components.
CONTRACT = 3


class Component(BaseEstimator, ABC):
    """What the kinds share: a name, aliases, and scikit-learn's parameters.

    Attributes
    ----------
    name : str
        What users write in ``laplacian="…"``; the class's own name in lower case unless given.
    aliases : tuple of str
        Other names, for instance the paper's.
    contract : int
        The version of the contract that it was written for, see :data:`CONTRACT`.
    inherits : tuple of str
        The parameters that take the detector's value of the same name where they are None, for instance
        ``("step_size",)``; what a parent class inherits its subclasses inherit too.
    """

    name: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    contract: ClassVar[int] = 1
    inherits: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A subclass is another component: it inherits neither the name nor the aliases of its parent.
        cls.name = cls.__dict__.get("name", cls.__name__.lower())
        aliases = cls.__dict__.get("aliases", ())
        cls.aliases = (aliases,) if isinstance(aliases, str) else tuple(aliases)
        own = cls.__dict__.get("inherits", ())
        parents = [name for base in cls.__bases__ for name in getattr(base, "inherits", ())]
        cls.inherits = tuple(dict.fromkeys([*parents, *((own,) if isinstance(own, str) else own)]))

    @property
    def asks_for(self) -> tuple[str, ...]:
        """The parameters that it takes from the detector where they are None; those of its parts too, if it has any."""
        return self.inherits

    def inherit(self, values: dict[str, Any]) -> None:
        """Take the detector's values for what is asked for and has not been given.

        Parameters
        ----------
        values : dict
            The detector's settings by name.
        """
        for name in self.inherits:
            if name in values and getattr(self, name, name) is None:
                setattr(self, name, values[name])

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # scikit-learn reads the signature anew each time, which is a good part of a small fit.
        return super()._get_param_names()

    def saved_state(self) -> dict[str, Any]:
        """What was learnt, for a model file: every attribute that is not a parameter, unless overridden.

        Numbers, strings and arrays of them, and lists, tuples and dicts of these. A component that keeps anything else,
        such as a handle of a library, returns what it can be made from again, and overrides :meth:`restore_state`.
        """
        params = self._get_param_names()
        # What a pickle leaves out, such as a solver that is kept between calls, a file leaves out too.
        state: Any = self.__getstate__()
        return {name: value for name, value in state.items() if name not in params}

    def restore_state(self, state: dict[str, Any]) -> None:
        """Take what :meth:`saved_state` of a component with the same parameters returned.

        Parameters
        ----------
        state : dict
            The same values, with arrays that are the component's own.
        """
        for name, value in state.items():
            setattr(self, name, value)


class Laplacian(Component):
    """A graph L_x over the training samples (paper, "Different variants").

    Attributes
    ----------
    exact : bool
        Whether the graph depends on the samples alone. False for an approximate search, whose edges may change with the
        order of the samples; a :class:`~pyod_gessvdd.Graph` whose ``is_estimate`` is True declares itself approximate.
    kills_constants : bool or None
        Whether every row of L sums to zero, as in any D − A, so that L does not see a shift of the data; None claims
        nothing.
    sparse : bool
        Whether ``build`` returns far fewer than N² numbers: a sparse matrix, or a ``Graph`` with a thin factor.
    weights_ : ndarray or None
        After ``build``, the weights in a sum of graphs; None for a graph that is not a sum.
    supports_sample_weight : bool
        Whether ``build`` takes ``sample_weight``, an array of N positive numbers, as a third argument: an integer w_i
        means that the row occurs w_i times. Rows of weight zero are removed before.
    repeats_exactly : bool or None
        Whether whole weights and repeated rows give the same scatter. False where the nearest neighbours of a repeated
        row would be its own copies, or where a draw starts a search for clusters: then weights which are all the same
        scale the scatter. None claims neither.
    """

    exact: ClassVar[bool] = True
    kills_constants: ClassVar[bool | None] = None
    sparse: ClassVar[bool] = True
    weights_: Array | None = None
    supports_sample_weight: ClassVar[bool] = False
    repeats_exactly: ClassVar[bool | None] = True

    @abstractmethod
    def build(self, Phi: Array, random_state: Any) -> Any:
        """Build the Laplacian of the graph of the rows of ``Phi``.

        Parameters
        ----------
        Phi : ndarray of shape (N, F)
            The training features; must not be modified.
        random_state : int, RandomState or None
            The detector's seed.

        Returns
        -------
        Graph, sparse matrix or ndarray of shape (N, N)
            Symmetric and positive semi-definite.
        """

    def of_rows(self, chosen: Array) -> Laplacian:
        """The Laplacian for some training rows alone: itself, unless its graph is of given rows.

        Parameters
        ----------
        chosen : ndarray of bool of shape (N,)
            Whether a training row is one of them.
        """
        return self

    def build_weighted(self, Phi: Array, random_state: Any, sample_weight: Array | None) -> Any:
        """``build`` with the sample weights if there are any and it takes them: what the host calls."""
        if sample_weight is None or not self.supports_sample_weight:
            return self.build(Phi, random_state)
        weighted: Any = self.build
        return weighted(Phi, random_state, sample_weight=sample_weight)


class NoGraph(Laplacian):
    """A Laplacian that puts no constraint on the data: S_x = I (GESSVDD-0). ``build`` is never called."""

    supports_sample_weight = True

    def build(self, Phi: Array, random_state: Any, sample_weight: Array | None = None) -> Any:
        """Not called: without a graph there is no L_x."""
        raise NotImplementedError(f"{self.name} has no graph")


@dataclass(frozen=True)
class UpdateState:
    """What an updater sees: the subspace, the dual variables found in it, and the graph.

    Attributes
    ----------
    Q : ndarray of shape (d, F)
        The current projection, orthonormal rows.
    Phi : ndarray of shape (N, F)
        The training features.
    alpha : ndarray of shape (N,)
        The dual variables of the SVDD in the current subspace. With labelled outliers their rows come last in Φ and
        α, negative here; the graph is of the rows before them.
    S_x : ndarray of shape (F, F) or None
        Φᵀ L_x Φ; None stands for the identity (no graph).
    S_inv : ndarray of shape (d, d)
        (Q S_x Qᵀ)⁻¹ as the whitening used it.
    graph : Graph or None
        L_x itself; None without a graph.
    n_components : int
        The number of rows that the new Q should have.
    criterion : {"min", "max"}
        Whether Tr((Q S_x Qᵀ)⁻¹ Q S_α Qᵀ) is minimised or maximised.
    iteration : int
        1 for the first update.
    memo : dict
        Kept from the first update of a fit to the last: for what depends on Φ and the graph alone. :meth:`once` reads
        and fills it.
    boundary : ndarray of int
        Indices with 0 < α_i < C: the samples on the sphere.
    sample_weight : ndarray of shape (N,) or None
        How often each sample counts, positive, and 0 for labelled outliers; None if each counts once. α and the graph
        have it in them already.
    n_outliers : int
        How many samples, the last ones, are labelled outliers.
    penalty : Graph or None
        βL of a graph over features, which is part of ``S_alpha`` and ``alpha_scatter_dot``: S_α + βL where the
        criterion is minimised, S_α − βL where it is maximised, so that Tr(QLQᵀ) is small either way.
    """

    Q: Array
    Phi: Array
    alpha: Array
    S_x: Array | None
    S_inv: Array
    graph: Graph | None
    n_components: int
    criterion: str
    iteration: int
    memo: dict[Any, Any] = field(default_factory=dict)
    boundary: Array = field(default_factory=lambda: np.zeros(0, dtype=int))
    sample_weight: Array | None = None
    n_outliers: int = 0
    penalty: Graph | None = None

    @property
    def sign(self) -> float:
        """+1 when the criterion is maximised, −1 when it is minimised."""
        return 1.0 if self.criterion == "max" else -1.0

    def once(self, owner: str, name: str, compute: Callable[[], Any]) -> Any:
        """What ``compute()`` returns, computed in the first update of a fit that asks for it and kept in ``memo``.

        Parameters
        ----------
        owner : str
            The module that asks, ``__name__``: two modules may use one name for different things.
        name : str
            What it is.
        compute : callable
            Without arguments; the result must depend on Φ, the graph and the updater's own parameters alone.
        """
        if (owner, name) not in self.memo:
            self.memo[owner, name] = compute()
        return self.memo[owner, name]

    @cached_property
    def support(self) -> Array:
        """Indices with α_i ≠ 0."""
        return self.alpha.nonzero()[0]

    def scatter_dot(self, B: Array) -> Array:
        """S_x @ B for B of shape (F, m)."""
        return B if self.S_x is None else self.S_x @ B

    @cached_property
    def alpha_mean(self) -> Array:
        """A = Σ α_i φ_i, of shape (F,)."""
        mean = np.zeros(self.Phi.shape[1])
        for alpha, rows in self._support_blocks():
            mean += alpha @ rows
        return mean

    def alpha_scatter_dot(self, B: Array) -> Array:
        """S_α @ B for B of shape (F, m), without forming S_α: Σ α_i (φ_i − a)(φ_i − a)ᵀ B over the support."""
        product = self._alpha_scatter(lambda rows: rows @ B, B)
        return product if self.penalty is None else product - self.sign * self.penalty.dot(B)

    @cached_property
    def S_alpha(self) -> Array:
        """S_α = Φᵀ L_α Φ (paper eq. ``salpha``), of shape (F, F); L_α itself is never formed."""
        S = self._alpha_scatter(lambda rows: rows, None)
        if self.penalty is not None:
            S = S - self.sign * self.penalty.toarray()
        return (S + S.T) / 2

    def _alpha_scatter(self, right: Callable[[Array], Array], B: Array | None) -> Array:
        # Around a point among the rows, not around their mean, which would take another pass: S_α is what
        # Σ α_i (φ_i − r)(φ_i − r)ᵀ leaves when (a − r)(a − r)ᵀ is taken off.
        reference: Array | None = None
        total: Any = 0.0
        away: Any = 0.0
        for alpha, rows in self._support_blocks():
            if reference is None:
                weights = np.abs(alpha)  # those of labelled outliers are negative
                reference = (weights @ rows) / weights.sum()
            rows -= reference
            total = total + rows.T @ (alpha[:, None] * right(rows))
            away = away + alpha @ rows
        return total - away[:, None] * (away if B is None else away @ B)

    def _support_blocks(self) -> Iterator[tuple[Array, Array]]:
        """α and a copy of the features, of the rows that have any α, in blocks."""
        for rows in row_blocks(len(self.support), self.Phi.shape[1]):
            index = self.support[rows]
            yield self.alpha[index], self.Phi.take(index, axis=0)


class Updater(Component):
    """One update of the projection Q (paper, Sub-algorithms 1-3).

    Attributes
    ----------
    needs_graph : bool
        Whether the update is undefined without a graph.
    improves_criterion : bool
        Whether an update should improve the criterion for the present α; False for one that improves a substitute, as
        spectral regression does with its targets. Either way "max" must lead to larger values than "min", unless it is
        None, which claims nothing.
    by_scatter : bool
        Whether the update uses Φ and α through S_α alone (``state.S_alpha``, ``state.alpha_scatter_dot``), and not the
        graph. Then an α with negative entries, those of labelled outliers, and the penalty of a feature graph, which
        the state adds to S_α, are fine; without it ``use_labels=True`` and ``feature_laplacian`` are refused.
    """

    needs_graph: ClassVar[bool] = False
    improves_criterion: ClassVar[bool | None] = True
    by_scatter: ClassVar[bool] = False

    @abstractmethod
    def update(self, state: UpdateState) -> Array:
        """Return the new projection, of shape (at most ``state.n_components``, F).

        Its rows need not be orthonormal: the host orthonormalises them, and drops rows that depend on others.
        """


class FeatureLaplacian(Component):
    """A graph over the columns of the data: what is known of the features, not of the samples.

    Its penalty Tr(Q L Qᵀ) makes linked columns have similar weights in a projection.
    """

    @abstractmethod
    def build(self, X: Array, random_state: Any) -> Any:
        """Build the Laplacian of the graph of the columns of ``X``.

        Parameters
        ----------
        X : ndarray of shape (N, D)
            The training rows, scaled and centred as the detector does; must not be modified.
        random_state : int, RandomState or None
            The detector's seed.

        Returns
        -------
        Graph, sparse matrix or ndarray of shape (D, D)
            Symmetric and positive semi-definite.
        """


class QPBackend(Component):
    """A solver of the SVDD dual: maximise Σ α_i k_i − ‖Zᵀα‖² subject to Σα = 1, 0 ≤ α ≤ ``dual.upper``.

    The linear term k_i is ``dual.linear``: ‖z_i‖², plus the squared residual r_i² of a sample that has a part outside
    the subspace. A solver that computes ‖z_i‖² itself solves another problem, and the host's certificate refuses it.

    Attributes
    ----------
    exact : bool
        Whether the answer is exact up to rounding; the host holds an exact backend to ``dual.tol``.
    supports_warm_start : bool
        Whether ``warm_start`` is used.
    """

    exact: ClassVar[bool] = True
    supports_warm_start: ClassVar[bool] = False

    @abstractmethod
    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Solve ``dual``; ``warm_start`` is an α of a related problem or None. Returning a bare α is fine too."""


class Kernel(Component):
    """A map from rows of X to features Φ in which everything after it is linear (paper, "Non-linear data description").

    Attributes
    ----------
    input_is_rows : bool
        Whether the input are data rows, which the detector may scale; False for a kernel matrix.
    is_identity : bool
        Whether the features are the rows themselves.
    needs_nonnegative : bool
        Whether the rows must not hold negative numbers, as counts and histograms do not.
    positive_definite : bool
        Whether k is positive definite, at least after centring. Features have distances like k's only then; what they
        miss of an indefinite k is not a squared length.
    inner_product_error : float
        How far the features of a kernel that has a ``gram(X, Y)`` may be from it, as a share of the largest k(x, x):
        zero if up to rounding, about 1/√m for m random features.
    differentiable : bool
        Whether :meth:`features_residual_and_pullback` is there, which makes explanations quick; without it they are
        found by differences.
    supports_sample_weight : bool
        Whether :meth:`fit_features` takes weights: an integer weight must do what repeating the row does.
    learns_by_moments : bool
        Whether ``fit`` (of a pairwise kernel ``prepare``) uses no more of the training rows than the number of their
        columns and these columns' means and variances. Such a kernel can be fitted to rows that do not fit in memory:
        it is given two rows that have the same means and variances.
    averages_views : bool
        Whether the kernel is a mean over several views of a row; the columns of the views come side by side, and
        ``n_views_`` is their number.
    n_views_ : int
        Set by the host before ``fit``.
    """

    input_is_rows: ClassVar[bool] = True
    is_identity: ClassVar[bool] = False
    needs_nonnegative: ClassVar[bool] = False
    positive_definite: ClassVar[bool] = True
    inner_product_error: ClassVar[float] = 0.0
    differentiable: ClassVar[bool] = False
    supports_sample_weight: ClassVar[bool] = False
    learns_by_moments: ClassVar[bool] = False
    averages_views: ClassVar[bool] = False
    n_views_: int = 1

    def fit(self, X: Array) -> Kernel:
        """Learn whatever the map needs from the training rows, of shape (N, D)."""
        return self

    @abstractmethod
    def features(self, X: Array) -> Array:
        """The features of the rows of X, of shape (n, F)."""

    def residual(self, X: Array) -> Array:
        """What the features miss of each row, ``k̂(x, x) − ‖φ(x)‖²``, of shape (n,); zero unless overridden."""
        return np.zeros(X.shape[0])

    def features_and_residual(self, X: Array) -> tuple[Array, Array]:
        """Both at once, for kernels that find them in the same pass."""
        return self.features(X), self.residual(X)

    def fit_features(self, X: Array, sample_weight: Array | None = None) -> tuple[Array, Array | None]:
        """Learn the map and return the training features, and what they miss if it is found on the way, else None.

        Parameters
        ----------
        X : ndarray of shape (N, D)
            The training rows.
        sample_weight : ndarray of shape (N,), optional
            Positive weights; given only to kernels that support them.
        """
        return self.fit(X).features(X), None

    def features_residual_and_pullback(self, X: Array) -> tuple[Array, Array, Callable[[Array, Array], Array]]:
        """Features and residual, and what carries a function's gradient in them back to its gradient in the rows.

        The last takes arrays of shape (n, F) and (n,) and returns one of shape (n, D).
        """
        raise NotImplementedError(f"kernel {self.name!r} has no derivative")

    def row_cost(self, n_columns: int) -> int:
        """The largest number of intermediate values that a row with this many columns costs: it decides block sizes."""
        return n_columns
