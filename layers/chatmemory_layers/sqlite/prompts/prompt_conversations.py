"""Reads past chats by pages: the list of conversations, and one conversation from its start.

Neither contains superseded turns.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from chatmemory.pastchats.past_chats import (
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
    from chatmemory.pastchats.prompt import PromptFilter

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
"""  # noqa: S608  the condition is a constant

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
"""  # noqa: S608  the columns are a constant
SELECT_IS_THERE = """
SELECT EXISTS (
    SELECT 1 FROM prompts
    WHERE conversation_id = :conversation_id AND superseded_at IS NULL AND turn_index > :newer_than
)
"""


def conversations(
    connection: sqlite3.Connection, which: PromptFilter, *, limit: int, after: str | None
) -> PastConversationPage:
    """Return a page of conversations with turns that the filter selects, the most recent first.

    Args:
        connection: the connection to the file.
        which: selects turns.
        limit: the largest number of conversations.
        after: the cursor of the previous page; None: the first page.
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
    """Return the turns after an index, in order; None: the conversation does not exist.

    Args:
        connection: the connection to the file.
        conversation_id: the id of the conversation.
        newer_than: the index; -1 for the first page.
        limit: the largest number of turns, except that turns with the same index stay on one page.
    """
    asked = {
        "conversation_id": plain(conversation_id),
        "newer_than": max(min(newer_than, GREATEST_INDEX), -1),
        "limit": limit,
        "greatest": GREATEST_INDEX,
    }
    turns = tuple(map(prompt_of, connection.execute(SELECT_TURNS_BEHIND, asked)))
    last = turns[-1].turn_index if turns else -1
    is_there = _is_there(connection, {**asked, "newer_than": last})
    if not turns:
        return PastTurnPage(turns=(), next=None) if is_there else None
    return PastTurnPage(turns=turns, next=last if is_there else None)


def _is_there(connection: sqlite3.Connection, asked: Mapping[str, object]) -> bool:
    (is_there,) = connection.execute(SELECT_IS_THERE, asked).fetchone()
    return bool(is_there)


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
