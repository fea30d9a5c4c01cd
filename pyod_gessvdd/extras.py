"""Optional packages: imported where they are needed, and asked for by the extra that brings them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyod_gessvdd.errors import ComparisonError


def need(module: str, extra: str, purpose: str) -> Any:
    """Import an optional module, or say in one sentence how to get it.

    Parameters
    ----------
    module : str
        What to import.
    extra : str
        The extra of this distribution that brings it.
    purpose : str
        What it is needed for, as the subject of "needs".
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ComparisonError(
            f"{purpose} needs {package}, which cannot be imported ({error}); pip install 'pyod-gessvdd[{extra}]'"
        ) from error
