"""The parameters that updaters share, checked when they are used, as scikit-learn requires."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import Laplacian


def check_steps(updater: Any) -> None:
    """``max_steps`` must be a positive integer."""
    steps = updater.max_steps
    if not isinstance(steps, numbers.Integral) or isinstance(steps, bool) or steps < 1:
        raise ValueError(f"max_steps of updater {updater.name!r} must be a positive integer, got {steps!r}")


def check_tolerance(updater: Any) -> None:
    """``tol`` must be a number of at least 0."""
    tol = updater.tol
    if not isinstance(tol, numbers.Real) or isinstance(tol, bool) or not 0 <= float(tol) < np.inf:
        raise ValueError(f"tol of updater {updater.name!r} must be a number of at least 0, got {tol!r}")


def check_regulariser(psi: Any, beta: Any) -> None:
    """Raise a ``ValueError`` for an unknown psi, or a beta that is not a weight; graphs are resolved later."""
    a_number = isinstance(psi, numbers.Integral) and not isinstance(psi, bool) and int(psi) in range(4)
    if not (a_number or isinstance(psi, str | Laplacian | np.ndarray) or sp.issparse(psi)):
        raise ValueError(f"psi must be 0, 1, 2, 3 or a graph, got {psi!r}")
    if not isinstance(beta, numbers.Real) or isinstance(beta, bool) or not 0 <= float(beta) < np.inf:
        raise ValueError(f"beta must be a number of at least 0, got {beta!r}")
