"""The tables of long-term memory: what is added to the desktop application's ``atomic_memory``, and what stands beside it.

Statements only; ``migrations.py`` takes the step, and makes or adopts the table that they extend.  Every column that is
added may be NULL or has a default, so that the application's own INSERTs go on working, and none has a name that its
later versions use (``importance``, ``access_count``, ``last_access``, ``source_type``, ``linked_memories`` ...).

A row is a memory once it has a ``memory_id``.  It has then, besides:
    ``user_key``        of its user, from ``memory_user``
    ``app_type``        ``''`` instead of NULL
    ``memory_type``     ``short_term`` or ``long_term``
    ``role``, ``source``, ``confidence``
    ``created_at_us``   microseconds since 1970; ``timestamp`` is its second
    ``search_terms``    what ``search_terms.py`` makes of it
    ``tags``            a JSON array; also read: the application's own text, separated by commas
    ``value``           JSON, NULL for none
    ``provenance``      JSON, NULL for none
    ``space_key``       of the space of its vector, NULL while it has none
The triggers keep the index of words true, whoever writes; only long-term memories are in it.

A file of ours comes to version 6 of the application by the same road as one of the application's, so that the two cannot
differ.
"""

from typing import Final

CREATE_SCHEMA_VERSION = "CREATE TABLE schema_version (version INTEGER)"
INSERT_VERSION_5 = "INSERT INTO schema_version (version) VALUES (5)"

# timestamp in seconds since 1970, embedding as a JSON array.
CREATE_ATOMIC_MEMORY = """
CREATE TABLE atomic_memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp INTEGER NOT NULL,
    content TEXT NOT NULL,
    tags TEXT,
    session_id TEXT,
    create_time TEXT NOT NULL DEFAULT (datetime('now','localtime')),
    app_type TEXT DEFAULT '',
    embedding TEXT
)
"""
VERSION_5: Final = (CREATE_SCHEMA_VERSION, INSERT_VERSION_5, CREATE_ATOMIC_MEMORY)

ADD_MEMORY_TYPE = "ALTER TABLE atomic_memory ADD COLUMN memory_type TEXT DEFAULT 'short_term'"
SET_VERSION_6 = "UPDATE schema_version SET version = 6"
FROM_5_TO_6: Final = (ADD_MEMORY_TYPE, SET_VERSION_6)

# A small number in the place of a name: in every index, and before every word.
# next_seq is that of the user's next vector, and only ever grows.
CREATE_USER = """
CREATE TABLE memory_user (
    user_key INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL UNIQUE,
    next_seq INTEGER NOT NULL DEFAULT 1
)
"""

ADDED_COLUMNS: Final = (
    "memory_id TEXT",
    "user_key INTEGER",
    "role TEXT",
    "category TEXT",
    "key TEXT",
    "value TEXT",
    "confidence REAL",
    "source TEXT",
    "pinned INTEGER NOT NULL DEFAULT 0",
    "provenance TEXT",
    "created_at_us INTEGER",
    "last_used_at_us INTEGER",
    "last_use_id TEXT",
    "use_count INTEGER NOT NULL DEFAULT 0",
    "superseded_at_us INTEGER",
    "superseded_by TEXT",
    "version INTEGER NOT NULL DEFAULT 1",
    "space_key INTEGER",
    "dedup_key BLOB",
    "search_terms TEXT",
)

# Rows that wait for adoption are found in it as well: NULLs come first.
CREATE_MEMORY_ID = "CREATE UNIQUE INDEX atomic_memory_id ON atomic_memory (memory_id)"
CREATE_TIMELINE = "CREATE INDEX atomic_memory_timeline ON atomic_memory (user_key, created_at_us, memory_id)"
CREATE_SESSION = """
CREATE INDEX atomic_memory_session ON atomic_memory (user_key, session_id) WHERE session_id IS NOT NULL
"""
CREATE_KEY = """
CREATE INDEX atomic_memory_key ON atomic_memory (user_key, key, superseded_at_us) WHERE key IS NOT NULL
"""
# A turn may have to look for what is too old; among all memories that would take ever longer.
CREATE_SHORT_TERM = """
CREATE INDEX atomic_memory_short_term ON atomic_memory (user_key, created_at_us) WHERE memory_type = 'short_term'
"""
CREATE_SUCCESSOR = """
CREATE INDEX atomic_memory_successor ON atomic_memory (superseded_by) WHERE superseded_by IS NOT NULL
"""
# Covers the count of what can be recalled, and of what of it has a vector.
CREATE_RECALLABLE = """
CREATE INDEX atomic_memory_recallable ON atomic_memory (user_key, app_type, space_key)
WHERE memory_type = 'long_term' AND superseded_at_us IS NULL
"""
CREATE_DEDUP = """
CREATE UNIQUE INDEX atomic_memory_dedup ON atomic_memory (user_key, app_type, dedup_key)
WHERE dedup_key IS NOT NULL AND superseded_at_us IS NULL
"""

# A user's vectors of one model and dimension.
CREATE_SPACE = """
CREATE TABLE memory_space (
    space_key INTEGER PRIMARY KEY,
    user_key INTEGER NOT NULL,
    model TEXT NOT NULL,
    dim INTEGER NOT NULL,
    UNIQUE (user_key, model, dim)
)
"""
# Apart from the rows, so that lists stay quick.  A vector gets the next seq whenever its memory becomes searchable, and
# has none while it is not: who has seen the space up to a seq reads on from there.  vector: float32, little endian.
CREATE_EMBEDDING = """
CREATE TABLE memory_embedding (
    memory_key INTEGER PRIMARY KEY,
    space_key INTEGER NOT NULL,
    seq INTEGER,
    vector BLOB NOT NULL,
    UNIQUE (space_key, seq)
)
"""

CREATE_USE = """
CREATE TABLE memory_use (
    memory_key INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    PRIMARY KEY (memory_key, session_id)
) WITHOUT ROWID
"""

# In the order in which ``memory_row.py`` reads it.
CREATE_RECORD = """
CREATE VIEW memory_record AS
SELECT memory_id, app_type, content, key, value, category, tags, confidence, source, role, session_id, memory_type, pinned,
    provenance, created_at_us, last_used_at_us, use_count, model, dim, superseded_at_us, superseded_by, version,
    row.user_key, search_terms, row.id AS memory_key
FROM atomic_memory AS row LEFT JOIN memory_space USING (space_key)
"""
# Each word bears the key of its user, 17uhello, so that no search ever walks through the memories of others.
CREATE_SEARCHABLE = """
CREATE VIEW memory_searchable AS
SELECT id, replace(' ' || search_terms, ' ', ' ' || user_key || 'u') AS words FROM atomic_memory
WHERE memory_type = 'long_term' AND search_terms IS NOT NULL
"""
# The terms come ready: "ascii" takes whatever is not ASCII for a letter, so that each stays one word in any SQLite, whose
# Unicode tables differ.  The index says which memory has a word and no more: two fifths of the size, and all that
# memory_search.py asks.
CREATE_FTS = """
CREATE VIRTUAL TABLE memory_fts USING fts5 (
    words, content="memory_searchable", content_rowid="id", tokenize="ascii", detail=none, columnsize=0
)
"""
CREATE_FTS_INSERT = """
CREATE TRIGGER memory_fts_insert AFTER INSERT ON atomic_memory
BEGIN
    INSERT INTO memory_fts (rowid, words) SELECT id, words FROM memory_searchable WHERE id = new.id;
END
"""
CREATE_FTS_LEAVE = """
CREATE TRIGGER memory_fts_leave BEFORE UPDATE OF memory_type, search_terms, user_key ON atomic_memory
BEGIN
    INSERT INTO memory_fts (memory_fts, rowid, words)
    SELECT 'delete', id, words FROM memory_searchable WHERE id = old.id;
END
"""
CREATE_FTS_ENTER = """
CREATE TRIGGER memory_fts_enter AFTER UPDATE OF memory_type, search_terms, user_key ON atomic_memory
BEGIN
    INSERT INTO memory_fts (rowid, words) SELECT id, words FROM memory_searchable WHERE id = new.id;
END
"""
CREATE_FTS_DELETE = """
CREATE TRIGGER memory_fts_delete BEFORE DELETE ON atomic_memory
BEGIN
    INSERT INTO memory_fts (memory_fts, rowid, words)
    SELECT 'delete', id, words FROM memory_searchable WHERE id = old.id;
END
"""
# Whoever deletes a memory deletes what hangs on it.
CREATE_REMAINS = """
CREATE TRIGGER atomic_memory_remains AFTER DELETE ON atomic_memory
BEGIN
    DELETE FROM memory_embedding WHERE memory_key = old.id;
    DELETE FROM memory_use WHERE memory_key = old.id;
END
"""

# An id is unique for its user alone.  The id comes first: rows that wait for adoption are found in it as well, and nobody
# walks through all of a user's memories by it.
CREATE_ID_OF_USER = "CREATE UNIQUE INDEX atomic_memory_id_of_user ON atomic_memory (memory_id, user_key)"
IDS_OF_USERS: Final = ("DROP INDEX atomic_memory_id", CREATE_ID_OF_USER)

# What of the user a memory states or ends: a newer one about the same attribute ends it.
ADD_ATTRIBUTE = "ALTER TABLE atomic_memory ADD COLUMN attribute TEXT"
CREATE_ATTRIBUTE = """
CREATE INDEX atomic_memory_attribute ON atomic_memory (user_key, app_type, attribute)
WHERE attribute IS NOT NULL AND superseded_at_us IS NULL
"""
CREATE_RECORD_WITH_ATTRIBUTE = CREATE_RECORD.replace(
    "superseded_by, version,\n", "superseded_by, version, attribute,\n"
)
ATTRIBUTES: Final = (ADD_ATTRIBUTE, CREATE_ATTRIBUTE, "DROP VIEW memory_record", CREATE_RECORD_WITH_ATTRIBUTE)

ADD_STALE = "ALTER TABLE summarization_metadata ADD COLUMN is_stale INTEGER NOT NULL DEFAULT 0"

MEMORY_STATEMENTS: Final = (
    CREATE_USER,
    *(f"ALTER TABLE atomic_memory ADD COLUMN {column}" for column in ADDED_COLUMNS),
    CREATE_MEMORY_ID,
    CREATE_TIMELINE,
    CREATE_SESSION,
    CREATE_KEY,
    CREATE_SHORT_TERM,
    CREATE_SUCCESSOR,
    CREATE_RECALLABLE,
    CREATE_DEDUP,
    CREATE_SPACE,
    CREATE_EMBEDDING,
    CREATE_USE,
    CREATE_RECORD,
    CREATE_SEARCHABLE,
    CREATE_FTS,
    CREATE_FTS_INSERT,
    CREATE_FTS_LEAVE,
    CREATE_FTS_ENTER,
    CREATE_FTS_DELETE,
    CREATE_REMAINS,
    ADD_STALE,
)
"""What takes a store with the table ``atomic_memory`` of schema version 6 to long-term memory."""

CREATE_VERSION = """
CREATE TABLE memory_version (
    memory_key INTEGER NOT NULL,
    version INTEGER NOT NULL,
    replaced_at_us INTEGER NOT NULL,
    content TEXT NOT NULL,
    key TEXT,
    value TEXT,
    category TEXT,
    tags TEXT,
    confidence REAL NOT NULL,
    source TEXT NOT NULL,
    provenance TEXT,
    PRIMARY KEY (memory_key, version)
) WITHOUT ROWID
"""
# Whoever deletes a memory deletes what it said before.
CREATE_VERSION_REMAINS = """
CREATE TRIGGER memory_version_remains AFTER DELETE ON atomic_memory
BEGIN
    DELETE FROM memory_version WHERE memory_key = old.id;
END
"""
CONTENTS: Final = (CREATE_VERSION, CREATE_VERSION_REMAINS)
"""What a memory said before each correction."""
