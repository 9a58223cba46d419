"""``MIGRATIONS``: the steps of the schema.  A released step never changes; ``migrations.py`` applies them.

``schemas/postgres.sql`` shows the result; a test compares the two.  Every key of a conversation begins with
``conversation_id``, every key of memories and items with the key of their user or first label, see ``spread_keys.py``.  No
foreign key refers to rows of another such key, so that a distributed engine can shard the tables.  The steps leave out the
extension that compares vectors, because a server may lack it: ``vector_index.py`` creates it, and its indexes.
"""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Final, final

from attrs import frozen

from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.once import FIRST_ANSWER
from chatmemory_layers.postgres.messages.shared_branches import DROP_SHARING, copy_for_a_branch

# ruff: noqa: S608  names of tables of this module are put into statements, never values


@final
@frozen
class Migration:
    """One step of the schema.

    Attributes:
        script: SQL, of one or more statements.
        piece: does a piece of what the step needs first, and returns False when nothing is left; None: it needs nothing.
    """

    number: int
    name: str
    script: str
    piece: Callable[[Connection], Awaitable[bool]] | None = None

    @property
    def checksum(self) -> str:
        """The checksum of the script; a store records it, so that a program recognizes a step that has been changed."""
        return hashlib.sha256(self.script.encode()).hexdigest()


def _usable_like(**models: str) -> str:
    """Return statements that protect new tables until their policies are created; *models* gives to each the table whose privileges it gets."""
    pairs = ", ".join(f"('{model}', '{name}')" for name, model in models.items())
    return f"""\
DO $$
DECLARE
    made RECORD;
    held RECORD;
BEGIN
    FOR made IN SELECT * FROM (VALUES
        {pairs}
    ) AS pair (model, name) LOOP
        FOR held IN SELECT grantee, privilege_type FROM pg_class CROSS JOIN aclexplode(relacl)
            WHERE oid = made.model::regclass AND grantee <> relowner LOOP
            EXECUTE format('GRANT %s ON %I TO %s', held.privilege_type, made.name,
                CASE held.grantee WHEN 0 THEN 'PUBLIC' ELSE held.grantee::regrole::text END);
        END LOOP;
        IF (SELECT relrowsecurity FROM pg_class WHERE oid = made.model::regclass) THEN
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', made.name);
        END IF;
    END LOOP;
END
$$;
"""


# COLLATE "C" orders by code point, as SQLite does, and compares bytes, whatever the database's locale.
# Ids are indexed by hash: two of 512 four-byte characters would exceed an index row (2704 bytes).
MIGRATIONS: Final = (
    Migration(
        1,
        "chat memory",
        """\
CREATE TABLE conversation (
    conversation_id      TEXT COLLATE "C" PRIMARY KEY,
    version              BIGINT NOT NULL,
    next_seq             BIGINT NOT NULL,
    rewritten_at_version BIGINT NOT NULL,
    message_count        BIGINT NOT NULL,
    view_count           BIGINT NOT NULL,
    view_tokens          BIGINT NOT NULL,
    open_count           BIGINT NOT NULL,
    deleted_count        BIGINT NOT NULL,
    created_at_us        BIGINT NOT NULL,
    updated_at_us        BIGINT NOT NULL
);
CREATE TABLE chat_message (
    conversation_id TEXT COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    place           BIGINT NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    role            TEXT NOT NULL,
    content         TEXT NOT NULL,
    sent_at_us      BIGINT NOT NULL,
    metadata        TEXT,
    tokens          BIGINT NOT NULL,
    covered_by      TEXT COLLATE "C",
    PRIMARY KEY (conversation_id, seq)
);
CREATE UNIQUE INDEX chat_message_by_id ON chat_message (conversation_id, hashtextextended(id, 0));
CREATE UNIQUE INDEX chat_message_in_view ON chat_message (conversation_id, place) WHERE covered_by IS NULL;
CREATE TABLE summarization_metadata (
    conversation_id    TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    summary_message_id TEXT COLLATE "C" NOT NULL,
    starts_at_us       BIGINT NOT NULL,
    ends_at_us         BIGINT NOT NULL,
    skill_id           TEXT NOT NULL,
    messages_deleted   BOOLEAN NOT NULL,
    created_at_us      BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, id)
);
CREATE UNIQUE INDEX summarization_metadata_by_message
    ON summarization_metadata (conversation_id, hashtextextended(summary_message_id, 0));
CREATE TABLE summary_coverage (
    conversation_id TEXT COLLATE "C" NOT NULL,
    message_id      TEXT COLLATE "C" NOT NULL,
    metadata_id     TEXT COLLATE "C" NOT NULL,
    ordinal         BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, metadata_id, ordinal)
);
CREATE UNIQUE INDEX summary_coverage_once
    ON summary_coverage (conversation_id, hashtextextended(message_id, 0));
CREATE TABLE history_work (
    conversation_id TEXT COLLATE "C" PRIMARY KEY,
    due_at_us       BIGINT NOT NULL,
    attempts        BIGINT NOT NULL,
    lease_id        TEXT,
    lease_until_us  BIGINT
);
CREATE INDEX history_work_due ON history_work (due_at_us, conversation_id);
""",
    ),
    # user_key: a small number instead of the user's name; with names, some index rows would be too long.
    # term_keys: the words of long-term memories, hashed with user_key, so that no user's words lengthen another's search.
    # vector: in a separate table, so that lists stay quick, and of type real[], which a server without pgvector has too.
    # toast_tuple_target keeps up to 2,000 dimensions inside the row, where comparing all of them takes half as long.
    # memory_record: a view without a join, so that an index gives lists in their order.
    Migration(
        2,
        "long-term memory",
        """\
CREATE TABLE memory_user (
    user_key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id  TEXT COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE memory_space (
    space_key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model     TEXT COLLATE "C" NOT NULL,
    dim       BIGINT NOT NULL,
    UNIQUE (model, dim)
);
CREATE TABLE atomic_memory (
    memory_key       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    memory_id        TEXT COLLATE "C" NOT NULL UNIQUE,
    user_key         BIGINT NOT NULL,
    app_type         TEXT COLLATE "C" NOT NULL,
    content          TEXT COLLATE "C" NOT NULL,
    key              TEXT COLLATE "C",
    value            TEXT,
    category         TEXT,
    tags             TEXT[] COLLATE "C" NOT NULL,
    confidence       DOUBLE PRECISION NOT NULL,
    source           TEXT NOT NULL,
    role             TEXT NOT NULL,
    session_id       TEXT COLLATE "C",
    memory_type      TEXT NOT NULL,
    pinned           BOOLEAN NOT NULL,
    message_ids      TEXT[] COLLATE "C" NOT NULL,
    extractor        TEXT,
    path             TEXT COLLATE "C",
    created_at_us    BIGINT NOT NULL,
    last_used_at_us  BIGINT,
    last_use_id      TEXT,
    use_count        BIGINT NOT NULL DEFAULT 0,
    superseded_at_us BIGINT,
    superseded_by    TEXT COLLATE "C",
    version          BIGINT NOT NULL DEFAULT 1,
    space_key        BIGINT,
    dedup_key        BYTEA,
    search_terms     TEXT NOT NULL,
    term_keys        BIGINT[] NOT NULL
);
CREATE INDEX atomic_memory_timeline ON atomic_memory (user_key, created_at_us, memory_id);
CREATE INDEX atomic_memory_session ON atomic_memory (user_key, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX atomic_memory_key ON atomic_memory (user_key, key, superseded_at_us) WHERE key IS NOT NULL;
CREATE INDEX atomic_memory_short_term ON atomic_memory (user_key, created_at_us) WHERE memory_type = 'short_term';
CREATE INDEX atomic_memory_successor ON atomic_memory (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX atomic_memory_recallable ON atomic_memory (user_key, app_type, space_key)
    WHERE memory_type = 'long_term' AND superseded_at_us IS NULL;
CREATE UNIQUE INDEX atomic_memory_dedup ON atomic_memory (user_key, dedup_key, app_type)
    WHERE dedup_key IS NOT NULL AND superseded_at_us IS NULL;
CREATE INDEX atomic_memory_terms ON atomic_memory USING gin (term_keys) WHERE memory_type = 'long_term';
CREATE TABLE memory_embedding (
    memory_key BIGINT PRIMARY KEY,
    space_key  BIGINT NOT NULL,
    vector     REAL[] NOT NULL
) WITH (toast_tuple_target = 8160);
CREATE TABLE memory_use (
    memory_key BIGINT NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (memory_key, session_id)
);
CREATE VIEW memory_record AS
SELECT memory_id, app_type, content, key, value, category, tags, confidence, source, role, session_id, memory_type,
    pinned, message_ids, extractor, path, created_at_us, last_used_at_us, use_count, superseded_at_us, superseded_by,
    version, search_terms, memory_key, user_key, space_key,
    (SELECT model FROM memory_space WHERE memory_space.space_key = atomic_memory.space_key),
    (SELECT dim FROM memory_space WHERE memory_space.space_key = atomic_memory.space_key)
FROM atomic_memory;
ALTER TABLE summarization_metadata ADD COLUMN is_stale BOOLEAN NOT NULL DEFAULT FALSE;
""",
    ),
    # name_hash: the hash of namespace and key, because both together may be longer than an index row.  For the same reason
    # only the beginning of a namespace is indexed for searches below a prefix.
    Migration(
        3,
        "items",
        """\
CREATE TABLE stored_item (
    item_key      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name_hash     BYTEA NOT NULL UNIQUE,
    namespace     TEXT COLLATE "C" NOT NULL,
    key           TEXT COLLATE "C" NOT NULL,
    value         TEXT NOT NULL,
    search_terms  TEXT,
    created_at_us BIGINT NOT NULL,
    updated_at_us BIGINT NOT NULL,
    lifetime_us   BIGINT,
    expires_at_us BIGINT
);
CREATE INDEX stored_item_namespace ON stored_item (left(namespace, 256));
CREATE INDEX stored_item_expiry ON stored_item (expires_at_us) WHERE expires_at_us IS NOT NULL;
CREATE TABLE item_passage (
    item_key BIGINT NOT NULL REFERENCES stored_item ON DELETE CASCADE,
    number   BIGINT NOT NULL,
    model    TEXT COLLATE "C" NOT NULL,
    vector   BYTEA NOT NULL,
    PRIMARY KEY (item_key, number)
);
""",
    ),
    # The index is on the hash of the user, which is short.  A page of granted conversations reads only the rows of that page.
    Migration(
        4,
        "owners of conversations",
        """\
ALTER TABLE conversation
    ADD COLUMN owner_user TEXT COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN owner_app  TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX conversation_owner ON conversation (hashtextextended(owner_user, 0), conversation_id);
""",
    ),
    # The index is on the time alone: a query for one actor or one target reads the entries of the time that it asks for.
    Migration(
        5,
        "audit trail",
        """\
CREATE TABLE audit_entry (
    at_us       BIGINT NOT NULL,
    seq         BIGINT GENERATED ALWAYS AS IDENTITY,
    who         TEXT COLLATE "C" NOT NULL,
    who_user    TEXT COLLATE "C" NOT NULL,
    action      TEXT NOT NULL,
    kind        TEXT NOT NULL,
    target_id   TEXT COLLATE "C" NOT NULL,
    target_user TEXT COLLATE "C" NOT NULL,
    target_app  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (at_us, seq)
);
""",
    ),
    # Two users may have memories with the same id, and neither learns that the other one's exists.
    Migration(
        6,
        "ids of memories within their user",
        """\
ALTER TABLE atomic_memory DROP CONSTRAINT atomic_memory_memory_id_key, ADD UNIQUE (user_key, memory_id);
DROP INDEX atomic_memory_successor;
CREATE INDEX atomic_memory_successor ON atomic_memory (user_key, superseded_by) WHERE superseded_by IS NOT NULL;
""",
    ),
    # See spread_keys.py.  Numbers become UUIDs in the same order.  Words keep their hashes, made with the user's old number.
    # Tables are altered instead of made anew, so that their privileges stay.  A column that a policy uses cannot be
    # changed, so the policies are dropped.  Opening the store with rowSecurity creates them again; until then all rows are
    # hidden.  Without FORCE the owner, who alone may run this step, sees all rows.  A missing index of vectors is created
    # when it is next needed.
    Migration(
        7,
        "keys that can be spread",
        """\
DROP VIEW memory_record;
DROP POLICY IF EXISTS chatmemory_own ON memory_user;
DROP POLICY IF EXISTS chatmemory_own ON atomic_memory;
DROP POLICY IF EXISTS chatmemory_own ON memory_embedding;
DROP POLICY IF EXISTS chatmemory_own ON memory_use;
DROP FUNCTION IF EXISTS chatmemory_remembers(BIGINT);
ALTER TABLE memory_user NO FORCE ROW LEVEL SECURITY;
ALTER TABLE atomic_memory NO FORCE ROW LEVEL SECURITY;

CREATE FUNCTION chatmemory_hashed(named TEXT) RETURNS UUID LANGUAGE sql IMMUTABLE AS
$$ SELECT encode(substring(sha256(convert_to(named, 'UTF8')) FOR 16), 'hex')::uuid $$;
CREATE FUNCTION chatmemory_padded(number BIGINT) RETURNS UUID LANGUAGE sql IMMUTABLE AS
$$ SELECT lpad(to_hex(number), 32, '0')::uuid $$;
CREATE FUNCTION chatmemory_owner(number BIGINT) RETURNS UUID LANGUAGE sql STABLE AS
$$ SELECT chatmemory_hashed(user_id) FROM memory_user WHERE user_key = number $$;
CREATE FUNCTION chatmemory_owner_of_memory(number BIGINT) RETURNS UUID LANGUAGE sql STABLE AS
$$ SELECT chatmemory_hashed(user_id) FROM atomic_memory JOIN memory_user USING (user_key) WHERE memory_key = number $$;

ALTER TABLE memory_embedding DROP CONSTRAINT memory_embedding_pkey, ADD COLUMN user_key BIGINT;
DO $$
DECLARE name TEXT;
BEGIN
    FOR name IN SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'memory_embedding'::regclass LOOP
        EXECUTE 'DROP INDEX ' || name;
    END LOOP;
END
$$;
ALTER TABLE memory_embedding
    ALTER COLUMN user_key TYPE UUID USING chatmemory_owner_of_memory(memory_key),
    ALTER COLUMN memory_key TYPE UUID USING chatmemory_padded(memory_key),
    ADD PRIMARY KEY (user_key, memory_key);
ALTER TABLE memory_use DROP CONSTRAINT memory_use_pkey, ADD COLUMN user_key BIGINT;
ALTER TABLE memory_use
    ALTER COLUMN user_key TYPE UUID USING chatmemory_owner_of_memory(memory_key),
    ALTER COLUMN memory_key TYPE UUID USING chatmemory_padded(memory_key),
    ADD PRIMARY KEY (user_key, memory_key, session_id);
ALTER TABLE atomic_memory DROP CONSTRAINT atomic_memory_pkey, ALTER COLUMN memory_key DROP IDENTITY;
ALTER TABLE atomic_memory
    ALTER COLUMN user_key TYPE UUID USING chatmemory_owner(user_key),
    ALTER COLUMN memory_key TYPE UUID USING chatmemory_padded(memory_key),
    ADD PRIMARY KEY (user_key, memory_key);
ALTER TABLE memory_user
    DROP CONSTRAINT memory_user_user_id_key,
    ALTER COLUMN user_key DROP IDENTITY,
    ADD COLUMN term_salt BIGINT;
UPDATE memory_user SET term_salt = user_key;
ALTER TABLE memory_user
    ALTER COLUMN user_key TYPE UUID USING chatmemory_hashed(user_id),
    ALTER COLUMN term_salt SET NOT NULL;
ALTER TABLE memory_space ALTER COLUMN space_key DROP IDENTITY;

ALTER TABLE item_passage
    DROP CONSTRAINT item_passage_item_key_fkey,
    DROP CONSTRAINT item_passage_pkey,
    ADD COLUMN root_key UUID,
    ADD COLUMN name_hash BYTEA;
UPDATE item_passage SET root_key = chatmemory_hashed(split_part(namespace, '.', 1)), name_hash = stored_item.name_hash
FROM stored_item WHERE stored_item.item_key = item_passage.item_key;
ALTER TABLE stored_item
    DROP CONSTRAINT stored_item_pkey,
    DROP CONSTRAINT stored_item_name_hash_key,
    ALTER COLUMN item_key DROP IDENTITY,
    ADD COLUMN root_key TEXT;
ALTER TABLE stored_item
    ALTER COLUMN item_key TYPE UUID USING chatmemory_padded(item_key),
    ALTER COLUMN root_key TYPE UUID USING chatmemory_hashed(split_part(namespace, '.', 1)),
    ADD PRIMARY KEY (root_key, name_hash);
ALTER TABLE item_passage
    DROP COLUMN item_key,
    ADD PRIMARY KEY (root_key, name_hash, number),
    ADD FOREIGN KEY (root_key, name_hash) REFERENCES stored_item ON DELETE CASCADE;

DROP FUNCTION chatmemory_owner_of_memory(BIGINT);
DROP FUNCTION chatmemory_owner(BIGINT);
DROP FUNCTION chatmemory_padded(BIGINT);
DROP FUNCTION chatmemory_hashed(TEXT);
DO $$
BEGIN
    IF (SELECT relforcerowsecurity FROM pg_class WHERE oid = 'memory_embedding'::regclass) THEN
        ALTER TABLE memory_user FORCE ROW LEVEL SECURITY;
        ALTER TABLE atomic_memory FORCE ROW LEVEL SECURITY;
    END IF;
END
$$;
""",
    ),
    # attribute: what the memory says about the user; a newer memory about the same attribute supersedes it.
    Migration(
        8,
        "attributes of memories",
        """\
ALTER TABLE atomic_memory ADD COLUMN attribute TEXT COLLATE "C";
CREATE INDEX atomic_memory_attribute ON atomic_memory (user_key, app_type, attribute)
    WHERE attribute IS NOT NULL AND superseded_at_us IS NULL;
""",
    ),
    # The version that stored a message, and the version in which a summary covered it.  The two are not indexed, so that an
    # append updates no further index.  NULL: an earlier edition stored the message; it counts as there from the beginning.
    Migration(
        9,
        "versions of messages",
        """\
ALTER TABLE chat_message
    ADD COLUMN version            BIGINT,
    ADD COLUMN stored_at_us       BIGINT,
    ADD COLUMN covered_at_version BIGINT;
ALTER TABLE conversation
    ADD COLUMN kept_since_version BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN kept_since_us      BIGINT;
UPDATE conversation SET kept_since_version = version, kept_since_us = updated_at_us;
""",
    ),
    # number: of a conversation its version, or below 0 for an event from before there were versions; otherwise the time in
    # microseconds, or one more than the last number of its place.  transaction_id: orders events by the beginning of their
    # transaction, see event_log.py.  A role that may use the tables may use the tables of their events, and sees no row in
    # them until the policies are created.
    Migration(
        10,
        "log of events",
        """\
CREATE TABLE conversation_event (
    conversation_id TEXT COLLATE "C" NOT NULL,
    number          BIGINT NOT NULL,
    transaction_id  BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text::bigint),
    stored_at_us    BIGINT NOT NULL DEFAULT ((extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
    said_at_us      BIGINT,
    who             TEXT COLLATE "C" NOT NULL,
    who_user        TEXT COLLATE "C" NOT NULL,
    action          TEXT NOT NULL,
    owner_user      TEXT COLLATE "C" NOT NULL,
    owner_app       TEXT COLLATE "C" NOT NULL,
    reach           BIGINT,
    successor       TEXT COLLATE "C",
    reason          TEXT,
    PRIMARY KEY (conversation_id, number)
);
CREATE INDEX conversation_event_changes ON conversation_event (transaction_id);
CREATE INDEX conversation_event_named ON conversation_event (stored_at_us) WHERE who <> '';
CREATE TABLE memory_event (
    user_key       UUID NOT NULL,
    number         BIGINT NOT NULL,
    transaction_id BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text::bigint),
    stored_at_us   BIGINT NOT NULL,
    said_at_us     BIGINT,
    who            TEXT COLLATE "C" NOT NULL,
    who_user       TEXT COLLATE "C" NOT NULL,
    action         TEXT NOT NULL,
    memory_id      TEXT COLLATE "C" NOT NULL,
    owner_user     TEXT COLLATE "C" NOT NULL,
    owner_app      TEXT COLLATE "C" NOT NULL,
    version        BIGINT,
    successor      TEXT COLLATE "C",
    reason         TEXT,
    session_id     TEXT COLLATE "C",
    evidence       TEXT,
    PRIMARY KEY (user_key, number)
);
CREATE INDEX memory_event_target ON memory_event (user_key, memory_id, number);
CREATE INDEX memory_event_changes ON memory_event (transaction_id);
CREATE INDEX memory_event_named ON memory_event (stored_at_us) WHERE who <> '';
CREATE TABLE item_event (
    root_key       UUID NOT NULL,
    number         BIGINT NOT NULL,
    transaction_id BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text::bigint),
    stored_at_us   BIGINT NOT NULL,
    who            TEXT COLLATE "C" NOT NULL,
    who_user       TEXT COLLATE "C" NOT NULL,
    action         TEXT NOT NULL,
    name           TEXT COLLATE "C" NOT NULL,
    reason         TEXT,
    PRIMARY KEY (root_key, number)
);
CREATE INDEX item_event_changes ON item_event (transaction_id);
CREATE INDEX item_event_named ON item_event (stored_at_us) WHERE who <> '';
INSERT INTO conversation_event (conversation_id, number, stored_at_us, who, who_user, action, owner_user, owner_app)
SELECT target_id, row_number() OVER old - 1 - count(*) OVER (PARTITION BY target_id), at_us, who, who_user, action, target_user,
    target_app
FROM audit_entry WHERE kind = 'conversation' WINDOW old AS (PARTITION BY target_id ORDER BY at_us, seq);
INSERT INTO memory_event (user_key, number, stored_at_us, who, who_user, action, memory_id, owner_user, owner_app)
SELECT encode(substring(sha256(convert_to(target_user, 'UTF8')) FOR 16), 'hex')::uuid,
    row_number() OVER (PARTITION BY target_user ORDER BY at_us, seq), at_us, who, who_user, action, target_id, target_user,
    target_app
FROM audit_entry WHERE kind = 'memory';
DROP TABLE audit_entry;
"""
        + _usable_like(
            conversation_event="conversation", memory_event="atomic_memory", item_event="stored_item"
        ),
    ),
    # A forgotten memory must not be stored again; this finds it by the conversation that it came from.
    Migration(
        11,
        "past of memories",
        """\
CREATE INDEX memory_event_forgotten ON memory_event (user_key, session_id) WHERE action = 'forgotten';
CREATE TABLE memory_version (
    user_key       UUID NOT NULL,
    memory_key     UUID NOT NULL,
    version        BIGINT NOT NULL,
    replaced_at_us BIGINT NOT NULL,
    content        TEXT COLLATE "C" NOT NULL,
    key            TEXT COLLATE "C",
    value          TEXT,
    category       TEXT,
    tags           TEXT[] COLLATE "C" NOT NULL,
    confidence     DOUBLE PRECISION NOT NULL,
    source         TEXT NOT NULL,
    message_ids    TEXT[] COLLATE "C" NOT NULL,
    extractor      TEXT,
    path           TEXT COLLATE "C",
    PRIMARY KEY (user_key, memory_key, version)
);
"""
        + _usable_like(memory_version="atomic_memory"),
    ),
    # A branch shows the messages of parent_id up to shared_seq, as they were at shared_version, and then its own.
    # Its readers see forked_from, which stays when the branch shares no message any more.  conversation_branch lists
    # the branches that share messages of a conversation.  Each message records how large the conversation was with it, so
    # that a branch from there need not count.  Step 20 removes all but the origin.
    Migration(
        12,
        "branches of conversations",
        """\
ALTER TABLE conversation
    ADD COLUMN parent_id         TEXT COLLATE "C",
    ADD COLUMN shared_seq        BIGINT,
    ADD COLUMN shared_version    BIGINT,
    ADD COLUMN forked_from       TEXT COLLATE "C",
    ADD COLUMN forked_at_version BIGINT,
    ADD COLUMN forked_at_seq     BIGINT;
ALTER TABLE chat_message
    ADD COLUMN message_count BIGINT,
    ADD COLUMN view_count    BIGINT,
    ADD COLUMN view_tokens   BIGINT,
    ADD COLUMN open_count    BIGINT;
ALTER TABLE summarization_metadata ADD COLUMN made_at_version BIGINT;
CREATE TABLE conversation_branch (
    conversation_id TEXT COLLATE "C" NOT NULL,
    branch_key      UUID NOT NULL,
    branch_id       TEXT COLLATE "C" NOT NULL,
    shared_seq      BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, branch_key)
);
"""
        + _usable_like(conversation_branch="conversation"),
    ),
    # Orders conversations by the second of their last change; -1 without messages.  A further append in the same second
    # changes no indexed column, so that it writes no index.
    Migration(
        13,
        "recency of conversations",
        """\
ALTER TABLE conversation ADD COLUMN recency BIGINT NOT NULL
    GENERATED ALWAYS AS (CASE WHEN message_count > 0 THEN updated_at_us >> 20 ELSE -1 END) STORED;
CREATE INDEX conversation_recency ON conversation (recency);
CREATE INDEX conversation_owner_recency ON conversation (hashtextextended(owner_user, 0), recency);
""",
    ),
    # Records the branches of each conversation, and the message where each begins.  It says which messages a branch may
    # contain, even when the branch has copies of the rows, or when the conversation was cleared.
    Migration(
        14,
        "trees of conversations",
        """\
CREATE TABLE conversation_tree (
    conversation_id TEXT COLLATE "C" NOT NULL,
    branch_key      UUID NOT NULL,
    branch_id       TEXT COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    version         BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, branch_key)
);
INSERT INTO conversation_tree (conversation_id, branch_key, branch_id, seq, version)
SELECT forked_from, encode(substring(sha256(convert_to(conversation_id, 'UTF8')) FOR 16), 'hex')::uuid, conversation_id,
    forked_at_seq, forked_at_version
FROM conversation WHERE forked_from IS NOT NULL;
"""
        + _usable_like(conversation_tree="conversation"),
    ),
    # Keeps the newest few earlier values of each item.
    Migration(
        15,
        "earlier values of items",
        """\
ALTER TABLE stored_item ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
CREATE TABLE item_version (
    root_key      UUID NOT NULL,
    name_hash     BYTEA NOT NULL,
    version       BIGINT NOT NULL,
    value         TEXT NOT NULL,
    search_terms  TEXT,
    created_at_us BIGINT NOT NULL,
    updated_at_us BIGINT NOT NULL,
    ended_at_us   BIGINT NOT NULL,
    PRIMARY KEY (root_key, name_hash, version)
);
CREATE INDEX item_version_ended ON item_version (ended_at_us);
"""
        + _usable_like(item_version="stored_item"),
    ),
    # Transaction numbers belong to one server; a store that was moved to another server continues after its own highest
    # number, see migrations.py.
    Migration(
        16,
        "numbers of events on another server",
        """\
CREATE FUNCTION chatmemory_shift() RETURNS bigint LANGUAGE sql IMMUTABLE RETURN 0::bigint;
ALTER TABLE conversation_event
    ALTER COLUMN transaction_id SET DEFAULT (pg_current_xact_id()::text::bigint + chatmemory_shift());
ALTER TABLE memory_event
    ALTER COLUMN transaction_id SET DEFAULT (pg_current_xact_id()::text::bigint + chatmemory_shift());
ALTER TABLE item_event
    ALTER COLUMN transaction_id SET DEFAULT (pg_current_xact_id()::text::bigint + chatmemory_shift());
""",
    ),
    # A program of an earlier edition that has the store open would continue to write without versions and events, and would
    # delete messages that branches share.  The constraint refuses its writes, and the name of the constraint is the cure.
    Migration(
        17,
        "one edition at once",
        """\
ALTER TABLE conversation ADD COLUMN edition SMALLINT NOT NULL DEFAULT 1;
ALTER TABLE conversation ALTER COLUMN edition SET DEFAULT 0;
ALTER TABLE conversation ADD CONSTRAINT the_store_is_newer_restart_with_the_newer_chatmemory CHECK (edition > 0);
""",
    ),
    # changed_us: microseconds since 1970, which grow with each write of the user's memories, so that facts that were read
    # before a write are known to be out of date.
    Migration(
        18,
        "changes of users",
        """\
ALTER TABLE memory_user ADD COLUMN changed_us BIGINT NOT NULL DEFAULT 0;
""",
    ),
    # Finds the memories before and after a memory in its session.  The session's id is hashed: two ids of 512 characters of
    # four bytes do not fit into one entry of a b-tree.
    Migration(
        19,
        "order of memories within their session",
        """\
CREATE INDEX atomic_memory_beside ON atomic_memory (user_key, hashtextextended(session_id, 0), created_at_us, memory_id)
    WHERE session_id IS NOT NULL AND memory_type = 'long_term';
""",
    ),
    Migration(20, "branches with messages of their own", DROP_SHARING, piece=copy_for_a_branch),
    # A reason held an attribute's name and its subject; the subject may quote a memory that was forgotten.
    Migration(
        21,
        "reasons without words",
        """\
UPDATE memory_event SET reason = split_part(reason, ':', 1) WHERE strpos(reason, ':') > 0;
""",
    ),
    Migration(22, "first answers", FIRST_ANSWER + _usable_like(first_answer="atomic_memory")),
    # Version 0.5.0 does not look whether the store was upgraded.  Its statements of memories and of items fail on these names.
    Migration(
        23,
        "names that version 0.5.0 does not know",
        """\
ALTER TABLE memory_user RENAME COLUMN user_id TO user_name;
ALTER TABLE stored_item RENAME TO item;
""",
    ),
    # Without the app, by which no statement looks an attribute up: an app and an attribute of 512 characters each do not fit
    # into one entry of a b-tree.
    Migration(
        24,
        "attributes of any app",
        """\
DROP INDEX atomic_memory_attribute;
CREATE INDEX atomic_memory_attribute ON atomic_memory (user_key, attribute)
    WHERE attribute IS NOT NULL AND superseded_at_us IS NULL;
""",
    ),
)
