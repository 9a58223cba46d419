"""Reads of a recall other than its search: turns in order, and the conversations in which a text occurs.

A recall imports this module, so it imports little.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chatmemory_layers.sqlite.prompts.prompt_row import (
    PROMPT_COLUMNS,
    plain,
    prompt_of,
)

if TYPE_CHECKING:
    from chatmemory.pastchats.prompt import Prompt

# ruff: noqa: S608  columns and conditions are put into statements, never values


# Turns that were edited away have only each other as neighbours.
SELECT_BEFORE = f"""
SELECT {PROMPT_COLUMNS} FROM prompts
WHERE conversation_id = :conversation_id AND (turn_index, id) < (:turn_index, :id)
    AND (superseded_at IS NULL OR :is_superseded)
ORDER BY turn_index DESC, id DESC LIMIT :limit
"""
SELECT_AFTER = f"""
SELECT {PROMPT_COLUMNS} FROM prompts
WHERE conversation_id = :conversation_id AND (turn_index, id) > (:turn_index, :id)
    AND (superseded_at IS NULL OR :is_superseded)
ORDER BY turn_index, id LIMIT :limit
"""

SELECT_OF_SOURCE = f"""
SELECT {PROMPT_COLUMNS} FROM prompts
WHERE id IN (
    SELECT id FROM prompts WHERE source_path = :source
    UNION ALL SELECT prompt_id FROM prompt_aliases WHERE prompt_aliases.source_path = :source
)
ORDER BY conversation_id, turn_index, id LIMIT :limit
"""
SELECT_TURN_OF_SOURCE = f"""
SELECT {PROMPT_COLUMNS} FROM prompts
WHERE id IN (
    SELECT id FROM prompts WHERE source_path = :source AND turn_index = :turn_index
    UNION ALL
    SELECT prompt_id FROM prompt_aliases CROSS JOIN prompts ON prompts.id = prompt_id
    WHERE prompt_aliases.source_path = :source AND turn_index = :turn_index
)
ORDER BY conversation_id, id LIMIT :limit
"""
SELECT_OF_CONVERSATION = f"""
SELECT {PROMPT_COLUMNS} FROM prompts WHERE conversation_id = :source ORDER BY turn_index, id LIMIT :limit
"""
SELECT_TURN_OF_CONVERSATION = f"""
SELECT {PROMPT_COLUMNS} FROM prompts
WHERE conversation_id = :source AND turn_index = :turn_index ORDER BY id LIMIT :limit
"""

SELECT_WITH_TEXTS = """
SELECT asked.value, prompts.conversation_id
FROM json_each(:hashes) AS asked CROSS JOIN prompts ON substr(prompts.text_hash, 1, 12) = substr(asked.value, 1, 12)
WHERE prompts.text_hash = asked.value
GROUP BY asked.value, prompts.conversation_id ORDER BY asked.id, min(prompts.id)
"""


def around(connection: sqlite3.Connection, prompt: Prompt, *, before: int, after: int) -> tuple[Prompt, ...]:
    """Return *prompt* with at most *before* turns of its conversation before it, and *after* turns after it."""
    place = {
        "conversation_id": plain(prompt.conversation_id),
        "turn_index": prompt.turn_index,
        "id": prompt.id,
        "is_superseded": prompt.is_superseded,
    }
    earlier = connection.execute(SELECT_BEFORE, {**place, "limit": max(before, 0)}).fetchall()
    later = connection.execute(SELECT_AFTER, {**place, "limit": max(after, 0)}).fetchall()
    return (*map(prompt_of, reversed(earlier)), prompt, *map(prompt_of, later))


def turns(
    connection: sqlite3.Connection, source: str, *, turn_index: int | None, limit: int
) -> tuple[Prompt, ...]:
    """Return the turns of a source, or of a conversation if no source has that name."""
    asked = {"source": plain(source), "turn_index": turn_index, "limit": max(limit, 0)}
    if turn_index is None:
        of_source, of_conversation = SELECT_OF_SOURCE, SELECT_OF_CONVERSATION
    else:
        of_source, of_conversation = SELECT_TURN_OF_SOURCE, SELECT_TURN_OF_CONVERSATION
    rows = (
        connection.execute(of_source, asked).fetchall()
        or connection.execute(of_conversation, asked).fetchall()
    )
    return tuple(map(prompt_of, rows))


def with_texts(connection: sqlite3.Connection, text_hashes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the conversations in which each text occurs, the earliest conversation first."""
    found: dict[str, list[str]] = {}
    for text_hash, conversation_id in connection.execute(
        SELECT_WITH_TEXTS, {"hashes": json.dumps(list(text_hashes))}
    ):
        found.setdefault(text_hash, []).append(conversation_id or "")
    return {text_hash: tuple(conversations) for text_hash, conversations in found.items()}
