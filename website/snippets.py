"""The Python of a page, run in order in one namespace, as a reader would; a notebook's habits, without the notebook.

The tests run every page through this module, and the build shows what the pages in ``SHOWN`` print and draw.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from matplotlib import rc_context

from website.pictures import DARK, inline

BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)

#: The pages whose output is part of the text.
SHOWN = ("getting-started.md", "tutorials/", "how-to/")
#: Those of them that need packages which the site's environment does not have; ``make compatibility`` runs them.
ELSEWHERE = ("how-to/time-series.md", "how-to/mlflow.md")


def snippets(markdown: str) -> list[str]:
    """The Python blocks of a page."""
    return BLOCK.findall(markdown)


def run(snippet: str, namespace: dict[str, Any], name: str = "snippet") -> tuple[str, Any]:
    """Run one block; return what it printed, and the value of its last line if that is an expression.

    A figure is drawn a second time for the dark theme, and both are returned.
    """
    tree, value = ast.parse(snippet, name), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), namespace)
        if isinstance(last, ast.Expr):
            code = compile(ast.Expression(last.value), name, "eval")
            value = eval(code, namespace)
            if hasattr(value, "savefig"):
                with rc_context(DARK):
                    value = (value, eval(code, namespace))
    return printed.getvalue(), value


def with_output(markdown: str, name: str, folder: Path, *, strict: bool = True) -> str:
    """The page with what each block printed, returned and drew below the block.

    Parameters
    ----------
    markdown : str
        The page.
    name : str
        What it is called in tracebacks.
    folder : Path
        Where it runs: files that it writes are found there.
    strict : bool, default=True
        Whether a warning ends the run.
    """
    module = ModuleType("page")  # A real module: components that a page defines are pickled by their path.
    sys.modules[module.__name__] = module

    def replace(match: re.Match[str]) -> str:
        printed, value = run(match.group(1), vars(module), name)
        return "\n".join([match.group(0), *_shown(printed, value)])

    before = os.getcwd()
    with warnings.catch_warnings():
        warnings.simplefilter("error" if strict else "default")
        os.chdir(folder)
        try:
            return BLOCK.sub(replace, markdown)
        finally:
            os.chdir(before)
            del sys.modules[module.__name__]


def _shown(printed: str, value: Any) -> list[str]:
    parts = []
    if isinstance(value, tuple) and hasattr(value[0], "savefig"):
        light, dark = value
        parts.append(f'\n<p class="figure">{inline(light, "light")}{inline(dark, "dark")}</p>\n')
    elif hasattr(value, "to_html"):
        # Without pandas' class the table looks like every other table of the site.
        table = value.to_html(border=0, float_format=_number).replace(' class="dataframe"', "")
        parts.append(f"\n{table}\n")
    elif isinstance(value, str | int | float | list | dict):
        printed += f"{value!r}\n"
    if printed:
        parts.insert(0, f"\n```text\n{printed.rstrip()}\n```\n")
    return parts


def _number(value: float) -> str:
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e8 else f"{value:.4g}"


def is_shown(page: str) -> bool:
    """Whether the site shows the output of this page, named by its path below ``docs/``."""
    return page.startswith(SHOWN) and page not in ELSEWHERE
