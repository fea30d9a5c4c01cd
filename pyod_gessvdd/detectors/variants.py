"""The paper's 34 variants: its names and our components, both ways."""

from __future__ import annotations

import re

#: The paper's graph and updater labels ↔ component names.
GRAPHS = {"0": "none", "I": "identity", "PCA": "pca", "Sw": "within", "Sb": "between", "kNN": "knn"}
UPDATERS = {"GR": "gradient", "S": "spectral", "SR": "spectral_regression"}
CRITERIA = ("min", "max")

#: All 34: six graphs × three updaters × two directions, less 0-SR, which has no graph to regress on.
VARIANTS = tuple(
    f"{graph}-{updater}-{criterion}"
    for graph in GRAPHS
    for updater in UPDATERS
    for criterion in CRITERIA
    if (graph, updater) != ("0", "SR")
)


def parse_variant(name: str) -> dict[str, str]:
    """From ``"kNN-GR-min"`` (or ``"GESSVDD-kNN-GR-min"``) to the components' names."""
    if not isinstance(name, str):
        raise TypeError(f"a variant is a name such as 'kNN-GR-min', got {name!r}")
    short = re.sub(r"^GESSVDD-", "", name.strip(), flags=re.IGNORECASE)
    parts = short.split("-")
    graphs = {label.casefold(): component for label, component in GRAPHS.items()}
    updaters = {label.casefold(): component for label, component in UPDATERS.items()}
    if (
        len(parts) != 3
        or parts[0].casefold() not in graphs
        or parts[1].casefold() not in updaters
        or parts[2].casefold() not in CRITERIA
    ):
        raise ValueError(
            f"unknown variant {name!r}; a variant is GRAPH-UPDATER-DIRECTION with GRAPH one of {', '.join(GRAPHS)}, "
            f"UPDATER one of {', '.join(UPDATERS)} and DIRECTION min or max, for example 'kNN-GR-min'"
        )
    laplacian, updater = graphs[parts[0].casefold()], updaters[parts[1].casefold()]
    if laplacian == "none" and updater == "spectral_regression":
        raise ValueError(f"the variant {name!r} does not exist: spectral regression (SR) needs a graph, and 0 has none")
    return {"laplacian": laplacian, "updater": updater, "criterion": parts[2].casefold()}


def variant_name(laplacian: str, updater: str, criterion: str) -> str | None:
    """The paper's name for these components, or None if it has none."""
    graphs = {component: label for label, component in GRAPHS.items()}
    updaters = {component: label for label, component in UPDATERS.items()}
    if laplacian not in graphs or updater not in updaters or criterion not in CRITERIA:
        return None
    name = f"{graphs[laplacian]}-{updaters[updater]}-{criterion}"
    return name if name in VARIANTS else None
