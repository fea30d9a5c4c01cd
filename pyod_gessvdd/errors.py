"""The exceptions of the package, so that callers can catch exactly what they mean, and its warnings."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

#: The package's own folder, with the slash, which pyod_gessvdd_graphs does not have: frames in it are not the caller's.
HERE = str(Path(__file__).parent) + os.sep


class ComponentError(ValueError):
    """A component broke its contract: a wrong shape, a NaN, an infeasible answer."""


class UnknownComponentError(ValueError):
    """No component of that name is installed."""


class SpecError(ValueError):
    """A spec string such as ``"knn(n_neighbors=7)"`` could not be read."""


class PluginError(RuntimeError):
    """A plugin could not be loaded, or two plugins claim the same name."""


class MissingPluginError(ImportError):
    """A saved model uses a component that is not installed here."""


class ScaffoldError(ValueError):
    """A plugin package cannot be written as asked: its name, or the folder that it would be in."""


class NotSolvedError(RuntimeError):
    """A QP backend returned an answer that the host's certificate rejects."""


class ComparisonError(ValueError):
    """A comparison cannot be run or read as asked: its data, detectors, settings or run folder are not usable."""


class SourceError(ValueError):
    """A source of rows cannot be read as asked: a changed file, another schema, a scheduler that has gone."""


class NoSuchModelError(ValueError):
    """A detector with these parameters does not exist for these rows; a search over a grid expects that."""


class ModelFileError(ValueError):
    """A saved model, or a table to fit or score, is not usable as asked."""


class TableError(ComparisonError, ModelFileError):
    """A table cannot be read or used as asked; it is caught with whatever a comparison, a fit or a score raises."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called into the package, however deep inside the reason was found."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
