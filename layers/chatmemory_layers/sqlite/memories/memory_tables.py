"""The tables of long-term memory: the columns added to the desktop application's ``atomic_memory``, and further tables.

This module holds statements only; ``migrations.py`` executes the step, and creates or adopts the table that they extend.
Every added column may be NULL or has a default, so that the application's own INSERTs continue to work.  Later versions of
the application add other names (``importance``, ``access_count``, ``last_access``, ``source_type``, ``linked_memories``
...), which the added columns avoid.

A row is a memory once it has a ``memory_id``.  It then also has:
    ``user_key``        the key of its user in ``memory_user``
    ``app_type``        ``''`` instead of NULL
    ``memory_type``     ``short_term`` or ``long_term``
    ``role``, ``source``, ``confidence``
    ``created_at_us``   microseconds since 1970; ``timestamp`` is the same in whole seconds
    ``search_terms``    the terms that ``search_terms.py`` makes of its text
    ``tags``            a JSON array; the application's own text, separated by commas, is read as well
    ``value``           JSON, NULL for none
    ``provenance``      JSON, NULL for none
    ``space_key``       the key of the space of its vector, NULL while it has none
The triggers keep the index of words correct, whichever program writes; the index holds only long-term memories.

A new file goes through the same steps to version 6 as a file of the application, so the two cannot differ.
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

# A small number replaces the user's name: it is in every index, and before every word.
# next_seq is the number of the user's next vector, and only grows.  Renamed to next_vector and user_name in steps 17 and 18.
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

# This index also finds the rows that wait for adoption: NULLs come first.
CREATE_MEMORY_ID = "CREATE UNIQUE INDEX atomic_memory_id ON atomic_memory (memory_id)"
CREATE_TIMELINE = "CREATE INDEX atomic_memory_timeline ON atomic_memory (user_key, created_at_us, memory_id)"
CREATE_SESSION = """
CREATE INDEX atomic_memory_session ON atomic_memory (user_key, session_id) WHERE session_id IS NOT NULL
"""
CREATE_KEY = """
CREATE INDEX atomic_memory_key ON atomic_memory (user_key, key, superseded_at_us) WHERE key IS NOT NULL
"""
# A write may have to find the oldest memories; searching among all memories would take longer the more there are.
CREATE_SHORT_TERM = """
CREATE INDEX atomic_memory_short_term ON atomic_memory (user_key, created_at_us) WHERE memory_type = 'short_term'
"""
CREATE_SUCCESSOR = """
CREATE INDEX atomic_memory_successor ON atomic_memory (superseded_by) WHERE superseded_by IS NOT NULL
"""
# Covers two counts: the memories that can be recalled, and the ones among them with a vector.
CREATE_RECALLABLE = """
CREATE INDEX atomic_memory_recallable ON atomic_memory (user_key, app_type, space_key)
WHERE memory_type = 'long_term' AND superseded_at_us IS NULL
"""
CREATE_DEDUP = """
CREATE UNIQUE INDEX atomic_memory_dedup ON atomic_memory (user_key, app_type, dedup_key)
WHERE dedup_key IS NOT NULL AND superseded_at_us IS NULL
"""

# Finds a user's vectors of one model and dimension.
CREATE_SPACE = """
CREATE TABLE memory_space (
    space_key INTEGER PRIMARY KEY,
    user_key INTEGER NOT NULL,
    model TEXT NOT NULL,
    dim INTEGER NOT NULL,
    UNIQUE (user_key, model, dim)
)
"""
# Apart from the memory rows, so that lists stay quick.  A vector gets the next seq whenever its memory becomes searchable,
# and has none while it is not: a reader that has seen the space up to a seq continues from there.  vector: float32, little
# endian.
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

# In the order in which ``memory_row.py`` reads them.
CREATE_RECORD = """
CREATE VIEW memory_record AS
SELECT memory_id, app_type, content, key, value, category, tags, confidence, source, role, session_id, memory_type, pinned,
    provenance, created_at_us, last_used_at_us, use_count, model, dim, superseded_at_us, superseded_by, version,
    row.user_key, search_terms, row.id AS memory_key
FROM atomic_memory AS row LEFT JOIN memory_space USING (space_key)
"""
# Each word begins with the key of its user, 17uhello, so that no search reads the memories of other users.
CREATE_SEARCHABLE = """
CREATE VIEW memory_searchable AS
SELECT id, replace(' ' || search_terms, ' ', ' ' || user_key || 'u') AS words FROM atomic_memory
WHERE memory_type = 'long_term' AND search_terms IS NOT NULL
"""
# The terms are ready for the index.  "ascii" takes every character that is not ASCII as a letter, so each term stays one
# word in any version of SQLite; their Unicode tables differ.  The index says only which memories have a word: it needs two
# fifths of the size, and memory_search.py asks for no more.
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
# Deleting a memory deletes the rows that belong to it.
CREATE_REMAINS = """
CREATE TRIGGER atomic_memory_remains AFTER DELETE ON atomic_memory
BEGIN
    DELETE FROM memory_embedding WHERE memory_key = old.id;
    DELETE FROM memory_use WHERE memory_key = old.id;
END
"""

# An id is unique within its user.  The id comes first: the index also finds the rows that wait for adoption, and no query
# uses it to read all memories of a user.
CREATE_ID_OF_USER = "CREATE UNIQUE INDEX atomic_memory_id_of_user ON atomic_memory (memory_id, user_key)"
IDS_OF_USERS: Final = ("DROP INDEX atomic_memory_id", CREATE_ID_OF_USER)

# The attribute of the user that a memory states or ends: a newer memory about the same attribute ends this one.
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
"""The statements that add long-term memory to a store with the table ``atomic_memory`` of schema version 6."""

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
# Deleting a memory deletes its earlier contents.
CREATE_VERSION_REMAINS = """
CREATE TRIGGER memory_version_remains AFTER DELETE ON atomic_memory
BEGIN
    DELETE FROM memory_version WHERE memory_key = old.id;
END
"""
CONTENTS: Final = (CREATE_VERSION, CREATE_VERSION_REMAINS)
"""The content of a memory before each correction."""

# How many memories a user can recall now, by app and space (0: without a vector): a recall reads it after every write.
# _COUNTED is the condition with which COUNT_RECALLABLE of memory_search.py once counted row by row.
_COUNTED: Final = (
    "{row}.memory_type = 'long_term' AND {row}.superseded_at_us IS NULL AND {row}.user_key IS NOT NULL"
)
CREATE_COVERAGE = """
CREATE TABLE memory_coverage (
    user_key INTEGER NOT NULL,
    app_type TEXT NOT NULL,
    space_key INTEGER NOT NULL,
    memories INTEGER NOT NULL,
    PRIMARY KEY (user_key, app_type, space_key)
) WITHOUT ROWID
"""
FILL_COVERAGE = f"""
INSERT INTO memory_coverage (user_key, app_type, space_key, memories)
SELECT user_key, coalesce(app_type, ''), coalesce(space_key, 0), count(*) FROM atomic_memory AS row
WHERE {_COUNTED.format(row="row")} GROUP BY 1, 2, 3
"""  # noqa: S608  a condition of this module, no value
_COUNT_ONE: Final = """
    INSERT INTO memory_coverage (user_key, app_type, space_key, memories)
    VALUES (new.user_key, coalesce(new.app_type, ''), coalesce(new.space_key, 0), 1)
    ON CONFLICT (user_key, app_type, space_key) DO UPDATE SET memories = memories + 1;
"""
# A count of 0 is deleted: the name of an app is not kept longer than its memories.
_COUNT_ONE_LESS: Final = """
    UPDATE memory_coverage SET memories = memories - 1
    WHERE user_key = old.user_key AND app_type = coalesce(old.app_type, '') AND space_key = coalesce(old.space_key, 0);
    DELETE FROM memory_coverage
    WHERE user_key = old.user_key AND app_type = coalesce(old.app_type, '') AND space_key = coalesce(old.space_key, 0)
        AND memories = 0;
"""
_COUNTING: Final = "UPDATE OF memory_type, superseded_at_us, user_key, app_type, space_key"
CREATE_COVERAGE_INSERT = f"""
CREATE TRIGGER memory_coverage_insert AFTER INSERT ON atomic_memory WHEN {_COUNTED.format(row="new")}
BEGIN{_COUNT_ONE}END
"""
CREATE_COVERAGE_LEAVE = f"""
CREATE TRIGGER memory_coverage_leave BEFORE {_COUNTING} ON atomic_memory WHEN {_COUNTED.format(row="old")}
BEGIN{_COUNT_ONE_LESS}END
"""
CREATE_COVERAGE_ENTER = f"""
CREATE TRIGGER memory_coverage_enter AFTER {_COUNTING} ON atomic_memory WHEN {_COUNTED.format(row="new")}
BEGIN{_COUNT_ONE}END
"""
CREATE_COVERAGE_DELETE = f"""
CREATE TRIGGER memory_coverage_delete AFTER DELETE ON atomic_memory WHEN {_COUNTED.format(row="old")}
BEGIN{_COUNT_ONE_LESS}END
"""
# memory_coverage replaces what this index was for; the new index finds the newest memories that can be recalled.
MOVE_RECALLABLE: Final = (
    "DROP INDEX atomic_memory_recallable",
    """
CREATE INDEX atomic_memory_recallable ON atomic_memory (user_key, created_at_us)
WHERE memory_type = 'long_term' AND superseded_at_us IS NULL
""",
)
COVERAGE: Final = (
    CREATE_COVERAGE,
    FILL_COVERAGE,
    CREATE_COVERAGE_INSERT,
    CREATE_COVERAGE_LEAVE,
    CREATE_COVERAGE_ENTER,
    CREATE_COVERAGE_DELETE,
    *MOVE_RECALLABLE,
)
"""Counts what a user can recall at each write."""

# The codes of 256 successive vectors of a space, see code_blocks.py; key 0: no vector.  All searchable vectors of a space
# with a number below coded_seq are in blocks; mean: float32, little endian.
ADD_MEAN = "ALTER TABLE memory_space ADD COLUMN mean BLOB"
ADD_CODED_SEQ = "ALTER TABLE memory_space ADD COLUMN coded_seq INTEGER NOT NULL DEFAULT 0"
CREATE_CODE_BLOCK = """
CREATE TABLE memory_code_block (
    space_key INTEGER NOT NULL,
    block INTEGER NOT NULL,
    keys BLOB NOT NULL,
    codes BLOB NOT NULL,
    UNIQUE (space_key, block)
)
"""
# Written in place, so that a removal writes 13 pages, and not the codes of 255 others.
_EMPTY_PLACE: Final = """
    UPDATE memory_code_block SET
        keys = CAST(substr(keys, 1, (old.seq & 255) * 8) || zeroblob(8) || substr(keys, (old.seq & 255) * 8 + 9) AS BLOB),
        codes = CAST(
            substr(codes, 1, (old.seq & 255) * (length(codes) >> 8)) || zeroblob(length(codes) >> 8)
            || substr(codes, ((old.seq & 255) + 1) * (length(codes) >> 8) + 1) AS BLOB
        )
    WHERE space_key = old.space_key AND block = old.seq >> 8;
"""
CREATE_CODE_DELETE = f"""
CREATE TRIGGER memory_code_delete AFTER DELETE ON memory_embedding WHEN old.seq IS NOT NULL
BEGIN{_EMPTY_PLACE}END
"""
CREATE_CODE_REPLACE = f"""
CREATE TRIGGER memory_code_replace AFTER UPDATE OF seq ON memory_embedding WHEN old.seq IS NOT NULL
BEGIN{_EMPTY_PLACE}END
"""
CODES: Final = (ADD_MEAN, ADD_CODED_SEQ, CREATE_CODE_BLOCK, CREATE_CODE_DELETE, CREATE_CODE_REPLACE)
"""Codes of vectors, for the first search after opening."""

CREATE_BESIDE = """
CREATE INDEX atomic_memory_beside ON atomic_memory (user_key, session_id, created_at_us, memory_id)
WHERE session_id IS NOT NULL AND memory_type = 'long_term'
"""
BESIDE: Final = (CREATE_BESIDE,)
"""Finds the memories before and after a memory in its session, however long the session is."""
