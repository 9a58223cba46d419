"""Reads a branch: its own messages, and those of its parents, each up to the point where the branch begins.

A conversation that is not a branch has one level, and is read by the statements of ``message_reads.py``.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from chatmemory.conversation.messages import View
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.messages.message_past import FULL, MODEL

END: Final = 2**63 - 1
"""A value after every place, every number and every version."""


class Level(NamedTuple):
    """What a conversation shows of the messages that are kept under one id.

    Attributes:
        key: the id of a conversation.
        floor: only messages with a greater number; those up to it are its parent's.
        reach: only messages up to this number.
        version: only what was stored and covered by then.
    """

    key: str
    floor: int
    reach: int
    version: int


SELECT_PARENT: Final = """
SELECT parent_id, shared_seq, shared_version FROM conversation WHERE conversation_id = $1
"""
# The lock keeps the parent from copying its messages to its branches, and changing them, until the transaction ends.
SELECT_PARENT_TO_WRITE: Final = """
SELECT parent_id, shared_seq, shared_version FROM conversation WHERE conversation_id = $1 FOR SHARE
"""

_STORED: Final = (
    "conversation_id = $1 AND seq > $2 AND seq <= $3 AND (version IS NULL OR version <= $4::bigint)"
)
# A message of an earlier edition does not record the version that covered it; the number of its summary tells it.
_IN_VIEW: Final = """(covered_by IS NULL OR covered_at_version > $4::bigint OR (covered_at_version IS NULL AND EXISTS (
        SELECT FROM chat_message AS summary WHERE summary.conversation_id = $1
            AND hashtextextended(summary.id, 0) = hashtextextended(chat_message.covered_by, 0)
            AND summary.id = chat_message.covered_by AND summary.seq > $3
    )))"""


def _stretch(template: str, side: str, order: str) -> str:
    return template.format(
        side=side,
        order=order,
        limit="$7::bigint",
        before="$6",
        version="$4::bigint",
        was_stored="seq > $2 AND seq <= $3 AND (version IS NULL OR version <= $4::bigint)",
        was_in_view=f"seq > $2 AND seq <= $3 AND (version IS NULL OR version <= $4::bigint) AND {_IN_VIEW}",
    )


SELECT_LEVEL_OLDER: Final[dict[View, str]] = {
    "full": _stretch(FULL, "< $5", "DESC"),
    "model": _stretch(MODEL, "< $5", "DESC"),
}
SELECT_LEVEL_NEWER: Final[dict[View, str]] = {
    "full": _stretch(FULL, "> $5", "ASC"),
    "model": _stretch(MODEL, "> $5", "ASC"),
}
COUNT_LEVEL: Final = f"""
SELECT count(*) AS messages, count(*) FILTER (WHERE role = 'summary') AS summaries FROM chat_message WHERE {_STORED}
"""  # noqa: S608  made of a constant
COUNT_LEVEL_VIEW: Final = f"""
SELECT count(*) AS messages, coalesce(sum(tokens), 0)::bigint AS tokens,
    count(*) FILTER (WHERE role IN ('user', 'assistant', 'tool')) AS open
FROM chat_message WHERE {_STORED} AND {_IN_VIEW}
"""  # noqa: S608  made of constants
SELECT_LEVEL_BY_IDS: Final = f"""
SELECT found.*, {_IN_VIEW.replace("chat_message.", "found.")} AS is_in_view
FROM unnest($5::text[]) AS wanted CROSS JOIN LATERAL (
    SELECT * FROM chat_message
    WHERE {_STORED} AND hashtextextended(id, 0) = hashtextextended(wanted, 0) AND id = wanted
    LIMIT 1
) AS found
"""  # noqa: S608  made of constants
SELECT_LEVEL_DELETED: Final = """
SELECT message_id FROM unnest($3::text[]) AS wanted CROSS JOIN LATERAL (
    SELECT message_id, metadata_id FROM summary_coverage
    WHERE conversation_id = $1 AND hashtextextended(message_id, 0) = hashtextextended(wanted, 0) AND message_id = wanted
    LIMIT 1
) AS covered
WHERE EXISTS (
    SELECT FROM summarization_metadata WHERE conversation_id = $1 AND id = covered.metadata_id
        AND (made_at_version IS NULL OR made_at_version <= $2)
)
"""
SELECT_LEVEL_VERSION: Final = f"""
SELECT version FROM chat_message WHERE {_STORED} AND stored_at_us <= $5 ORDER BY seq DESC LIMIT 1
"""  # noqa: S608  made of a constant
SELECT_LEVEL_SUMMARIZATION: Final = """
SELECT id, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted, created_at_us, is_stale, ARRAY(
    SELECT message_id FROM summary_coverage
    WHERE summary_coverage.conversation_id = $1 AND metadata_id = summarization_metadata.id ORDER BY ordinal
) AS covered_ids
FROM summarization_metadata
WHERE conversation_id = $1 AND hashtextextended(summary_message_id, 0) = hashtextextended($2, 0)
    AND summary_message_id = $2 AND (made_at_version IS NULL OR made_at_version <= $3)
"""
SELECT_LEVEL_SUMMARY_OF: Final = """
SELECT summary_message_id FROM summary_coverage JOIN summarization_metadata
    ON summarization_metadata.conversation_id = $1 AND id = metadata_id
WHERE summary_coverage.conversation_id = $1 AND hashtextextended(message_id, 0) = hashtextextended($2, 0)
    AND message_id = $2 AND (made_at_version IS NULL OR made_at_version <= $3)
"""

COPY_MESSAGES: Final = f"""
INSERT INTO chat_message (conversation_id, seq, place, id, role, content, sent_at_us, metadata, tokens, covered_by,
    covered_at_version, version, stored_at_us, message_count, view_count, view_tokens, open_count)
SELECT $5, seq, place, id, role, content, sent_at_us, metadata, tokens,
    CASE WHEN {_IN_VIEW} THEN NULL ELSE covered_by END, CASE WHEN {_IN_VIEW} THEN NULL ELSE covered_at_version END,
    version, stored_at_us, message_count, view_count, view_tokens, open_count
FROM chat_message WHERE {_STORED}
"""  # noqa: S608  made of constants
COPY_SUMMARIZATIONS: Final = """
INSERT INTO summarization_metadata (conversation_id, id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, created_at_us, is_stale, made_at_version)
SELECT $3, id, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted, created_at_us, is_stale,
    made_at_version
FROM summarization_metadata
WHERE conversation_id = $1 AND (made_at_version IS NULL OR made_at_version <= $2)
"""
COPY_COVERAGE: Final = """
INSERT INTO summary_coverage (conversation_id, metadata_id, message_id, ordinal)
SELECT $3, metadata_id, message_id, ordinal
FROM summarization_metadata JOIN summary_coverage
    ON summary_coverage.conversation_id = $1 AND metadata_id = id
WHERE summarization_metadata.conversation_id = $1 AND (made_at_version IS NULL OR made_at_version <= $2)
"""


async def levels_of(
    connection: Connection, key: str, version: int = END, *, to_write: bool = False
) -> list[Level]:
    """Return the levels of the conversation whose id is *key* at *version*: itself first, then its parents.

    Args:
        connection: acts as the service, because who may see a branch may see what it shares.
        key: the id of a stored conversation.
        version: later changes are not shown.
        to_write: lock the rows of the parents against change until the transaction ends.
    """
    levels: list[Level] = []
    reach = END
    while True:
        statement = SELECT_PARENT_TO_WRITE if to_write and levels else SELECT_PARENT
        (row,) = await connection.fetch(statement, key)
        if row["parent_id"] is None:
            return [*levels, Level(key, 0, reach, version)]
        seq = row["shared_seq"]
        levels.append(Level(key, seq, reach, version))
        key, reach, version = row["parent_id"], min(reach, seq), min(version, row["shared_version"])


async def older_rows(
    connection: Connection,
    levels: Sequence[Level],
    view: View,
    *,
    end: int,
    before_us: int,
    limit: int | None,
) -> list[Row]:
    """Return the newest rows before *end*, in order from the oldest.

    Args:
        connection: acts for the service.
        levels: what makes up the conversation.
        view: which messages.
        end: the cursor.
        before_us: only messages that were said earlier.
        limit: the largest number of rows; None: all.
    """
    rows: list[Row] = []
    for level in levels:
        wanted = None if limit is None else limit - len(rows)
        if level.floor < end and wanted != 0:
            found = await connection.fetch(SELECT_LEVEL_OLDER[view], *level, end, before_us, wanted)
            rows += sorted(found, key=_position, reverse=True)
    return rows[::-1]


async def newer_rows(
    connection: Connection,
    levels: Sequence[Level],
    view: View,
    *,
    start: int,
    before_us: int,
    limit: int | None,
) -> list[Row]:
    """Return the oldest rows after *start*, in order from the oldest.

    Args:
        connection: acts for the service.
        levels: what makes up the conversation.
        view: which messages.
        start: the cursor.
        before_us: only messages that were said earlier.
        limit: the largest number of rows; None: all.
    """
    rows: list[Row] = []
    for level in reversed(levels):
        wanted = None if limit is None else limit - len(rows)
        if level.reach > start and wanted != 0:
            found = await connection.fetch(SELECT_LEVEL_NEWER[view], *level, start, before_us, wanted)
            rows += sorted(found, key=_position)
    return rows


def _position(row: Mapping[str, int]) -> int:
    return row["position"]
