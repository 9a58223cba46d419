"""The tables of conversations, and of the work that is queued for them.

The first step of ``migrations.py`` creates them, later steps change them.  ``copy_for_a_branch`` is part of the step
for stores of an edition where a branch showed the messages of its parents.
"""

import sqlite3
from typing import Final

# A cleared conversation keeps its row: version and next_seq only grow.
# In quotes, because RENAME_CONVERSATION leaves it so: the schema is the same text whether renamed or newly created.
CREATE_CONVERSATION = """
CREATE TABLE "chat_conversation" (
    conversation_key INTEGER PRIMARY KEY,
    conversation_id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    next_seq INTEGER NOT NULL,
    rewritten_at_version INTEGER NOT NULL,
    summarized_seq INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    view_count INTEGER NOT NULL,
    view_tokens INTEGER NOT NULL,
    open_count INTEGER NOT NULL,
    deleted_count INTEGER NOT NULL,
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL
)
"""

# A rowid table: rows of all conversations share the page that is written next (clustered by conversation, an append to
# 1,000 of them costs half as much again).  For the same reason the id comes first in its index: ids that grow with time
# share a page, too.
# seq orders the full view.  place orders the part of the model's view that a summary has changed.  After that part it is
# NULL, and the position of a message is its seq; so an append writes to no third index.
CREATE_MESSAGE = """
CREATE TABLE chat_message (
    conversation_key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    place INTEGER,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    sent_at_us INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    covered_by TEXT,
    metadata TEXT,
    content TEXT NOT NULL,
    UNIQUE (conversation_key, seq),
    UNIQUE (id, conversation_key)
)
"""

CREATE_MESSAGE_PLACE = """
CREATE UNIQUE INDEX chat_message_place ON chat_message (conversation_key, place)
WHERE place IS NOT NULL AND covered_by IS NULL
"""

CREATE_SUMMARIZATION = """
CREATE TABLE summarization_metadata (
    conversation_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    summary_message_id TEXT NOT NULL,
    starts_at_us INTEGER NOT NULL,
    ends_at_us INTEGER NOT NULL,
    skill_id TEXT NOT NULL,
    messages_deleted INTEGER NOT NULL,
    created_at_us INTEGER NOT NULL,
    PRIMARY KEY (conversation_key, id),
    UNIQUE (conversation_key, summary_message_id)
) WITHOUT ROWID
"""

# The primary key ensures that no two summaries cover one message.
CREATE_COVERAGE = """
CREATE TABLE summary_coverage (
    conversation_key INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    metadata_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    PRIMARY KEY (conversation_key, message_id),
    UNIQUE (conversation_key, metadata_id, ordinal)
) WITHOUT ROWID
"""

CREATE_WORK = """
CREATE TABLE history_work (
    conversation_key INTEGER PRIMARY KEY,
    due_at_us INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    lease_id TEXT,
    lease_until_us INTEGER
)
"""

CREATE_WORK_QUEUE = """
CREATE INDEX history_work_queue ON history_work (due_at_us)
"""

CONVERSATIONS: Final = (
    CREATE_CONVERSATION,
    CREATE_MESSAGE,
    CREATE_MESSAGE_PLACE,
    CREATE_SUMMARIZATION,
    CREATE_COVERAGE,
    CREATE_WORK,
    CREATE_WORK_QUEUE,
)

# Of the user, so that listing a user's few conversations does not read all others; written when a conversation begins.
OWNERS: Final = (
    "ALTER TABLE chat_conversation ADD COLUMN owner_user TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE chat_conversation ADD COLUMN owner_app TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX chat_conversation_owner ON chat_conversation (owner_user)",
)

# Which version stored a message and which covered it, so that the view of an earlier version can be read.  Without an index:
# an append must not write to another b-tree.  NULL: an earlier edition stored it, and it counts as present from the beginning.
PAST: Final = (
    "ALTER TABLE chat_message ADD COLUMN version INTEGER",
    "ALTER TABLE chat_message ADD COLUMN stored_at_us INTEGER",
    "ALTER TABLE chat_message ADD COLUMN covered_at_version INTEGER",
    "ALTER TABLE chat_conversation ADD COLUMN kept_since_version INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE chat_conversation ADD COLUMN kept_since_us INTEGER",
    "UPDATE chat_conversation SET kept_since_version = version, kept_since_us = updated_at_us",
)

# A branch is a row of chat_conversation.  Before its own messages, it shows the messages of parent_key up to shared_seq, as
# they were at shared_version.  forked_from is what its readers see; it stays when the branch shares nothing any more.
# A message stores how large the conversation was with it, so that a branch that starts there need not count.
# A later step removes all but the origin, see ``DROP_SHARING``.
BRANCHES: Final = (
    "ALTER TABLE chat_conversation ADD COLUMN parent_key INTEGER",
    "ALTER TABLE chat_conversation ADD COLUMN shared_seq INTEGER",
    "ALTER TABLE chat_conversation ADD COLUMN shared_version INTEGER",
    "ALTER TABLE chat_conversation ADD COLUMN forked_from TEXT",
    "ALTER TABLE chat_conversation ADD COLUMN forked_at_version INTEGER",
    "ALTER TABLE chat_conversation ADD COLUMN forked_at_seq INTEGER",
    "CREATE INDEX chat_conversation_parent ON chat_conversation (parent_key) WHERE parent_key IS NOT NULL",
    "ALTER TABLE chat_message ADD COLUMN message_count INTEGER",
    "ALTER TABLE chat_message ADD COLUMN view_count INTEGER",
    "ALTER TABLE chat_message ADD COLUMN view_tokens INTEGER",
    "ALTER TABLE chat_message ADD COLUMN open_count INTEGER",
    "ALTER TABLE summarization_metadata ADD COLUMN made_at_version INTEGER",
)

# Conversations in the order of their last change, to about a second: recency is updated_at_us >> 20, and -1 for one without
# messages.  Every append would write to an index by updated_at_us; to this one, a conversation with constant appends writes
# once a second.
_RECENCY: Final = "CASE WHEN new.message_count > 0 THEN new.updated_at_us >> 20 ELSE -1 END"
_SET_RECENCY: Final = f"""
WHEN new.recency <> {_RECENCY}
BEGIN
    UPDATE chat_conversation SET recency = {_RECENCY} WHERE conversation_key = new.conversation_key;
END
"""  # noqa: S608  an expression of this module, no value
RECENCY: Final = (
    "ALTER TABLE chat_conversation ADD COLUMN recency INTEGER NOT NULL DEFAULT -1",
    "UPDATE chat_conversation SET recency = updated_at_us >> 20 WHERE message_count > 0",
    f"CREATE TRIGGER chat_conversation_begun AFTER INSERT ON chat_conversation {_SET_RECENCY}",
    f"CREATE TRIGGER chat_conversation_moved AFTER UPDATE OF updated_at_us, message_count ON chat_conversation {_SET_RECENCY}",
    "CREATE INDEX chat_conversation_recency ON chat_conversation (recency)",
    "CREATE INDEX chat_conversation_owner_recency ON chat_conversation (owner_user, recency)",
    "DROP INDEX chat_conversation_owner",
    "CREATE INDEX chat_conversation_owner ON chat_conversation (owner_user, conversation_id)",
)

# The branches of each conversation, and the message where each begins: a branch may hold messages of that conversation.
# This is true even when the branch has its own rows for them, or when the conversation that it was forked from was cleared.
CREATE_BRANCH = """
CREATE TABLE chat_branch (
    conversation_key INTEGER NOT NULL,
    branch_key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (conversation_key, branch_key)
) WITHOUT ROWID
"""
FIND_BRANCHES = """
INSERT INTO chat_branch (conversation_key, branch_key, seq, version)
SELECT parent.conversation_key, branch.conversation_key, branch.forked_at_seq, branch.forked_at_version
FROM chat_conversation AS branch JOIN chat_conversation AS parent ON parent.conversation_id = branch.forked_from
"""
TREES: Final = (CREATE_BRANCH, FIND_BRANCHES)

# The desktop application's files have a table with the former name.
RENAME_CONVERSATION = "ALTER TABLE conversation RENAME TO chat_conversation"

# These statements fit the tables of the edition that ``copy_for_a_branch`` describes, and never change.
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

    In an earlier edition, a branch showed messages of its parent before its own: those up to ``shared_seq``, as they were at
    ``shared_version``; ``parent_key`` named the parent.
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
