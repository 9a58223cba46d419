"""Deletes memories: forgotten on request, without a trace, or expired.

The triggers of ``memory_tables.py`` delete the rows that belong to a memory.  The bytes of a removed memory must not stay
in the file.  ``secure_delete`` overwrites them in the pages.  ``merge_words`` removes them from the index of words, which
until then only marks them as deleted.  ``Database.erase`` empties the log after the commit.  The user's name stays in
``memory_user``, whose numbers must not be used again: other processes identify vectors by them.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Never

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Outcome, Success
from chatmemory.longterm.changes import change_of_expiry, change_of_forgetting
from chatmemory.longterm.memories import ForgetReceipt
from chatmemory.longterm.repository_values import Expiry, Forgetting
from chatmemory_layers.sql.columns import END_US, to_us
from chatmemory_layers.sql.granted import may_read
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import note
from chatmemory_layers.sqlite.memories.memory_row import SEEN, provenance_of, seen_by
from chatmemory_layers.sqlite.memories.merged_words import merge_words
from chatmemory_layers.sqlite.messages.message_forks import family_of

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

_FORGOTTEN = f"""
SELECT id, memory_id, app_type, session_id, provenance FROM {{source}}
WHERE {SEEN}
    AND (:session_id IS NULL OR session_id = :session_id)
    AND (:path IS NULL OR json_extract(provenance, '$.path') = :path)
    AND (:message_id IS NULL OR :message_id IN (SELECT value FROM json_each(provenance, '$.message_ids')))
"""
SELECT_FORGOTTEN = _FORGOTTEN.format(source="atomic_memory")
# A memory, if the reader sees it, and those it has superseded.  CROSS: otherwise SQLite would read all memories of the user.
SELECT_FORGOTTEN_CHAIN = f"""
WITH RECURSIVE chain (memory_id) AS (
    SELECT memory_id FROM atomic_memory WHERE memory_id = :memory_id AND {SEEN}
    UNION
    SELECT older.memory_id FROM chain CROSS JOIN atomic_memory AS older
    WHERE older.user_key = (SELECT user_key FROM memory_user WHERE user_name = :user)
        AND older.superseded_by = chain.memory_id
)
{_FORGOTTEN.format(source="chain CROSS JOIN atomic_memory USING (memory_id)")}
"""
SELECT_EXPIRED = f"""
SELECT id, memory_id, app_type, session_id FROM atomic_memory
WHERE {SEEN} AND memory_type = 'short_term' AND NOT pinned AND created_at_us < :before_us
    AND (:session_id IS NULL OR session_id = :session_id)
"""
COUNT_EMBEDDINGS = """
SELECT count(*) FROM memory_embedding WHERE memory_key IN (SELECT value FROM json_each(:keys))
"""
# By the index of successors (+), which are few: by the index of the user's memories, SQLite would read all of them.
UPDATE_ORPHANS = """
UPDATE atomic_memory SET superseded_by = NULL
WHERE +user_key = (SELECT user_key FROM memory_user WHERE user_name = :user) AND superseded_by IN (
    SELECT memory_id FROM atomic_memory WHERE id IN (SELECT value FROM json_each(:keys))
)
"""
DELETE_ANSWERS = """
DELETE FROM first_answer WHERE user = :user AND memory_ids IS NOT NULL AND EXISTS (
    SELECT 1 FROM json_each(memory_ids) WHERE value IN (
        SELECT memory_id FROM atomic_memory WHERE id IN (SELECT value FROM json_each(:keys))
    )
)
"""
DELETE_MEMORIES = "DELETE FROM atomic_memory WHERE id IN (SELECT value FROM json_each(:keys))"

# From the messages to the summaries that cover them, and on to the summaries that cover those.
SELECT_STALE = """
WITH RECURSIVE stale (metadata_id, message_id) AS (
    SELECT summary.id, summary.summary_message_id
    FROM summary_coverage AS coverage JOIN summarization_metadata AS summary
        ON summary.conversation_key = coverage.conversation_key AND summary.id = coverage.metadata_id
    WHERE coverage.conversation_key = :conversation_key
        AND coverage.message_id IN (SELECT value FROM json_each(:message_ids))
    UNION
    SELECT summary.id, summary.summary_message_id
    FROM stale JOIN summary_coverage AS coverage
        ON coverage.conversation_key = :conversation_key AND coverage.message_id = stale.message_id
    JOIN summarization_metadata AS summary
        ON summary.conversation_key = coverage.conversation_key AND summary.id = coverage.metadata_id
)
SELECT message_id FROM stale
"""
SELECT_CONVERSATION = """
SELECT conversation_key FROM chat_conversation WHERE conversation_id = :conversation_id
"""
SELECT_OWNER = """
SELECT conversation_id, owner_user, owner_app FROM chat_conversation WHERE conversation_key = :conversation_key
"""
SELECT_NUMBERS = """
SELECT id, seq FROM chat_message
WHERE conversation_key = :conversation_key AND id IN (SELECT value FROM json_each(:message_ids))
"""
MARK_STALE = """
UPDATE summarization_metadata SET is_stale = TRUE
WHERE conversation_key = :conversation_key
    AND summary_message_id IN (SELECT value FROM json_each(:message_ids))
"""


def forget(transaction: Transaction, forgetting: Forgetting) -> Outcome[ForgetReceipt, Never]:
    """Remove memories with their vectors, index entries and uses, so that no byte of the store holds their text."""
    parameters = {
        **seen_by(forgetting.namespace),
        "memory_id": forgetting.memory_id,
        "session_id": forgetting.session_id,
        "message_id": forgetting.message_id,
        "path": forgetting.path,
    }
    statement = SELECT_FORGOTTEN if forgetting.memory_id is None else SELECT_FORGOTTEN_CHAIN
    rows = transaction.execute(statement, parameters).fetchall()
    if not rows:
        return Success(ForgetReceipt(0, 0))
    keys = [key for key, *_ in rows]
    (embeddings,) = transaction.execute(COUNT_EMBEDDINGS, {"keys": json.dumps(keys)}).fetchone()
    _remove(transaction, forgetting.namespace, keys)
    merge_words(transaction.execute, "memory_fts")
    user = forgetting.namespace.user
    note(
        transaction,
        [
            change_of_forgetting(
                memory_id, Namespace(user, app), session_id, provenance_of(provenance).message_ids
            )
            for _, memory_id, app, session_id, provenance in rows
        ],
    )
    return Success(ForgetReceipt(len(keys), embeddings, _mark_stale(transaction, rows)))


def expire(transaction: Transaction, expiry: Expiry) -> Outcome[int, Never]:
    """Remove short-term memories that are not pinned, whether true now or superseded."""
    namespace, before = expiry.namespace, expiry.created_before
    parameters = {
        **seen_by(namespace),
        "session_id": expiry.session_id,
        "before_us": END_US if before is None else to_us(before),
    }
    rows = transaction.execute(SELECT_EXPIRED, parameters).fetchall()
    _remove(transaction, namespace, [key for key, *_ in rows])
    note(
        transaction,
        [
            change_of_expiry(
                memory_id, Namespace(namespace.user, app), session_id=of_session, ended=expiry.session_id
            )
            for _, memory_id, app, of_session in rows
        ],
    )
    return Success(len(rows))


def _remove(transaction: Transaction, namespace: Namespace, keys: list[int]) -> None:
    removed = {"user": namespace.user, "keys": json.dumps(keys)}
    transaction.execute(UPDATE_ORPHANS, removed)
    transaction.execute(DELETE_ANSWERS, removed)
    transaction.execute(DELETE_MEMORIES, removed)


def _mark_stale(transaction: Transaction, rows: Iterable[tuple[Any, ...]]) -> tuple[str, ...]:
    """Mark the summaries of messages that memories came from as stale; return the ids of those that the caller may see.

    The writer of a memory says where it came from, so conversations that the caller may not see are not changed.
    """
    sources = defaultdict[str, set[str]](set)
    for *_, session_id, provenance in rows:
        if session_id is not None:
            sources[session_id].update(provenance_of(provenance).message_ids)
    stale = set[str]()
    for conversation_id, message_ids in sources.items():
        found = transaction.execute(SELECT_CONVERSATION, {"conversation_id": conversation_id}).fetchone()
        if found is not None and _is_seen(transaction, found[0]):
            stale |= _mark_in_family(transaction, found[0], message_ids)
    return tuple(sorted(stale))


def _mark_in_family(transaction: Transaction, key: int, message_ids: set[str]) -> set[str]:
    """Mark the summaries of the messages in a conversation, and in the parents and branches that have the same messages."""
    stale, family = set[str](), family_of(transaction, key)
    asked = {"conversation_key": key, "message_ids": json.dumps([*message_ids])}
    numbers = dict(transaction.execute(SELECT_NUMBERS, asked).fetchall()) if len(family) > 1 else {}
    for kin, reach in family.items():
        same = [id_ for id_ in message_ids if numbers.get(id_, 0) <= reach]
        covered = {"conversation_key": kin, "message_ids": json.dumps(same)}
        found = [id_ for (id_,) in transaction.execute(SELECT_STALE, covered).fetchall()]
        if found:
            transaction.execute(MARK_STALE, {"conversation_key": kin, "message_ids": json.dumps(found)})
            stale |= set(found) if _is_seen(transaction, kin) else set()
    return stale


def _is_seen(transaction: Transaction, key: int) -> bool:
    return may_read(*transaction.execute(SELECT_OWNER, {"conversation_key": key}).fetchone())
