"""What all backends of this package share: parameters, the call of qpsolvers, and errors of one sentence.

The problem is written in units of the bounds, x_i = α_i / u_i in [0, 1], for the points with u_i > 0, and its cost is
divided by its largest entry: a solver's absolute tolerance is then relative to the data, whatever C, N and the weights.

The dual's matrix has rank d. Solvers that need a positive definite one get a ridge ρ‖α‖², and then, with ρ‖α − α_last‖²
instead, are asked again: these proximal steps take the ridge's error out, each by a factor of about ρ. A ridge small
enough to do without them would cost the solvers as many digits.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from pyod_gessvdd import QPBackend, QPSolution, SVDDDual
from pyod_gessvdd.errors import NotSolvedError

Array = np.ndarray

#: The largest number of proximal steps of a solver with a ridge.
MAX_STEPS = 5
TINY = np.finfo(float).tiny


@dataclass(kw_only=True, eq=False, repr=False)
class QPSolversBackend(QPBackend):
    """A solver behind qpsolvers' interface; subclass :class:`LiftedBackend` or :class:`DenseBackend`.

    A subclass that has fields ``eps`` or ``max_iter`` says with ``eps_options`` and ``max_iter_option`` what its solver
    calls them.

    Parameters
    ----------
    settings : mapping, optional
        Anything else that the solver takes, by the solver's own names; it wins over every other parameter.
    """

    #: qpsolvers' name of the solver, the module that must be there for it, and what to install.
    solver: ClassVar[str] = ""
    module: ClassVar[str] = ""
    distribution: ClassVar[str] = ""
    #: The solver's own names of its tolerances and of its limit of iterations.
    eps_options: ClassVar[tuple[str, ...]] = ()
    max_iter_option: ClassVar[str] = ""
    #: ρ, where the solver needs one; the linear term's mean is one.
    ridge: ClassVar[float] = 0.0
    #: What the solver needs to be told each time.
    fixed_options: ClassVar[Mapping[str, Any]] = {}

    settings: Mapping[str, Any] | None = None

    @classmethod
    def is_installed(cls) -> bool:
        """Whether the solver's module can be found; it is not imported."""
        return find_spec(cls.module) is not None

    def solve(self, dual: SVDDDual, warm_start: Array | None = None) -> QPSolution:
        """Solve the dual; :class:`~pyod_gessvdd.errors.NotSolvedError` if the solver has no answer at all."""
        options = self._options()
        rows = np.flatnonzero(dual.upper)
        if len(rows) == dual.n_samples:
            return self._solve_in_steps(dual, warm_start, options)
        found = self._solve_in_steps(dual.take(rows), None if warm_start is None else warm_start[rows], options)
        alpha = np.zeros(dual.n_samples)
        alpha[rows] = found.alpha
        return QPSolution(alpha, n_iter=found.n_iter, status=found.status, extras=found.extras)

    def _solve_in_steps(self, dual: SVDDDual, warm_start: Array | None, options: dict[str, Any]) -> QPSolution:
        """Solve a dual whose bounds are all positive: at once or, with a ridge, in proximal steps."""
        best, best_gap, status, step = np.zeros(dual.n_samples), np.inf, "", 0
        while step < MAX_STEPS:
            step += 1
            problem, start = self._problem(dual, best, warm_start)
            x, status = self._run(problem, start, options)
            alpha = np.clip(x[: dual.n_samples], 0.0, 1.0) * dual.upper
            alpha /= max(float(alpha.sum()), TINY)
            if not self.ridge:
                return QPSolution(alpha, status=status)
            gap = dual.gap(alpha)
            progress = gap < 0.5 * best_gap
            if gap < best_gap:
                best, best_gap = alpha, gap
            if not progress or gap <= 0.1 * dual.tol:
                break
        return QPSolution(best, status=status, extras={"proximal_steps": step})

    @abstractmethod
    def _problem(
        self, dual: SVDDDual, last_alpha: Array, warm_start: Array | None
    ) -> tuple[dict[str, Any], Array | None]:
        """The arguments of ``qpsolvers.Problem``, its first N variables being x, and where the solver may start."""

    def _options(self) -> dict[str, Any]:
        """The parameters under the solver's own names."""
        options = dict(self.fixed_options)
        if self.eps_options:
            eps = self.eps  # type: ignore[attr-defined]
            if not isinstance(eps, Real) or not eps > 0:
                raise ValueError(f"eps must be positive, got {eps!r}")
            options |= dict.fromkeys(self.eps_options, float(eps))
        if self.max_iter_option:
            max_iter = self.max_iter  # type: ignore[attr-defined]
            if not isinstance(max_iter, Integral) or max_iter < 1:
                raise ValueError(f"max_iter must be a positive whole number, got {max_iter!r}")
            options[self.max_iter_option] = int(max_iter)
        if self.settings is not None and not isinstance(self.settings, Mapping):
            raise ValueError(f"settings must be a mapping from the solver's names to values, got {self.settings!r}")
        return {**options, **(self.settings or {})}

    def _run(self, problem: Mapping[str, Any], start: Array | None, options: dict[str, Any]) -> tuple[Array, str]:
        """Hand a problem to the solver; returns its x, possibly out of bounds, and its status."""
        import qpsolvers

        if self.solver not in qpsolvers.available_solvers:
            raise ImportError(
                f"QP backend {self.name!r} needs the solver {self.solver!r}, which is not installed here; "
                f"pip install {self.distribution}"
            )
        with warnings.catch_warnings(record=True) as caught:
            # qpsolvers tells of a failure in a warning; the host's certificate tells whether it is one.
            warnings.simplefilter("always")
            try:
                solution = qpsolvers.solve_problem(qpsolvers.Problem(**problem), self.solver, initvals=start, **options)
            except Exception as error:  # each solver has exceptions of its own
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                raise NotSolvedError(f"QP backend {self.name!r} failed: {reason}; try qp_backend='auto'") from error
        status = "solved" if solution.found else _failure(solution.extras, [str(entry.message) for entry in caught])
        if solution.x is None or not np.isfinite(solution.x).all():
            raise NotSolvedError(f"QP backend {self.name!r} found no answer (status: {status}); try qp_backend='auto'")
        return np.asarray(solution.x, dtype=float), status


def _failure(extras: Mapping[str, Any], messages: list[str]) -> str:
    """Why a solver says that it did not solve a problem, in the first place where qpsolvers puts it."""
    if messages:
        return messages[-1]
    status = extras.get("status", getattr(extras.get("info"), "status", None))
    return "not solved" if status is None else str(status)
