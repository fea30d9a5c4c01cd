"""numpydoc as the package writes it, for a reader of Markdown: references become code, and a star is a star."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

ROLE = re.compile(r":(?:class|meth|func|mod|data|attr|py:\w+):`~?([^`]+)`")
CODE = re.compile(r"(``.*?``|`[^`\n]*`|^ *>>>.*$|^ *\.\.\. .*$)", flags=re.MULTILINE | re.DOTALL)


def as_markdown(text: str) -> str:
    """A docstring without reST's roles, and with the stars and underscores outside of code taken as they are."""
    pieces = CODE.split(ROLE.sub(r"``\1``", text))
    return "".join(piece if i % 2 else re.sub(r"(?<=\S)\*(?=\S)", r"\\*", piece) for i, piece in enumerate(pieces))


class Docstrings(Extension):
    """Rewrites each docstring before it is read."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Called by griffe for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
