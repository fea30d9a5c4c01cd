"""The methods that the paper compares: its 34 variants, SVDD, ESVDD, OCSVM, GESVDD and GESVM, each with its grid."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.detectors.family import ESVDD, GESVDD, GESVM, SVDD
from pyod_gessvdd.detectors.gessvdd import GESSVDD
from pyod_gessvdd.detectors.variants import GRAPHS, VARIANTS, parse_variant
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.detectors.paper.ocsvm import OCSVM
from pyod_gessvdd.experiments.detectors.paper.shared_graph import SharedGraph
from pyod_gessvdd.model_selection import paper_grid

LINEAR, NONLINEAR = "linear", "non-linear"
#: The paper's words for the two kinds of data description, and our kernel.
KERNELS = {LINEAR: "linear", NONLINEAR: "rbf"}

_PREFIX = "GESSVDD-"
#: What all methods have in common: unscaled rows, and the boundary decides.
_AS_PUBLISHED = {"standardize": False, "threshold": "radius"}
_WITHOUT_SUBSPACE: dict[str, Any] = {"SVDD": SVDD, "ESVDD": ESVDD, "GESVDD": GESVDD, "GESVM": GESVM}
#: --quick searches these of the paper's values.
_QUICK = {
    "C": (0.1, 0.3, 0.6),
    "n_components": (1, 3, 5, 10),
    "step_size": (0.1, 10.0, 1000.0),
    "sigma": (1.0, 10.0, 100.0, 1000.0),
}


@dataclass(frozen=True)
class Method:
    """A method under the name that the paper's tables give it, for example "GESSVDD-kNN-GR-min" or "GESVM-Sw".

    Attributes
    ----------
    name : str
        The name.
    descriptions : tuple of str
        In which of the paper's two tables, linear and non-linear, it stands.
    """

    name: str
    descriptions: tuple[str, ...] = (LINEAR, NONLINEAR)

    @property
    def is_variant(self) -> bool:
        """Whether it is one of the 34."""
        return self.name.startswith(_PREFIX)

    def grid(self, description: str, n_features: int, *, quick: bool = False) -> dict[str, list[Any]]:
        """The values to search for each of its hyperparameters, in the paper's order."""
        updater = parse_variant(self.name)["updater"] if self.is_variant else "gradient"
        grid = paper_grid(KERNELS[description], updater, n_features)
        if not self.is_variant:
            del grid["n_components"], grid["step_size"]
        if quick:
            return {name: [value for value in values if value in _QUICK[name]] for name, values in grid.items()}
        return grid

    def shared_graph(self) -> SharedGraph | None:
        """A fresh graph for the fits of one fold to share, if the method has one that takes time to build."""
        graph = self.name.split("-")[1] if "-" in self.name else "0"
        return None if graph in ("0", "I", "PCA") else SharedGraph(resolve("laplacian", GRAPHS[graph]))

    def build(self, description: str, parameters: dict[str, Any], seed: int, shared: SharedGraph | None = None) -> Any:
        """A detector whose ``predict`` says 0 for the rows that it accepts and 1 for the others."""
        kernel = KERNELS[description]
        if self.name == "OCSVM":
            return OCSVM(kernel=kernel, **parameters)
        given = {"kernel": kernel, "random_state": seed, **({} if shared is None else {"laplacian": shared})}
        if self.is_variant:
            return GESSVDD.from_variant(self.name, **given, **parameters)
        family, _, graph = self.name.partition("-")
        if graph:
            given = {"laplacian": GRAPHS[graph], **given}
        return _WITHOUT_SUBSPACE[family](**_AS_PUBLISHED, **given, **parameters)


_OTHERS = (
    Method("ESVDD"),
    Method("SVDD"),
    Method("OCSVM"),
    *(Method(f"{family}-{graph}", (NONLINEAR,)) for family in ("GESVDD", "GESVM") for graph in ("PCA", "Sw", "kNN")),
)
#: By name, in the order of the tables.
METHODS = {method.name: method for method in (*(Method(_PREFIX + name) for name in VARIANTS), *_OTHERS)}

#: The variants that the paper's own tables of selected results show.
_MAIN = ("Sb-GR-max", "kNN-GR-min", "kNN-SR-max", "I-GR-min", "0-GR-min")
GROUPS = {
    "all": tuple(METHODS),
    "variants": tuple(name for name, method in METHODS.items() if method.is_variant),
    "others": tuple(method.name for method in _OTHERS),
    "main": tuple(_PREFIX + name for name in _MAIN),
}


def choose_methods(names: Iterable[str]) -> list[Method]:
    """The methods of these names and groups; a variant may be named with or without GESSVDD-, in any case."""
    known = {name.casefold(): name for name in METHODS}
    known |= {name.removeprefix(_PREFIX).casefold(): name for name in METHODS}
    chosen: dict[str, Method] = {}
    for name in names:
        folded = name.strip().casefold()
        if folded not in known and folded not in GROUPS:
            near = [known.get(match, match) for match in difflib.get_close_matches(folded, [*known, *GROUPS], 3)]
            hint = f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else f"groups are {', '.join(GROUPS)}"
            raise ComparisonError(f"unknown method {name!r}; {hint}")
        for member in GROUPS.get(folded, (known.get(folded, ""),)):
            chosen[member] = METHODS[member]
    return list(chosen.values())
