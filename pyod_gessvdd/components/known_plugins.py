"""The plugin packages of this project and what they bring: so that an error can name the one to install."""

from __future__ import annotations

from fnmatch import fnmatchcase

#: Distribution → kind → patterns of names and aliases, spelled as names are compared; a test holds it to what the
#: packages register.
KNOWN_PLUGINS: dict[str, dict[str, tuple[str, ...]]] = {
    "pyod-gessvdd-ann": {"laplacian": ("ann",)},
    "pyod-gessvdd-authors": {
        "laplacian": ("authors_between", "authors_knn"),
        "updater": ("authors_spectral", "authors_spectral_regression"),
        "kernel": ("authors_rbf",),
    },
    "pyod-gessvdd-graphs": {
        "laplacian": (
            "epsilon",
            "farthest",
            "heat",
            "heat_kernel",
            "lle",
            "mst",
            "mutual_knn",
            "self_tuning",
            "shared_nn",
            "snn",
        ),
    },
    "pyod-gessvdd-kernels": {"kernel": ("gower", "rff", "rff_laplacian")},
    "pyod-gessvdd-qpsolvers": {"qp_backend": ("qpsolvers_*",)},
}


def distribution_that_brings(kind: str, component: str) -> str | None:
    """The distribution of this project that brings a component, or None if none does."""
    for distribution, kinds in KNOWN_PLUGINS.items():
        if any(fnmatchcase(component, pattern) for pattern in kinds.get(kind, ())):
            return distribution
    return None
