"""``prompt_of`` and ``filter_parameters``: convert a row of ``prompts`` to a turn, and a ``PromptFilter`` to parameters.

``prompt_tables.py`` describes the columns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from chatmemory.pastchats.prompt import Prompt

if TYPE_CHECKING:
    from chatmemory.input.json_value import Json
    from chatmemory.pastchats.prompt import PromptFilter

ALIASES: Final = "aliases"
"""The metadata key for the further sources of a turn; in the file they are stored in a table of their own."""

PROMPT_COLUMNS: Final = """
prompts.id, prompts.source_path, prompts.source_project, prompts.format, prompts.conversation_id, prompts.session,
prompts.turn_index, prompts.role, prompts.kind, prompts.speaker, prompts.content, prompts.timestamp, prompts.text_hash,
prompts.metadata_json, prompts.superseded_at,
(SELECT json_group_array(prompt_aliases.source_path) FROM prompt_aliases
 WHERE prompt_aliases.prompt_id = prompts.id) AS aliases
"""
"""The columns that ``prompt_of`` reads, in this order, for a statement ``FROM prompts``."""

NO_ALIASES: Final = "[]"
_ZONE_AT: Final = -len("+00:00")

# The left side of a comparison decides its collation: projects are compared without regard to case.
IS_MEANT: Final = """
(:projects IS NULL OR prompts.source_project COLLATE NOCASE IN (SELECT value FROM json_each(:projects)))
AND (:roles IS NULL OR prompts.role IN (SELECT value FROM json_each(:roles)))
AND (:formats IS NULL OR prompts.format IN (SELECT value FROM json_each(:formats)))
AND (:conversations IS NULL OR prompts.conversation_id IN (SELECT value FROM json_each(:conversations)))
AND (:since IS NULL OR prompts.timestamp >= :since)
AND (:until IS NULL OR prompts.timestamp < :until)
"""
"""The rows that a ``PromptFilter`` selects.  A parameter that is NULL selects every row."""


def prompt_of(row: Sequence[Any]) -> Prompt:
    """Return the turn of a row that begins with ``PROMPT_COLUMNS``; further columns are ignored."""
    metadata: dict[str, Json] = {} if row[13] is None else json.loads(row[13])
    if row[15] != NO_ALIASES:
        metadata[ALIASES] = json.loads(row[15])
    return Prompt(
        id=row[0],
        source=row[1],
        project=row[2],
        format=row[3],
        conversation_id=row[4] or "",
        session=row[5],
        turn_index=row[6],
        role=row[7],
        kind=row[8],
        speaker=row[9],
        content=row[10],
        timestamp=instant_of(row[11]),
        text_hash=row[12],
        metadata=metadata,
        is_superseded=row[14] is not None,
    )


def instant_text(instant: datetime | None) -> str | None:
    """Return an instant with a time zone as ``2023-05-08T13:56:00.000000Z``."""
    if instant is None:
        return None
    return instant.astimezone(UTC).isoformat(timespec="microseconds")[:_ZONE_AT] + "Z"


def instant_of(text: str | None) -> datetime | None:
    """Return the instant in UTC, also from the format of SQLite; None if another program has written something else."""
    if text is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def plain(text: str) -> str:
    r"""Return *text* as a statement accepts it: a lone surrogate, as file names may contain, is written ``\udc80``."""
    return text.encode("utf-8", "backslashreplace").decode()


def filter_parameters(which: PromptFilter) -> dict[str, str | None]:
    """Return the parameters of ``IS_MEANT``."""
    return {
        "projects": _names(which.projects),
        "roles": _names(which.roles),
        "formats": _names(which.formats),
        "conversations": _names(which.conversations),
        "since": instant_text(which.since),
        "until": instant_text(which.until),
    }


def _names(names: Sequence[str]) -> str | None:
    # Escaped: a name may contain a lone surrogate, which no statement accepts.
    return json.dumps(list(names)) if names else None
