"""Every solver that qpsolvers knows as a QP backend of pyod-gessvdd; see :mod:`pyod_gessvdd_qpsolvers.solvers`."""

from __future__ import annotations

from pyod_gessvdd_qpsolvers.backend import QPSolversBackend
from pyod_gessvdd_qpsolvers.dense import DenseBackend
from pyod_gessvdd_qpsolvers.lifted import LiftedBackend
from pyod_gessvdd_qpsolvers.solvers import SOLVERS, installed

__version__ = "0.1.0"

__all__ = ["SOLVERS", "DenseBackend", "LiftedBackend", "QPSolversBackend", "installed"]
