"""The plugin packages of this project and what they bring: so that an error can name the one to install."""

from __future__ import annotations

#: Distribution → kind → names and aliases, spelled as names are compared; a test holds it to what is registered.
KNOWN_PLUGINS: dict[str, dict[str, tuple[str, ...]]] = {
    "pyod-gessvdd-graphs": {
        "laplacian": ("heat", "mutual_knn", "epsilon", "self_tuning", "lle", "shared_nn", "farthest", "mst"),
    },
}


def distribution_that_brings(kind: str, component: str) -> str | None:
    """The distribution of this project that brings a component, or None if none does."""
    for distribution, kinds in KNOWN_PLUGINS.items():
        if component in kinds.get(kind, ()):
            return distribution
    return None
