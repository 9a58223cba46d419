"""``did_you_mean``: the name that somebody may have meant who wrote one that is unknown."""

from __future__ import annotations

TYPE_CHECKING = False  # for the checkers it is True; to import typing takes longer than all of this

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["did_you_mean"]

LIKENESS = 0.7  # of 1; with difflib's 0.6 a long common prefix alone makes two variables look alike


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion to end a message with; empty when nothing *known* comes close to *name*."""
    from difflib import get_close_matches

    # Lengths alone bound the likeness; to compare the letters of what a stranger sent may take half a second.
    near = [one for one in known if 2 * min(len(one), len(name)) >= LIKENESS * (len(one) + len(name))]
    close = get_close_matches(name, near, n=1, cutoff=LIKENESS) if near else []
    return f": did you mean {close[0]!r}?" if close else ""
