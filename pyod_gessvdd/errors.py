"""The exceptions of the package: one small module, so that callers can catch exactly what they mean."""

from __future__ import annotations


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


class ModelFileError(ValueError):
    """A saved model, or a table to fit or score, is not usable as asked."""
