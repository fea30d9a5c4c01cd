"""The departures by name, and Algorithm 1 with some of them: ``setup(["farthest", "libsvm"])``.

The fits of a whole grid (:func:`pyod_gessvdd.experiments.detectors.paper.fitted.fit_grid`) take such a setup; a plain
detector takes all of it except the unsolved sphere, for which it has no parameter: every detector's dual is certified.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from pyod_gessvdd import Kernel
from pyod_gessvdd.experiments.detectors.paper.fitted import Setup, npt
from pyod_gessvdd_authors.graphs import AuthorsBetween, AuthorsKNN
from pyod_gessvdd_authors.kernel import AuthorsRBF
from pyod_gessvdd_authors.spheres import solve_until_libsvm_stops
from pyod_gessvdd_authors.updaters import AuthorsSpectral, AuthorsSpectralRegression

#: The number of updates in the paper, and the last one that the published implementation keeps.
UPDATES, KEPT_UPDATES = 5, 4

#: Name → what it is.
DEPARTURES = {
    "farthest": "the kNN graph links the five farthest points",
    "sb_times_n": "S_b is N times the paper's",
    "random_start": "Q starts at random, anew in every fit, not at the principal directions",
    "uncentred": "the features are not centred",
    "libsvm": "the dual is left where LIBSVM stops at an absolute 1e-3",
    "libsvm_middle": "the same, and R² is the middle of LIBSVM's interval where no α is between its bounds",
    "thrown_away": "the model is that before the last update",
    "eigenvalues": "eigenvalues below an absolute 1e-6 are dropped, ties are left as they come, no η in the regression",
    "width": "σ² counts in mean squared distances (non-linear only)",
}


def setup(names: Iterable[str]) -> Setup:
    """Algorithm 1 with the named departures, or with "all" of them.

    Parameters
    ----------
    names : iterable of str
        Keys of :data:`DEPARTURES`, or "all".
    """
    names = set(names)
    if "all" in names:
        names = set(DEPARTURES) - {"libsvm_middle"} | (names - {"all"})
    unknown = sorted(names - set(DEPARTURES))
    if unknown:
        raise ValueError(f"unknown departure {unknown[0]!r}; there are {', '.join(DEPARTURES)} and all")
    components: dict[str, Any] = {}
    if "farthest" in names:
        components["knn"] = AuthorsKNN()
    if "sb_times_n" in names:
        components["between"] = AuthorsBetween()
    if "eigenvalues" in names:
        components |= {"spectral": AuthorsSpectral(), "spectral_regression": AuthorsSpectralRegression()}
    given: dict[str, Any] = {"components": components}
    if "random_start" in names:
        given["init"] = "random"
    if "uncentred" in names:
        given["center"] = False
    if "thrown_away" in names:
        given["n_iter"] = KEPT_UPDATES
    if "libsvm" in names:
        given["solve"] = solve_until_libsvm_stops
    if "libsvm_middle" in names:
        given["solve"] = partial(solve_until_libsvm_stops, middle=True)
    if "width" in names:
        given["kernel"] = _authors_kernel
    return Setup(**given)


def _authors_kernel(sigma: float | None) -> Kernel:
    return npt(None) if sigma is None else AuthorsRBF(sigma=sigma)
