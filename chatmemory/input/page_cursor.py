"""The cursor of a list: where the last one that was seen stands, as text that a caller hands back."""

from datetime import datetime
from typing import TypeAlias

from chatmemory.errors import Problem
from chatmemory.input.rules import id_problem, instant_problem

Place: TypeAlias = tuple[datetime, str]
"""The instant by which something is listed, and its id, which tells it from others of the same instant."""


def cursor_of(place: Place) -> str:
    """Return the cursor of what follows *place*."""
    instant, id_ = place
    return f"{instant.isoformat()} {id_}"


def read_cursor(cursor: object) -> tuple[Place | None, list[Problem]]:
    """Return the place that *cursor* names, None for none, and what is wrong with it."""
    if cursor is None:
        return None, []
    text, _, id_ = cursor.partition(" ") if isinstance(cursor, str) else ("", "", "")
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        instant = None
    if instant is None or instant_problem(instant) is not None or id_problem(id_) is not None:
        return None, [Problem("$.after", "no cursor: give the next of another page")]
    return (instant, id_), []
