"""A plugin package to start from: ``write_plugin`` fills the templates of one kind of component."""

from __future__ import annotations

import keyword
import os
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from string import Template

import pyod_gessvdd
from pyod_gessvdd.components.contracts import CONTRACT
from pyod_gessvdd.components.known_plugins import KNOWN_PLUGINS, distribution_that_brings
from pyod_gessvdd.components.registry import KINDS, key, registry
from pyod_gessvdd.errors import PluginError, ScaffoldError, UnknownComponentError

#: What every package gets, by template; ``component.py`` is the kind's own.
FILES = {
    "pyproject.toml.txt": "pyproject.toml",
    "README.md.txt": "README.md",
    "gitignore.txt": ".gitignore",
    "test_component.py.txt": "tests/test_$component.py",
    "$kind.py.txt": "$module.py",
}

#: Names of files have a limit, and this one is part of several.
LONGEST_NAME = 100
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*([_-][A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Kind:
    """What the templates say differently for each kind of component."""

    suffix: str
    summary: str
    parameter: str
    value: str
    dependencies: tuple[str, ...] = ("numpy", "pyod-gessvdd")
    settings: str = ""


DETAILS = {
    "laplacian": Kind(
        "Laplacian",
        "a graph of nearest neighbours whose edges are the heavier the closer two samples are.",
        "n_neighbors",
        "7",
        ("numpy", "pyod-gessvdd", "scikit-learn"),
    ),
    "updater": Kind("Updater", "a gradient step that is halved until the criterion improves.", "first_step", "0.5"),
    "qp_backend": Kind(
        "Backend", "sequential minimal optimisation of the SVDD dual, with warm starts.", "max_iter", "5000"
    ),
    "kernel": Kind(
        "Kernel",
        "the Cauchy kernel 1 / (1 + ‖x − y‖² / width²).",
        "width",
        "30.0",
        ("numpy", "pyod-gessvdd", "scikit-learn"),
    ),
    "feature_laplacian": Kind(
        "FeatureGraph",
        "a graph over the columns, linked by their squared correlation.",
        "power",
        "2.0",
        settings='kernel="linear", n_components=2, ',
    ),
}


@dataclass(frozen=True)
class Package:
    """The names that follow from the kind and the name of a component."""

    kind: str
    component: str

    @property
    def distribution(self) -> str:
        """What is installed and published."""
        return f"pyod-gessvdd-{self.component.replace('_', '-')}"

    @property
    def module(self) -> str:
        """What is imported."""
        return f"pyod_gessvdd_{self.component}"

    @property
    def class_name(self) -> str:
        """The component's class, which ends in its kind."""
        camel = "".join(part.capitalize() for part in self.component.split("_"))
        suffix = DETAILS[self.kind].suffix
        return camel if camel.endswith(suffix) and camel != suffix else camel + suffix

    def fill(self, template: str) -> str:
        """The template's text with this package's names."""
        details = DETAILS[self.kind]
        return Template(template).substitute(
            kind=self.kind,
            component=self.component,
            distribution=self.distribution,
            module=self.module,
            class_name=self.class_name,
            contract=CONTRACT,
            summary=details.summary,
            parameter=details.parameter,
            value=details.value,
            settings=details.settings,
            example=f"{details.parameter}={details.value}",
            dependencies=", ".join(f'"{name}"' for name in details.dependencies),
        )


def write_plugin(kind: str, name: str, folder: str | Path = ".", *, overwrite: bool = False) -> tuple[Path, list[Path]]:
    """Write a plugin package that installs and passes its tests as it is.

    Parameters
    ----------
    kind : {"laplacian", "updater", "qp_backend", "kernel", "feature_laplacian"}
        The kind of component that it brings.
    name : str
        The component's name: letters, digits, and ``-`` or ``_`` between them.
    folder : path, default="."
        Where the package's own folder ``pyod-gessvdd-NAME`` is made.
    overwrite : bool, default=False
        Whether files that are there already may be replaced.

    Returns
    -------
    package : Path
        The package's folder.
    written : list of Path
        Its files, relative to it.
    """
    package = _checked_package(kind, name, overwrite)
    root = Path(folder) / package.distribution
    if root.exists() and not overwrite:
        raise ScaffoldError(f"{root} exists already; choose another name or folder, or overwrite it with --force")
    templates = files(__package__) / "templates"
    written = []
    try:
        for template, target in FILES.items():
            text = (templates / package.fill(template)).read_text(encoding="utf-8")
            path = Path(package.fill(target))
            _refuse_links(root, path)
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(package.fill(text), encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise ScaffoldError(f"cannot write {error.filename or root}: {error.strerror or error}") from error
    return root, sorted(written)


def _refuse_links(root: Path, path: Path) -> None:
    """A link in the package's folder leads out of it: what it points to is not the package's to replace."""
    inside = [root, *(root / part for part in reversed(path.parents) if part.name), root / path]
    for place in inside:
        if place.is_symlink():
            raise ScaffoldError(f"{place} is a link to {os.readlink(place)}; remove it first")


def _checked_package(kind: str, name: str, overwrite: bool) -> Package:
    if kind not in KINDS:
        raise ScaffoldError(f"the kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if len(name) > LONGEST_NAME:
        raise ScaffoldError(f"a component's name has at most {LONGEST_NAME} characters, got {len(name)}")
    if not NAME.fullmatch(name) or keyword.iskeyword(key(name)):
        raise ScaffoldError(
            f"{name!r} cannot be a component's name; it begins with a letter, has letters, digits and single "
            "'-' or '_' between them, and is not a keyword of Python"
        )
    package = Package(kind, key(name))
    if hasattr(pyod_gessvdd, package.class_name):
        raise ScaffoldError(
            f"{name!r} would need a class {package.class_name}, which pyod_gessvdd has itself; choose another name"
        )
    owner = _owner(kind, package.component)
    if owner and not (overwrite and owner == package.distribution):
        raise ScaffoldError(f"the {kind} {name!r} is taken by {owner}; choose another name")
    if package.distribution in KNOWN_PLUGINS or (not overwrite and _is_installed(package.distribution)):
        raise ScaffoldError(
            f"{name!r} would be the distribution {package.distribution}, which exists already; choose another name"
        )
    return package


def _owner(kind: str, component: str) -> str | None:
    """The distribution that brings a component of that name or alias, installed or one of this project's."""
    try:
        return registry().find(kind, component).distribution
    except UnknownComponentError:
        return distribution_that_brings(kind, component)
    except PluginError:
        return "several installed distributions"


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True
