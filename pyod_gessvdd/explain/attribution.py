"""Which feature makes how much of a score: the gradient integrated along a path, and sums that are exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray

#: Gauss-Legendre nodes per path. Measured on nine data sets with features moved by 6 to 20 standard deviations, the
#: integral then misses about 1e-5 of the score's difference for smooth kernels, 1e-2 for the Laplacian kernel.
N_NODES = 16


def along_path(gradient: Callable[[Array], Array], start: Array, end: Array, unit: float) -> Array:
    """Integrated gradients: (end_j − start_j) ∫ ∂_j score over the straight path, of shape (n, D).

    Nodes are dense near ``start`` and spread out like sinh away from it: a local kernel's score has all of its slope
    within a few units of the data, however far the row is.

    Parameters
    ----------
    gradient : callable
        From rows (n, D) to the gradient of their scores (n, D).
    start, end : ndarray of shape (n, D)
        The ends of each row's path.
    unit : float
        The data's own scale, in which the length of a path is measured.
    """
    step = end - start
    bend = np.maximum(np.arcsinh(np.abs(step).max(axis=1, keepdims=True) / unit), 1e-6)
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    total = np.zeros_like(step)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        position = np.sinh(bend * node) / np.sinh(bend)
        speed = bend * np.cosh(bend * node) / np.sinh(bend)
        total += weight * speed * gradient(start + position * step)
    return total * step


def by_differences(score: Callable[[Array], Array], rows: Array, low: Array, high: Array, width: float) -> Array:
    """The gradient of ``score`` by central differences that stay between ``low`` and ``high``, where scores exist.

    Two scores per row and feature: for kernels whose derivative is not known.
    """
    gradient = np.zeros_like(rows)
    for j in range(rows.shape[1]):
        below, above = rows.copy(), rows.copy()
        below[:, j] = np.maximum(rows[:, j] - width, low[:, j])
        above[:, j] = np.minimum(rows[:, j] + width, high[:, j])
        gap = above[:, j] - below[:, j]
        rise = score(above) - score(below)
        np.divide(rise, gap, out=gradient[:, j], where=gap > 0)
    return gradient


def made_exact(contributions: Array, total: Array, otherwise: Array) -> Array:
    """The contributions with what their sum misses of ``total`` shared out, each in proportion to its size.

    Parameters
    ----------
    contributions : ndarray of shape (n, D)
        Whose sums are close to ``total``.
    total : ndarray of shape (n,)
        What they must add up to.
    otherwise : ndarray of shape (n, D)
        Non-negative shares where all contributions are zero.
    """
    sizes = np.abs(contributions)
    sums = sizes.sum(axis=1)
    sizes[sums == 0] = otherwise[sums == 0]
    sums = sizes.sum(axis=1, keepdims=True)
    shares = np.divide(sizes, sums, out=np.full_like(sizes, 1.0 / sizes.shape[1]), where=sums > 0)
    return contributions + (total - contributions.sum(axis=1))[:, None] * shares
