"""The built-in components, metrics and protocols, registered through the same hooks as everybody else's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyod_gessvdd.components.hookspecs import hookimpl
from pyod_gessvdd.feature_laplacians import chain
from pyod_gessvdd.feature_laplacians import knn as feature_knn
from pyod_gessvdd.kernels import linear, mixed, pairwise
from pyod_gessvdd.laplacians import between, identity, knn, none, pca, within
from pyod_gessvdd.qp import auto, frank_wolfe, interior_point, libsvm, osqp
from pyod_gessvdd.updaters import gradient, newton, newton_ssvdd, riemannian, spectral, spectral_regression


@hookimpl
def register_laplacians(register: Callable[[type], None]) -> None:
    """The graphs of the paper's six variants."""
    for component in (none.NoConstraint, identity.Identity, pca.PCA, within.Within, between.Between, knn.KNN):
        register(component)


@hookimpl
def register_updaters(register: Callable[[type], None]) -> None:
    """The paper's three sub-algorithms, two that need no step size, and that of Newton method-based S-SVDD."""
    for component in (gradient.Gradient, spectral.Spectral, spectral_regression.SpectralRegression):
        register(component)
    for component in (newton.Newton, riemannian.Riemannian, newton_ssvdd.NewtonSSVDD):
        register(component)


@hookimpl
def register_qp_backends(register: Callable[[type], None]) -> None:
    """The solvers of the SVDD dual."""
    for component in (auto.Auto, frank_wolfe.FrankWolfe, interior_point.InteriorPoint, libsvm.LibSVM, osqp.OSQP):
        register(component)


@hookimpl
def register_kernels(register: Callable[[type], None]) -> None:
    """The linear map, and the NPT map over the default detector's kernel and scikit-learn's pairwise ones."""
    for component in (linear.Linear, mixed.Mixed, *pairwise.KERNELS):
        register(component)


@hookimpl
def register_feature_laplacians(register: Callable[[type], None]) -> None:
    """Graphs over columns: the most correlated ones, and neighbours."""
    for component in (feature_knn.FeatureKNN, chain.FeatureChain):
        register(component)


@hookimpl
def register_metrics(register: Callable[[Any], None]) -> None:
    """What experiments measure; imported by the first experiment, not by the first fit."""
    from pyod_gessvdd.experiments.metrics import BUILTIN

    for metric in BUILTIN:
        register(metric)


@hookimpl
def register_protocols(register: Callable[[Any], None]) -> None:
    """How experiments split."""
    from pyod_gessvdd.experiments.protocols import BUILTIN

    for protocol in BUILTIN:
        register(protocol)
