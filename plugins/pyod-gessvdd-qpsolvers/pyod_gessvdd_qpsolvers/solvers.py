"""One backend class per solver of qpsolvers, whether it is installed or not.

The classes are always here, so that a model pickled elsewhere can be loaded and used for scoring; a fit with a solver
that is missing says what to install. Only :func:`installed` ones are registered. That looks for the solvers' modules
and imports none of them, nor qpsolvers, which imports every solver it finds.

``eps`` is the tightest tolerance that the solver still reaches on the duals of the tests: the host asks for a relative
duality gap of 1e-8, and a solver's residuals are not that gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyod_gessvdd_qpsolvers.backend import QPSolversBackend
from pyod_gessvdd_qpsolvers.dense import DenseBackend
from pyod_gessvdd_qpsolvers.lifted import LiftedBackend

SOLVERS: list[type[QPSolversBackend]] = []


def _listed(cls: Any) -> Any:
    """Make a class with fields a dataclass, as all components with inherited parameters are, and list it."""
    cls = dataclass(kw_only=True, eq=False, repr=False)(cls)
    SOLVERS.append(cls)
    return cls


def installed() -> list[type[QPSolversBackend]]:
    """The backends whose solver is installed here."""
    return [backend for backend in SOLVERS if backend.is_installed()]


# Sparse, tested ---------------------------------------------------------------------------------------------------


@_listed
class Clarabel(LiftedBackend):
    """Clarabel, an interior point method.

    Parameters
    ----------
    eps : float, default=1e-11
        ``tol_gap_abs``, ``tol_gap_rel`` and ``tol_feas``.
    max_iter : int, default=200
        The largest number of iterations.
    settings : mapping, optional
        Anything else that ``clarabel.DefaultSettings`` has.
    """

    name = "qpsolvers_clarabel"
    solver = module = distribution = "clarabel"
    eps_options = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
    max_iter_option = "max_iter"

    eps: float = 1e-11
    max_iter: int = 200


@_listed
class PIQP(LiftedBackend):
    """PIQP, a proximal interior point method.

    Parameters
    ----------
    eps : float, default=1e-11
        ``eps_abs``, ``eps_rel``, ``eps_duality_gap_abs`` and ``eps_duality_gap_rel``.
    max_iter : int, default=250
        The largest number of iterations.
    settings : mapping, optional
        Anything else that PIQP's settings have.
    """

    name = "qpsolvers_piqp"
    solver = module = distribution = "piqp"
    eps_options = ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel")
    max_iter_option = "max_iter"

    eps: float = 1e-11
    max_iter: int = 250


@_listed
class HiGHS(LiftedBackend):
    """HiGHS, here its active-set method for QPs, with our ridge instead of its own regularisation.

    Without a ridge it cycles on duplicates and on points in one or two dimensions. With it, it still may where a few
    points are very far out: the host's certificate then warns or refuses.

    Parameters
    ----------
    eps : float, default=1e-9
        ``primal_feasibility_tolerance`` and ``dual_feasibility_tolerance``.
    max_iter : int, default=20000
        ``qp_iteration_limit``.
    settings : mapping, optional
        Any other option of HiGHS.
    """

    name = "qpsolvers_highs"
    exact = False
    ridge = 1e-3
    solver, module, distribution = "highs", "highspy", "highspy"
    eps_options = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
    max_iter_option = "qp_iteration_limit"
    fixed_options = {"qp_regularization_value": 0.0}  # noqa: RUF012 – declared as a ClassVar by the base

    eps: float = 1e-9
    max_iter: int = 20_000


@_listed
class ProxQP(LiftedBackend):
    """ProxQP, a proximal augmented Lagrangian method; its sparse back end. Slow: over 5 s for 1,000 points.

    Parameters
    ----------
    eps : float, default=1e-10
        ``eps_abs``; ``eps_rel`` is zero.
    max_iter : int, default=10000
        The largest number of outer iterations.
    settings : mapping, optional
        Anything else that ``proxsuite.proxqp.sparse.solve`` takes.
    """

    name = "qpsolvers_proxqp"
    solver, module, distribution = "proxqp", "proxsuite", "proxsuite"
    eps_options = ("eps_abs",)
    max_iter_option = "max_iter"
    fixed_options = {"eps_rel": 0.0}  # noqa: RUF012

    eps: float = 1e-10
    max_iter: int = 10_000


@_listed
class CVXOPT(LiftedBackend):
    """CVXOPT, an interior point method.

    Parameters
    ----------
    eps : float, default=1e-11
        ``abstol``, ``reltol`` and ``feastol``.
    max_iter : int, default=200
        ``maxiters``.
    settings : mapping, optional
        Any other option of CVXOPT.
    """

    name = "qpsolvers_cvxopt"
    solver = module = distribution = "cvxopt"
    bounds_as_rows = True
    eps_options = ("abstol", "reltol", "feastol")
    max_iter_option = "maxiters"

    eps: float = 1e-11
    max_iter: int = 200


@_listed
class KVXOPT(LiftedBackend):
    """KVXOPT, CVXOPT's fork with more linear solvers.

    Parameters
    ----------
    eps : float, default=1e-11
        ``abstol``, ``reltol`` and ``feastol``.
    max_iter : int, default=200
        ``maxiters``.
    settings : mapping, optional
        Any other option of KVXOPT.
    """

    name = "qpsolvers_kvxopt"
    solver = module = distribution = "kvxopt"
    bounds_as_rows = True
    eps_options = ("abstol", "reltol", "feastol")
    max_iter_option = "maxiters"

    eps: float = 1e-11
    max_iter: int = 200


@_listed
class QTQP(LiftedBackend):
    """QTQP, a primal-dual interior point method in Python.

    Parameters
    ----------
    eps : float, default=1e-10
        ``tol_gap_abs``, ``tol_gap_rel`` and ``tol_feas``.
    max_iter : int, default=200
        The largest number of iterations.
    settings : mapping, optional
        Anything else that ``qtqp.QTQP.solve`` takes.
    """

    name = "qpsolvers_qtqp"
    solver = module = distribution = "qtqp"
    bounds_as_rows = True
    eps_options = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
    max_iter_option = "max_iter"

    eps: float = 1e-10
    max_iter: int = 200


@_listed
class SIP(LiftedBackend):
    """SIP, a barrier and augmented Lagrangian method.

    Parameters
    ----------
    eps : float, default=1e-10
        ``eps_abs``.
    settings : mapping, optional
        Anything else that SIP's settings have.
    """

    name = "qpsolvers_sip"
    solver, module, distribution = "sip", "sip_qp_python", "sip-qp-python"
    eps_options = ("eps_abs",)

    eps: float = 1e-10


@_listed
class QPALM(LiftedBackend):
    """QPALM, a proximal augmented Lagrangian method.

    Parameters
    ----------
    eps : float, default=1e-10
        ``eps_abs`` and ``eps_rel``.
    max_iter : int, default=10000
        The largest number of iterations.
    settings : mapping, optional
        Anything else that ``qpalm.Settings`` has.
    """

    name = "qpsolvers_qpalm"
    supports_warm_start = True
    solver = module = distribution = "qpalm"
    eps_options = ("eps_abs", "eps_rel")
    max_iter_option = "max_iter"

    eps: float = 1e-10
    max_iter: int = 10_000


@_listed
class SCS(LiftedBackend):
    """SCS, an operator-splitting method: first order, so its last digits take many iterations.

    Parameters
    ----------
    eps : float, default=1e-9
        ``eps_abs`` and ``eps_rel``.
    max_iter : int, default=100000
        ``max_iters``.
    settings : mapping, optional
        Anything else that SCS takes.
    """

    name = "qpsolvers_scs"
    exact = False
    supports_warm_start = True
    solver = module = distribution = "scs"
    eps_options = ("eps_abs", "eps_rel")
    max_iter_option = "max_iters"

    eps: float = 1e-9
    max_iter: int = 100_000


@_listed
class OSQP(LiftedBackend):
    """OSQP through qpsolvers; the built-in ``osqp`` keeps its factorisation between the solves of a fit.

    Its own scaling is off: the problem is scaled already, and with it some solves never reach ``eps``.

    Parameters
    ----------
    eps : float, default=1e-8
        ``eps_abs`` and ``eps_rel``.
    max_iter : int, default=50000
        The largest number of iterations.
    settings : mapping, optional
        Anything else that OSQP's ``setup`` takes.
    """

    name = "qpsolvers_osqp"
    exact = False
    solver = module = distribution = "osqp"
    eps_options = ("eps_abs", "eps_rel")
    max_iter_option = "max_iter"
    fixed_options = {"polishing": True, "raise_error": False, "scaling": 0}  # noqa: RUF012

    eps: float = 1e-8
    max_iter: int = 50_000


@_listed
class COPT(LiftedBackend):
    """COPT, commercial; without a licence it takes small problems only, and says so on the console.

    qpsolvers hands it the bounds as a dense N × N matrix.

    Parameters
    ----------
    eps : float, default=1e-9
        ``FeasTol`` and ``DualTol``.
    settings : mapping, optional
        Any other parameter of COPT.
    """

    name = "qpsolvers_copt"
    solver, module, distribution = "copt", "coptpy", "coptpy"
    bounds_as_rows = True
    eps_options = ("FeasTol", "DualTol")

    eps: float = 1e-9


@_listed
class Gurobi(LiftedBackend):
    """Gurobi, commercial; the licence that comes with the package takes some hundred points only.

    Parameters
    ----------
    eps : float, default=1e-9
        ``FeasibilityTol``, ``OptimalityTol`` and ``BarConvTol``.
    settings : mapping, optional
        Any other parameter of Gurobi.
    """

    name = "qpsolvers_gurobi"
    solver, module, distribution = "gurobi", "gurobipy", "gurobipy"
    bounds_as_rows = True
    eps_options = ("FeasibilityTol", "OptimalityTol", "BarConvTol")

    eps: float = 1e-9


# Dense, tested ----------------------------------------------------------------------------------------------------


@_listed
class Quadprog(DenseBackend):
    """quadprog, the dual active-set method of Goldfarb and Idnani; it has no tolerances."""

    name = "qpsolvers_quadprog"
    solver = module = distribution = "quadprog"


@_listed
class DAQP(DenseBackend):
    """DAQP, a dual active-set method.

    Parameters
    ----------
    eps : float, default=1e-11
        ``primal_tol`` and ``dual_tol``.
    max_iter : int, default=100000
        ``iter_limit``.
    settings : mapping, optional
        Any other setting of DAQP.
    """

    name = "qpsolvers_daqp"
    solver = module = distribution = "daqp"
    eps_options = ("primal_tol", "dual_tol")
    max_iter_option = "iter_limit"

    eps: float = 1e-11
    max_iter: int = 100_000


@_listed
class ECOS(DenseBackend):
    """ECOS, an interior point method for cones; qpsolvers factorises P to write the cost as a cone.

    Parameters
    ----------
    eps : float, default=1e-11
        ``abstol``, ``reltol`` and ``feastol``.
    max_iter : int, default=200
        ``max_iters``.
    settings : mapping, optional
        Anything else that ``ecos.solve`` takes.
    """

    name = "qpsolvers_ecos"
    exact = False
    solver = module = distribution = "ecos"
    eps_options = ("abstol", "reltol", "feastol")
    max_iter_option = "max_iters"

    eps: float = 1e-11
    max_iter: int = 200


@_listed
class QPMad(DenseBackend):
    """qpmad, the method of Goldfarb and Idnani with bounds apart from the other constraints.

    Parameters
    ----------
    eps : float, default=1e-12
        ``tolerance``.
    settings : mapping, optional
        Any other of ``pyqpmad.SolverParameters``.
    """

    name = "qpsolvers_pyqpmad"
    solver = module = distribution = "pyqpmad"
    eps_options = ("tolerance",)

    eps: float = 1e-12


# Known to qpsolvers, not installable where this package is tested: with their own defaults -------------------------


@_listed
class HPIPM(DenseBackend):
    """HPIPM with its own tolerances. Not tested."""

    name = "qpsolvers_hpipm"
    solver, module, distribution = "hpipm", "hpipm_python", "hpipm_python"


@_listed
class JaxoptOSQP(DenseBackend):
    """OSQP in JAX with its own tolerances, in single precision unless JAX is told otherwise. Not tested."""

    name = "qpsolvers_jaxopt_osqp"
    exact = False
    solver, module, distribution = "jaxopt_osqp", "jaxopt", "jaxopt"


@_listed
class MOSEK(LiftedBackend):
    """MOSEK, commercial, with its own tolerances. Not tested."""

    name = "qpsolvers_mosek"
    solver = module = distribution = "mosek"
    bounds_as_rows = True


@_listed
class NPPro(DenseBackend):
    """NPPro with its own tolerances. Not tested."""

    name = "qpsolvers_nppro"
    solver = module = distribution = "nppro"


@_listed
class PDHCG(LiftedBackend):
    """PDHCG, a first-order method, with its own tolerances. Not tested."""

    name = "qpsolvers_pdhcg"
    exact = False
    solver = module = distribution = "pdhcg"


@_listed
class QPAX(DenseBackend):
    """qpax, in JAX, with its own tolerances. Not tested."""

    name = "qpsolvers_qpax"
    exact = False
    solver = module = distribution = "qpax"


@_listed
class QPOASES(DenseBackend):
    """qpOASES with its own tolerances. Not tested."""

    name = "qpsolvers_qpoases"
    solver = module = distribution = "qpoases"


@_listed
class QPSWIFT(DenseBackend):
    """qpSWIFT with its own tolerances. Not tested."""

    name = "qpsolvers_qpswift"
    solver, module, distribution = "qpswift", "qpSWIFT", "qpSWIFT"
