"""The detectors that are known by name: this package's and PyOD's tabular ones, found without importing them."""

from __future__ import annotations

import contextlib
import difflib
import io
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pyod.utils.knowledge import KnowledgeBase

from pyod_gessvdd.detectors.variants import VARIANTS
from pyod_gessvdd.errors import ComparisonError

#: The paper's methods, GESSVDD first.
FAMILY = ("GESSVDD", "SSVDD", "ESSVDD", "SVDD", "ESVDD", "GESVDD", "GESVM")

#: They fit and score ten thousand rows in seconds.
FAST = ("GESSVDD", "ECOD", "COPOD", "HBOS", "IForest", "LODA", "PCA", "INNE")

#: What the field compares with and PyOD does not have: the class, and the package that it needs beyond ours.
BASELINES = {"DTE-NP": ("DTENP", None), "EIF": ("EIF", "isotree")}

#: What tables of recent papers hold, apart from deep models; some take long, which a time limit per job is for.
FIELD = (
    *("KNN", "KNN(method='mean')", "LOF", "ECOD", "COPOD", "HBOS", "CBLOF", "PCA", "GMM", "OCSVM", "KDE", "IForest"),
    *("INNE", "KPCA", "MCD", "LODA", "FeatureBagging", *BASELINES),
)

#: In PyOD's catalogue, but not for a table of several columns without labels: MAD takes one column, the others labels.
NOT_COMPARABLE = ("MAD", "XGBOD", "DevNet")

#: What ``gessvdd compare`` runs unless told.
DEFAULT = ("GESSVDD", "GESSVDD(novelty=True)", "OCSVM", "KNN", "LOF", "IForest", "ECOD", "HBOS", "PCA")

GROUPS = ("fast", "field", "all-pyod", "family", "variants")


@cache
def class_paths() -> dict[str, str]:
    """``name → module:Class`` of all that can be asked for by name."""
    paths = {name: f"pyod_gessvdd:{name}" for name in (*FAMILY, "MSSVDD")}
    paths |= {name: f"pyod_gessvdd.experiments.detectors.baselines:{made}" for name, (made, _) in BASELINES.items()}
    for name, entry in KnowledgeBase().algorithms.items():
        if entry["status"] == "shipped" and "tabular" in entry["data_types"]:
            module, _, class_name = entry["class_path"].rpartition(".")
            paths.setdefault(name, f"{module}:{class_name}")
    return paths


def group(name: str) -> list[str]:
    """The specs that a group's name stands for."""
    if name == "fast":
        return list(FAST)
    if name == "field":
        missing = {known for known, (_, package) in BASELINES.items() if package and find_spec(package) is None}
        return [known for known in FIELD if known not in missing]
    if name == "family":
        return list(FAMILY)
    if name == "variants":
        return [f"GESSVDD:{variant}" for variant in VARIANTS]
    return [name for name in class_paths() if _is_comparable_pyod(name)]


def find(name: str) -> str:
    """The catalogue's spelling of a name; case, ``-`` and ``_`` do not matter. Unknown: the nearest names."""
    spellings = {_key(known): known for known in class_paths()}
    if _key(name) in spellings:
        return spellings[_key(name)]
    near = difflib.get_close_matches(_key(name), [*spellings, *map(_key, GROUPS)], n=3)
    shown = [{**spellings, **{_key(known): known for known in GROUPS}}[match] for match in near]
    hint = f"did you mean {' or '.join(shown)}?" if shown else f"the names known are {', '.join(class_paths())}"
    raise ComparisonError(f"unknown detector {name!r}; {hint}")


def import_class(path: str) -> Any:
    """The class of ``module:Class``; a package that is missing for it is named."""
    module, _, class_name = path.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), *class_name.split("."))):
        raise ComparisonError(f"{path!r} names no class; write package.module:Class")
    try:
        # Some of PyOD's modules print that a package is missing before they raise.
        with contextlib.redirect_stdout(io.StringIO()):
            return getattr(import_module(module), class_name)
    except ImportError as error:
        reason = " ".join(str(error).split())
        raise ComparisonError(f"{class_name} cannot be imported from {module}: {reason}") from error
    except AttributeError as error:
        raise ComparisonError(f"the module {module} has no {class_name!r}") from error
    except (Exception, SystemExit) as error:  # a module may do anything while it is imported
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ComparisonError(f"the module {module} cannot be imported: {reason}") from error


def _is_comparable_pyod(name: str) -> bool:
    """Whether it is one of PyOD's for unlabelled tables, needs no torch, and can be built here with its defaults."""
    entry = KnowledgeBase().algorithms.get(name)
    if entry is None or name in NOT_COMPARABLE or name in FAMILY:
        return False
    if "torch" in entry["requires"] or any(find_spec(package) is None for package in entry["requires"]):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is only asked whether it can be built
            import_class(class_paths()[name])()
    except (ComparisonError, TypeError):  # it misses a package, or has parameters without a default
        return False
    return True


def _key(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")
