"""Reads of past chats other than a search: sources, turns in order, counts.

A recall imports this module, so it imports little.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chatmemory_layers.sqlite.prompts.prompt_order import IN_TIME
from chatmemory_layers.sqlite.prompts.prompt_row import (
    IS_MEANT,
    PROMPT_COLUMNS,
    draft_of,
    filter_parameters,
    instant_of,
    plain,
    prompt_of,
)

if TYPE_CHECKING:
    from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft, SourceState
    from chatmemory.pastchats.past_chats import PastChatsStatistics
    from chatmemory.pastchats.prompt import Prompt, PromptFilter

# ruff: noqa: S608  columns and conditions are put into statements, never values

RECORDS_AT_ONCE: Final = 256

SELECT_SOURCES = """
SELECT source_path, size_bytes, modified_ns, format, format_version, options, status, issue, also FROM prompt_sources
"""

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

SELECT_RECORDS = f"""
SELECT {PROMPT_COLUMNS}, prompts.content_hash, prompts.search_terms, prompts.created_at FROM prompts
WHERE prompts.id > :after AND {IS_MEANT}
ORDER BY prompts.id LIMIT :limit
"""

SELECT_WITHOUT_VECTOR = """
SELECT prompts.id, prompts.content
FROM (
    SELECT prompt_id FROM prompt_models CROSS JOIN prompt_vectors ON prompt_vectors.model_key = prompt_models.model_key
    WHERE prompt_models.model <> :model LIMIT :limit
) CROSS JOIN prompts ON prompts.id = prompt_id
ORDER BY prompts.id
"""
SELECT_WITHOUT_ROW = """
SELECT id, content FROM prompts
WHERE NOT EXISTS (SELECT 1 FROM prompt_vectors WHERE prompt_id = id)
    OR NOT EXISTS (SELECT 1 FROM prompt_codes WHERE prompt_id = id)
    OR id IN (SELECT value FROM json_each(:torn))
ORDER BY id LIMIT :limit
"""
SELECT_VECTORS = """
SELECT prompt_id, dim, dense, squares, vector FROM prompt_vectors JOIN prompt_models USING (model_key)
"""

# One scan of the rows, which are long, for all the counts.
COUNT_PROMPTS = f"""
SELECT format, role, source_project, count(*), count(superseded_at), min(timestamp), max({IN_TIME})
FROM prompts GROUP BY format, role, source_project
"""
COUNT_CONVERSATIONS = "SELECT count(DISTINCT conversation_id) FROM prompts"
COUNT_VECTORS = "SELECT count(*) FROM prompt_vectors"
COUNT_SOURCES = (
    "SELECT count(*), count(*) FILTER (WHERE status = 'missing') FROM prompt_sources WHERE format <> ''"
)
COUNT_MODELS = """
SELECT model, count(*) FROM prompt_vectors JOIN prompt_models USING (model_key)
GROUP BY model ORDER BY count(*) DESC, model
"""
SELECT_LAST_RUN = "SELECT max(finished_at) FROM (SELECT finished_at FROM index_runs ORDER BY id DESC LIMIT 1)"


def sources(connection: sqlite3.Connection) -> dict[str, SourceState]:
    """Return the state of every source, by name."""
    from chatmemory.pastchats.indexing.prompt_drafts import SourceState

    return {
        row[0]: SourceState(
            source=row[0],
            size=row[1],
            modified_ns=row[2],
            format=row[3],
            format_version=row[4],
            options=row[5],
            status=row[6],
            issue=row[7],
            also={}
            if row[8] == "{}"
            else {path: (seen[0], seen[1]) for path, seen in json.loads(row[8]).items()},
        )
        for row in connection.execute(SELECT_SOURCES)
    }


def around(connection: sqlite3.Connection, prompt: Prompt, *, before: int, after: int) -> tuple[Prompt, ...]:
    """Return *prompt* with the turns of its conversation before and after it.

    Args:
        connection: the connection to the file.
        prompt: the turn.
        before: the largest number of turns before it.
        after: the largest number of turns after it.
    """
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
    """Return the conversations in which each text occurs, the earliest conversation first.

    Args:
        connection: the connection to the file.
        text_hashes: the hashes of the texts.
    """
    found: dict[str, list[str]] = {}
    for text_hash, conversation_id in connection.execute(
        SELECT_WITH_TEXTS, {"hashes": json.dumps(list(text_hashes))}
    ):
        found.setdefault(text_hash, []).append(conversation_id or "")
    return {text_hash: tuple(conversations) for text_hash, conversations in found.items()}


def records(
    connection: sqlite3.Connection, which: PromptFilter, *, after: int
) -> list[tuple[int, PromptDraft, str]]:
    """Return the next rows after the row *after*: each with its turn and the time when it was created."""
    asked = {**filter_parameters(which), "after": after, "limit": RECORDS_AT_ONCE}
    return [
        (row[0], draft_of(prompt_of(row), content_hash=row[-3], search_terms=row[-2]), row[-1])
        for row in connection.execute(SELECT_RECORDS, asked).fetchall()
    ]


def without_vector(connection: sqlite3.Connection, model: str, *, limit: int) -> tuple[tuple[int, str], ...]:
    """Return rows whose vector is of another model; when there are none left, those whose vector is damaged.

    Args:
        connection: the connection to the file.
        model: the name of the embedder's model.
        limit: the largest number of rows.
    """
    asked = {"model": model, "limit": max(limit, 0)}
    rows = (
        connection.execute(SELECT_WITHOUT_VECTOR, asked).fetchall()
        or connection.execute(SELECT_WITHOUT_ROW, {**asked, "torn": json.dumps(torn(connection))}).fetchall()
    )
    return tuple((prompt_id, content) for prompt_id, content in rows)


def torn(connection: sqlite3.Connection) -> list[int]:
    """Return the rows whose vector is damaged."""
    from chatmemory_layers.sqlite.prompts.packed_vectors import PackedVector

    return [
        prompt_id
        for prompt_id, dim, *columns in connection.execute(SELECT_VECTORS)
        if not PackedVector(*columns).is_whole(dim)
    ]


def statistics(connection: sqlite3.Connection, path: Path | None) -> PastChatsStatistics:
    """Return the counts of the store in the file at *path*; None: it is in memory.

    Args:
        connection: the connection to the file.
        path: the path of the file.
    """
    from chatmemory.pastchats.past_chats import PastChatsStatistics

    rows = connection.execute(COUNT_PROMPTS).fetchall()
    by_format, by_role, by_project = Counter[str](), Counter[str](), Counter[str]()
    for format_, role, project, count, *_ in rows:
        by_format[format_] += count
        by_role[role] += count
        by_project[project] += count
    (conversations,) = connection.execute(COUNT_CONVERSATIONS).fetchone()
    (embeddings,) = connection.execute(COUNT_VECTORS).fetchone()
    sources_known, missing = connection.execute(COUNT_SOURCES).fetchone()
    (last_run,) = connection.execute(SELECT_LAST_RUN).fetchone()
    return PastChatsStatistics(
        prompts=by_format.total(),
        embeddings=embeddings,
        conversations=conversations,
        sources=sources_known,
        missing_sources=missing,
        superseded=sum(row[4] for row in rows),
        by_format=_most_first(by_format),
        by_role=_most_first(by_role),
        by_project=_most_first(by_project),
        models=dict(connection.execute(COUNT_MODELS).fetchall()),
        oldest=instant_of(min((row[5] for row in rows if row[5]), default=None)),
        newest=instant_of(max((row[6] for row in rows if row[6]), default=None)),
        bytes_on_disk=0 if path is None else bytes_on_disk(path),
        last_indexed_at=instant_of(last_run),
    )


def bytes_on_disk(path: Path) -> int:
    """Return the size of the file and its log, in bytes."""
    files = (path, path.with_name(path.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _most_first(counted: Mapping[str, int]) -> Mapping[str, int]:
    return dict(sorted(counted.items(), key=lambda each: (-each[1], each[0])))
