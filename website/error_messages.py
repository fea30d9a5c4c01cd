"""Every message that the package can raise or warn with, read from its source: the table of the page on errors."""

from __future__ import annotations

import ast
import html
import re
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1] / "pyod_gessvdd"

#: Messages to those who write tests and components are explained by the page on plugins, not here.
LEFT_OUT = ("checks", "scaffold")


class Message(NamedTuple):
    """Where a message comes from, what it is raised as, and its text, with ``…`` for what is filled in."""

    module: str
    category: str
    text: str


def messages() -> list[Message]:
    """All messages, in the order of the files."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        if module.split("/")[0] in LEFT_OUT:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            call = _call(node)
            if call is not None and call.args and (text := _text(call.args[0])):
                found.append(Message(module, _category(node, call), text))
    return found


def warned() -> list[Message]:
    """The warnings among them."""
    return [message for message in messages() if message.category.endswith("Warning")]


def table() -> str:
    """All errors as Markdown, a table for each part of the package."""
    parts: dict[str, list[Message]] = {}
    for message in messages():
        if not message.category.endswith("Warning"):
            parts.setdefault(message.module.split("/")[0], []).append(message)
    lines = []
    for part, group in sorted(parts.items()):
        lines += ["", f"### `{part}`", "", "| raised as | message |", "|---|---|"]
        lines += [f"| `{error.category}` | {_escaped(error.text)} |" for error in dict.fromkeys(group)]
    return "\n".join(lines)


def _call(node: ast.AST) -> ast.Call | None:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        return node.exc
    is_warning = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "warn"
    return node if is_warning else None  # type: ignore[return-value]


def _category(node: ast.AST, call: ast.Call) -> str:
    if isinstance(node, ast.Raise):
        return ast.unparse(call.func).rpartition(".")[2]
    return ast.unparse(call.args[1]) if len(call.args) > 1 else "UserWarning"


def _text(tree: ast.expr) -> str:
    """A literal as it is, an f-string with its holes as ``…``, and nothing for what is only known when it runs."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        return tree.value
    if isinstance(tree, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in tree.values)
    return ""


def _escaped(text: str) -> str:
    """The text as it is, in a cell of a table."""
    return re.sub(r"([|*_\[`])", r"\\\1", html.escape(text, quote=False))
