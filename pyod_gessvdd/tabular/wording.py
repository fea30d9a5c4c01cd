"""How the messages of this room name columns and count things."""

from __future__ import annotations

from collections.abc import Iterable

#: So many names are listed in a message at most.
LISTED = 8


def listed(names: Iterable[object]) -> str:
    """Some names, quoted."""
    names = list(names)
    return ", ".join(repr(str(name)) for name in names[:LISTED]) + (" …" if len(names) > LISTED else "")


def counted(count: int, noun: str) -> str:
    """A count with its noun, regular nouns only."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
