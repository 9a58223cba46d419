"""Gives a branch its own messages, in a store of an edition where a branch showed the messages of its parents.

In that edition, a branch showed messages of its parent before its own: those up to ``shared_seq``, as they were at
``shared_version``; ``parent_id`` named the parent.  The statements fit the tables of that edition, and never change.
"""

from typing import Final

from chatmemory_layers.postgres.engine.connection import Connection

# The order makes the planner use the index.  When the column goes, its index goes, too.
FIND_BRANCHES: Final = """
CREATE INDEX IF NOT EXISTS conversation_shared ON conversation (conversation_id) WHERE parent_id IS NOT NULL
"""
SELECT_BRANCH: Final = """
SELECT conversation_id FROM conversation WHERE parent_id IS NOT NULL ORDER BY conversation_id LIMIT 1
"""
SELECT_PARENT: Final = """
SELECT parent_id, shared_seq, shared_version FROM conversation WHERE conversation_id = $1 AND parent_id IS NOT NULL
"""
# $1 is the branch, $2 a parent; the branch shows its messages with numbers above $3 and up to $4, as they were at version $5.
_IS_IN_VIEW: Final = """(covered_by IS NULL OR covered_at_version > $5 OR (covered_at_version IS NULL AND EXISTS (
        SELECT FROM chat_message AS summary WHERE summary.conversation_id = $2
            AND hashtextextended(summary.id, 0) = hashtextextended(chat_message.covered_by, 0)
            AND summary.id = chat_message.covered_by AND summary.seq > $4
    )))"""
COPY_MESSAGES: Final = f"""
INSERT INTO chat_message (conversation_id, seq, place, id, role, content, sent_at_us, metadata, tokens, covered_by,
    covered_at_version, version, stored_at_us)
SELECT $1, seq, place, id, role, content, sent_at_us, metadata, tokens,
    CASE WHEN {_IS_IN_VIEW} THEN NULL ELSE covered_by END, CASE WHEN {_IS_IN_VIEW} THEN NULL ELSE covered_at_version END,
    version, stored_at_us
FROM chat_message
WHERE conversation_id = $2 AND seq > $3 AND seq <= $4 AND (version IS NULL OR version <= $5)
"""  # noqa: S608  made of a constant
COPY_SUMMARIZATIONS: Final = """
INSERT INTO summarization_metadata (conversation_id, id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, created_at_us, is_stale, made_at_version)
SELECT $1, id, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted, created_at_us, is_stale,
    made_at_version
FROM summarization_metadata
WHERE conversation_id = $2 AND (made_at_version IS NULL OR made_at_version <= $3)
"""
COPY_COVERAGE: Final = """
INSERT INTO summary_coverage (conversation_id, metadata_id, message_id, ordinal)
SELECT $1, metadata_id, message_id, ordinal
FROM summarization_metadata JOIN summary_coverage ON summary_coverage.conversation_id = $2 AND metadata_id = id
WHERE summarization_metadata.conversation_id = $2 AND (made_at_version IS NULL OR made_at_version <= $3)
"""
# That edition counted wrongly where a parent had lost messages.
LEAVE_PARENT: Final = """
UPDATE conversation SET parent_id = NULL, shared_seq = NULL, shared_version = NULL,
    (message_count, view_count, view_tokens, open_count) = (
        SELECT count(*), count(*) FILTER (WHERE covered_by IS NULL),
            coalesce(sum(tokens) FILTER (WHERE covered_by IS NULL), 0)::bigint,
            count(*) FILTER (WHERE covered_by IS NULL AND role IN ('user', 'assistant', 'tool'))
        FROM chat_message WHERE chat_message.conversation_id = $1
    )
WHERE conversation_id = $1
"""
DROP_SHARING: Final = """\
ALTER TABLE conversation DROP COLUMN parent_id, DROP COLUMN shared_seq, DROP COLUMN shared_version;
ALTER TABLE chat_message
    DROP COLUMN message_count, DROP COLUMN view_count, DROP COLUMN view_tokens, DROP COLUMN open_count;
DROP TABLE conversation_branch;
"""


async def copy_for_a_branch(connection: Connection) -> bool:
    """Copy for one branch what it shows of its parents, as the service; return False when no branch shows any."""
    await connection.execute(FIND_BRANCHES)
    found = await connection.fetch(SELECT_BRANCH)
    if not found:
        return False
    branch = key = found[0]["conversation_id"]
    reach = version = 2**63 - 1
    parents = await connection.fetch(SELECT_PARENT, key)
    while parents:
        key, seq, at = parents[0]["parent_id"], parents[0]["shared_seq"], parents[0]["shared_version"]
        reach, version = min(reach, seq), min(version, at)
        parents = await connection.fetch(SELECT_PARENT, key)
        floor = parents[0]["shared_seq"] if parents else 0
        await connection.execute(COPY_MESSAGES, branch, key, floor, reach, version)
        await connection.execute(COPY_SUMMARIZATIONS, branch, key, version)
        await connection.execute(COPY_COVERAGE, branch, key, version)
    await connection.execute(LEAVE_PARENT, branch)
    return True
