"""Gives a branch its own messages, in a store of an edition where a branch showed the messages of its parents.

In that edition, a branch showed messages of its parent before its own: those up to ``shared_seq``, as they were at
``shared_version``; ``parent_key`` named the parent.  The statements fit the tables of that edition, and never change.
"""

import sqlite3
from typing import Final

SELECT_BRANCH = "SELECT conversation_key FROM chat_conversation WHERE parent_key IS NOT NULL LIMIT 1"
SELECT_PARENT = """
SELECT parent_key, shared_seq, shared_version FROM chat_conversation
WHERE conversation_key = ? AND parent_key IS NOT NULL
"""
COPY_MESSAGES = """
INSERT INTO chat_message (conversation_key, seq, place, id, role, sent_at_us, tokens, covered_by, covered_at_version,
    metadata, content, version, stored_at_us)
SELECT :branch_key, seq, coalesce(place, seq), id, role, sent_at_us, tokens,
    CASE WHEN is_in_view THEN NULL ELSE covered_by END, CASE WHEN is_in_view THEN NULL ELSE covered_at_version END,
    metadata, content, version, stored_at_us
FROM (
    SELECT *, (covered_by IS NULL OR covered_at_version > :version OR (covered_at_version IS NULL AND EXISTS (
        SELECT 1 FROM chat_message AS summary
        WHERE summary.id = chat_message.covered_by AND summary.conversation_key = :parent_key AND summary.seq > :reach
    ))) AS is_in_view
    FROM chat_message
    WHERE conversation_key = :parent_key AND seq > :floor AND seq <= :reach AND (version IS NULL OR version <= :version)
)
"""
COPY_SUMMARIZATIONS = """
INSERT INTO summarization_metadata (conversation_key, id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, created_at_us, is_stale, made_at_version)
SELECT :branch_key, id, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted, created_at_us, is_stale,
    made_at_version
FROM summarization_metadata
WHERE conversation_key = :parent_key AND (made_at_version IS NULL OR made_at_version <= :version)
"""
COPY_COVERAGE = """
INSERT INTO summary_coverage (conversation_key, message_id, metadata_id, ordinal)
SELECT :branch_key, message_id, metadata_id, ordinal
FROM summarization_metadata JOIN summary_coverage USING (conversation_key)
WHERE conversation_key = :parent_key AND metadata_id = id AND (made_at_version IS NULL OR made_at_version <= :version)
"""
# That edition counted wrongly where a parent had lost messages.
LEAVE_PARENT = """
UPDATE chat_conversation SET parent_key = NULL, shared_seq = NULL, shared_version = NULL,
    summarized_place = max(summarized_place, :shared_seq),
    (message_count, view_count, view_tokens, open_count) = (
        SELECT count(*), count(*) FILTER (WHERE covered_by IS NULL),
            coalesce(sum(tokens) FILTER (WHERE covered_by IS NULL), 0),
            count(*) FILTER (WHERE covered_by IS NULL AND role IN ('user', 'assistant', 'tool'))
        FROM chat_message WHERE chat_message.conversation_key = :branch_key
    )
WHERE conversation_key = :branch_key
"""
DROP_SHARING: Final = (
    "DROP INDEX chat_conversation_parent",
    *(
        f"ALTER TABLE chat_conversation DROP COLUMN {name}"
        for name in ("parent_key", "shared_seq", "shared_version")
    ),
    *(
        f"ALTER TABLE chat_message DROP COLUMN {name}"
        for name in ("message_count", "view_count", "view_tokens", "open_count")
    ),
)


def copy_for_a_branch(connection: sqlite3.Connection) -> bool:
    """Copy for one branch what it shows of its parents; return False when no branch shows any.

    Args:
        connection: the connection to the file, in a transaction.
    """
    found = connection.execute(SELECT_BRANCH).fetchone()
    if found is None:
        return False
    (branch_key,) = found
    key, reach, version = branch_key, 2**63 - 1, 2**63 - 1
    parent = connection.execute(SELECT_PARENT, (key,)).fetchone()
    shared_seq = parent[1]
    while parent is not None:
        key, reach, version = parent[0], min(reach, parent[1]), min(version, parent[2])
        parent = connection.execute(SELECT_PARENT, (key,)).fetchone()
        copying = {
            "branch_key": branch_key,
            "parent_key": key,
            "floor": 0 if parent is None else parent[1],
            "reach": reach,
            "version": version,
        }
        for statement in (COPY_MESSAGES, COPY_SUMMARIZATIONS, COPY_COVERAGE):
            connection.execute(statement, copying)
    connection.execute(LEAVE_PARENT, {"branch_key": branch_key, "shared_seq": shared_seq})
    return True
