"""Graph-Embedded Subspace Support Vector Data Description (GESSVDD) as a PyOD detector, with pluggable components."""

from __future__ import annotations

from pyod_gessvdd.components.contracts import (
    CONTRACT,
    FeatureLaplacian,
    Kernel,
    Laplacian,
    QPBackend,
    Updater,
    UpdateState,
)
from pyod_gessvdd.components.hookspecs import hookimpl
from pyod_gessvdd.components.registry import available
from pyod_gessvdd.detectors.family import ESSVDD, ESVDD, GESVDD, GESVM, L2SVDD, OCKSR, SSVDD, SVDD
from pyod_gessvdd.detectors.gessvdd import GESSVDD
from pyod_gessvdd.detectors.loading import load
from pyod_gessvdd.detectors.multimodal import MSSVDD
from pyod_gessvdd.dual import QPSolution, SVDDDual
from pyod_gessvdd.graph import Graph
from pyod_gessvdd.kernels.npt import PairwiseKernel

__version__ = "0.1.0"

__all__ = [
    "CONTRACT",
    "ESSVDD",
    "ESVDD",
    "GESSVDD",
    "GESVDD",
    "GESVM",
    "L2SVDD",
    "MSSVDD",
    "OCKSR",
    "SSVDD",
    "SVDD",
    "FeatureLaplacian",
    "Graph",
    "Kernel",
    "Laplacian",
    "PairwiseKernel",
    "QPBackend",
    "QPSolution",
    "SVDDDual",
    "UpdateState",
    "Updater",
    "available",
    "hookimpl",
    "load",
]
