"""Reads past chats by pages: the list of conversations, one conversation from its start, all turns for an export; counts them.

The lists of conversations and of their turns leave out superseded turns.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft
from chatmemory.pastchats.past_chats import (
    PastChatsStatistics,
    PastConversation,
    PastConversationPage,
    PastTurnPage,
    cursor_of,
    read_cursor,
)
from chatmemory.text.shown_text import one_line
from chatmemory_layers.sqlite.prompts.prompt_order import IN_TIME
from chatmemory_layers.sqlite.prompts.prompt_row import (
    IS_MEANT,
    PROMPT_COLUMNS,
    filter_parameters,
    instant_of,
    plain,
    prompt_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from chatmemory.pastchats.prompt import PromptFilter

# ruff: noqa: S608  columns and conditions are put into statements, never values

OPENING_CHARACTERS: Final = 120
READ_CHARACTERS: Final = 4 * OPENING_CHARACTERS  # white space and fences are removed from them
GREATEST_INDEX: Final = 2**63 - 1

# The index holds all of it; only the rows of the conversations on the page are read.
SELECT_CONVERSATIONS = f"""
WITH listed AS (
    SELECT conversation_id, count(*) AS turns, min(timestamp) AS first_at,
        coalesce(max({IN_TIME}), max(timestamp)) AS last_at, coalesce(max({IN_TIME}), '') AS place
    FROM prompts
    WHERE superseded_at IS NULL AND conversation_id IS NOT NULL
    GROUP BY conversation_id
    HAVING count(*) FILTER (WHERE {IS_MEANT}) > 0
        AND (:after_id IS NULL OR (coalesce(max({IN_TIME}), ''), conversation_id) < (:after_at, :after_id))
    ORDER BY place DESC, conversation_id DESC
    LIMIT :limit
)
SELECT listed.conversation_id, listed.turns, listed.first_at, listed.last_at, listed.place,
    opening.format, opening.source_project, opening.source_path,
    coalesce(
        (SELECT substr(content, 1, :characters) FROM prompts
         WHERE conversation_id = listed.conversation_id AND superseded_at IS NULL AND role = 'user' AND kind = 'typed'
         ORDER BY turn_index, id LIMIT 1),
        (SELECT substr(content, 1, :characters) FROM prompts
         WHERE conversation_id = listed.conversation_id AND superseded_at IS NULL AND role = 'user'
         ORDER BY turn_index, id LIMIT 1),
        ''
    )
FROM listed CROSS JOIN prompts AS opening ON opening.id = (
    SELECT id FROM prompts
    WHERE conversation_id = listed.conversation_id AND superseded_at IS NULL
    ORDER BY turn_index, id LIMIT 1
)
ORDER BY listed.place DESC, listed.conversation_id DESC
"""

# Turns with the same index stay on one page: the next page begins after that index.
SELECT_TURNS_BEHIND = f"""
SELECT {PROMPT_COLUMNS} FROM prompts
WHERE conversation_id = :conversation_id AND superseded_at IS NULL AND turn_index > :newer_than
    AND turn_index <= coalesce(
        (SELECT turn_index FROM prompts
         WHERE conversation_id = :conversation_id AND superseded_at IS NULL AND turn_index > :newer_than
         ORDER BY turn_index, id LIMIT 1 OFFSET :limit - 1),
        :greatest
    )
ORDER BY turn_index, id
"""
SELECT_IS_THERE = """
SELECT EXISTS (
    SELECT 1 FROM prompts
    WHERE conversation_id = :conversation_id AND superseded_at IS NULL AND turn_index > :newer_than
)
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
RECORDS_AT_ONCE: Final = 256
RECORD_COLUMNS: Final = f"{PROMPT_COLUMNS}, prompts.content_hash, prompts.search_terms, prompts.created_at"
"""The columns that ``record_of`` reads."""

SELECT_RECORDS = f"""
SELECT {RECORD_COLUMNS} FROM prompts
WHERE prompts.id > :after AND {IS_MEANT}
ORDER BY prompts.id LIMIT :limit
"""


def conversations(
    connection: sqlite3.Connection, which: PromptFilter, *, limit: int, after: str | None
) -> PastConversationPage:
    """Return the page of conversations with turns that the filter selects, the most recent first.

    It begins behind the cursor *after*; None: it is the first page.
    """
    after_at, after_id = (None, None) if after is None else read_cursor(after) or ("", "")
    asked = {
        **filter_parameters(which),
        "after_at": after_at,
        "after_id": after_id,
        "limit": limit + 1,
        "characters": READ_CHARACTERS,
    }
    rows = connection.execute(SELECT_CONVERSATIONS, asked).fetchall()
    page = rows[:limit]
    has_more = len(rows) > limit
    return PastConversationPage(
        conversations=tuple(map(_conversation_of, page)),
        next=cursor_of(last_at=page[-1][4], conversation_id=page[-1][0]) if has_more else None,
    )


def conversation_turns(
    connection: sqlite3.Connection, conversation_id: str, *, newer_than: int, limit: int
) -> PastTurnPage | None:
    """Return the turns with an index above *newer_than* (-1: all), in order; those of one index stay on one page.

    None: the conversation does not exist.
    """
    asked = {
        "conversation_id": plain(conversation_id),
        "newer_than": max(min(newer_than, GREATEST_INDEX), -1),
        "limit": limit,
        "greatest": GREATEST_INDEX,
    }
    turns = tuple(map(prompt_of, connection.execute(SELECT_TURNS_BEHIND, asked)))
    last = turns[-1].turn_index if turns else -1
    (is_there,) = connection.execute(SELECT_IS_THERE, {**asked, "newer_than": last}).fetchone()
    if not turns:
        return PastTurnPage(turns=(), next=None) if is_there else None
    return PastTurnPage(turns=turns, next=last if is_there else None)


def _conversation_of(row: tuple[Any, ...]) -> PastConversation:
    conversation_id, turns, first_at, last_at, _, format_, project, source, text = row
    return PastConversation(
        conversation_id=conversation_id,
        format=format_,
        project=project,
        source=source,
        opening=one_line(text, OPENING_CHARACTERS),
        turns=turns,
        first_at=instant_of(first_at),
        last_at=instant_of(last_at),
    )


def statistics(connection: sqlite3.Connection, path: Path | None) -> PastChatsStatistics:
    """Return the counts of the store in the file at *path*; None: it is in memory."""
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


def records(
    connection: sqlite3.Connection, which: PromptFilter, *, after: int
) -> list[tuple[int, PromptDraft, str]]:
    """Return the next rows after the row *after*: each with its turn and the time when it was created."""
    asked = {**filter_parameters(which), "after": after, "limit": RECORDS_AT_ONCE}
    return [record_of(row) for row in connection.execute(SELECT_RECORDS, asked).fetchall()]


def record_of(row: Sequence[Any]) -> tuple[int, PromptDraft, str]:
    """Return the number of a row of ``RECORD_COLUMNS``, the turn as it can be staged again, and when it was created."""
    prompt = prompt_of(row)
    *_, content_hash, search_terms, created_at = row
    same = {**vars(prompt), "content_hash": content_hash, "search_terms": search_terms}
    prompt_id = same.pop("id")
    return prompt_id, PromptDraft(**same), created_at
