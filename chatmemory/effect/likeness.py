"""``did_you_mean``: suggests a known name for an unknown one."""

from __future__ import annotations

TYPE_CHECKING = False  # true for type checkers; importing `typing` takes longer than this whole module

if TYPE_CHECKING:
    from collections.abc import Iterable

LIKENESS = 0.7  # of 1; with the 0.6 of difflib, a long common prefix alone would make two variables similar


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion to end a message with; empty when nothing *known* comes close to *name*."""
    from difflib import get_close_matches

    # Skip names whose lengths alone rule out the likeness: comparing the characters of long untrusted input may take
    # half a second.
    near = [one for one in known if 2 * min(len(one), len(name)) >= LIKENESS * (len(one) + len(name))]
    close = get_close_matches(name, near, n=1, cutoff=LIKENESS) if near else []
    return f": did you mean {close[0]!r}?" if close else ""
