"""The tables of past chats, in a separate file, and their migration steps.

``migrations.py`` applies and records steps; ``schemas/pastchats.sql`` shows the final schema.  A turn is a row of
``prompts`` and has, at every commit, exactly one row in ``prompt_vectors``, one in ``prompt_codes``, and one entry in
``prompts_fts``.

Instants of histories are text of fixed width, ``2023-05-08T13:56:00.000000Z``.  This text sorts by time, and SQLite's date
functions read it.  ``created_at`` and similar columns are SQLite's CURRENT_TIMESTAMP.
"""

import sqlite3
from typing import Final

from chatmemory_layers.sqlite.engine.migrations import CREATE_LEDGER, Migration, migrate
from chatmemory_layers.sqlite.prompts import APPLICATION_ID, NEWEST
from chatmemory_layers.sqlite.prompts.packed_vectors import prepare_packing
from chatmemory_layers.sqlite.prompts.prompt_order import ORDER_STATEMENTS
from chatmemory_layers.sqlite.prompts.prompt_vector_tables import PACKED_STATEMENTS

# content_hash: of the turn's identity; text_hash: of its text.  Both are hexadecimal.
# source_project is short, for people; the whole folder is in metadata_json.
# search_terms: the terms that the index of words would not find in content by itself.
# place, since step 4: see prompt_order.py.
# superseded_at: when the source was read without the turn; NULL while the source holds it.
CREATE_PROMPTS = """
CREATE TABLE prompts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_path TEXT NOT NULL,
    source_project TEXT NOT NULL,
    conversation_id TEXT,
    turn_index INTEGER NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    timestamp TEXT,
    content_hash TEXT NOT NULL UNIQUE,
    metadata_json TEXT,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    format TEXT NOT NULL DEFAULT '',
    session TEXT NOT NULL DEFAULT '',
    kind TEXT NOT NULL DEFAULT 'typed',
    speaker TEXT,
    text_hash TEXT NOT NULL DEFAULT '',
    search_terms TEXT NOT NULL DEFAULT '',
    superseded_at TEXT
)
"""
CREATE_CONVERSATION_ORDER = """
CREATE INDEX prompts_conversation_order ON prompts (conversation_id, turn_index)
"""
# Covers the lists of conversations and the counts of turns: the rows themselves are long, and reading them takes ten times
# as long.
DROP_CONVERSATION_ORDER = "DROP INDEX prompts_conversation_order"
CREATE_CONVERSATIONS = """
CREATE INDEX prompts_conversation_order
ON prompts (conversation_id, turn_index, id, timestamp, superseded_at, role, format, source_project)
"""
CREATE_SOURCE_ORDER = "CREATE INDEX prompts_source_order ON prompts (source_path, turn_index)"
CREATE_TEXT = "CREATE INDEX prompts_text ON prompts (text_hash)"

# Until step 3, see prompt_vector_tables.py.  vector: int8, each scaled so that its largest magnitude is 127; cosine does not
# depend on the scale.  A text without features has zeros.  vector_json: the same integers, for programs that cannot read bytes.
# Without an embedder the model is "none", dim 0, and both are empty.  The bytes come first: searches read them, and a row may
# continue in another page.
CREATE_EMBEDDINGS = """
CREATE TABLE prompt_embeddings (
    prompt_id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    dim INTEGER NOT NULL,
    vector BLOB NOT NULL,
    vector_json TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (prompt_id) REFERENCES prompts (id) ON DELETE CASCADE
)
"""
CREATE_EMBEDDINGS_MODEL = "CREATE INDEX prompt_embeddings_model ON prompt_embeddings (model)"

# A small number replaces a model's name in every row that a search scans.
CREATE_MODELS = """
CREATE TABLE prompt_models (
    model_key INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    dim INTEGER NOT NULL,
    UNIQUE (model, dim)
)
"""
# Narrow, so that reading all of them is quick.  code: what prompt_codes.py computes from the vector; empty for a vector of
# zeros or of no model.
CREATE_CODES = """
CREATE TABLE prompt_codes (
    prompt_id INTEGER PRIMARY KEY,
    model_key INTEGER NOT NULL,
    code BLOB NOT NULL,
    FOREIGN KEY (prompt_id) REFERENCES prompts (id) ON DELETE CASCADE
)
"""
# A process that keeps codes in memory reads on from its greatest prompt_id while the generation stays the same.  When the
# generation has changed, codes were replaced or deleted, and the process reads all again.  Row ids only grow.
CREATE_GENERATION = """
CREATE TABLE prompt_generation (
    id INTEGER PRIMARY KEY CHECK (id = 0),
    number INTEGER NOT NULL
)
"""
FIRST_GENERATION = "INSERT INTO prompt_generation (id, number) VALUES (0, 0)"
# Copies of codes, see prompt_codes.py; ids: 8 bytes each, little endian.
CREATE_CODE_BLOCKS = """
CREATE TABLE prompt_code_blocks (
    first_id INTEGER PRIMARY KEY,
    last_id INTEGER NOT NULL,
    model_key INTEGER NOT NULL,
    size INTEGER NOT NULL,
    ids BLOB NOT NULL,
    codes BLOB NOT NULL
)
"""
CREATE_CODE_REPLACED = """
CREATE TRIGGER prompt_codes_replaced AFTER UPDATE ON prompt_codes
BEGIN
    UPDATE prompt_generation SET number = number + 1;
    DELETE FROM prompt_code_blocks WHERE first_id <= old.prompt_id AND last_id >= old.prompt_id;
END
"""
CREATE_CODE_DELETED = """
CREATE TRIGGER prompt_codes_deleted AFTER DELETE ON prompt_codes
BEGIN
    UPDATE prompt_generation SET number = number + 1;
    DELETE FROM prompt_code_blocks WHERE first_id <= old.prompt_id AND last_id >= old.prompt_id;
END
"""

# Further sources that hold the very same turn.
CREATE_ALIASES = """
CREATE TABLE prompt_aliases (
    source_path TEXT NOT NULL,
    prompt_id INTEGER NOT NULL,
    PRIMARY KEY (source_path, prompt_id),
    FOREIGN KEY (prompt_id) REFERENCES prompts (id) ON DELETE CASCADE
) WITHOUT ROWID
"""
CREATE_ALIASES_OF = "CREATE INDEX prompt_aliases_of ON prompt_aliases (prompt_id)"

# The state of a file when it was last read.  also: a JSON object of further files, each with size and time.
CREATE_SOURCES = """
CREATE TABLE prompt_sources (
    source_path TEXT PRIMARY KEY,
    size_bytes INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    format TEXT NOT NULL,
    format_version INTEGER NOT NULL,
    options TEXT NOT NULL,
    status TEXT NOT NULL,
    issue TEXT,
    also TEXT NOT NULL,
    indexed_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
)
"""
# Turns that were forgotten on request: nothing of their content, only what keeps them from being indexed again.
CREATE_FORGOTTEN = """
CREATE TABLE prompt_forgotten (
    content_hash TEXT PRIMARY KEY,
    forgotten_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID
"""
CREATE_RUNS = """
CREATE TABLE index_runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    started_at TEXT NOT NULL,
    finished_at TEXT NOT NULL,
    files INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    new INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    unchanged INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,
    superseded INTEGER NOT NULL,
    report_json TEXT NOT NULL
)
"""

# Double quotes around the content table: sqlite-utils and Datasette look for exactly them.
CREATE_FTS = """
CREATE VIRTUAL TABLE prompts_fts USING fts5(
    content,
    source_project,
    conversation_id UNINDEXED,
    search_terms,
    content="prompts",
    content_rowid='id',
    tokenize='porter unicode61'
)
"""
CREATE_FTS_INSERT = """
CREATE TRIGGER prompts_fts_insert AFTER INSERT ON prompts
BEGIN
    INSERT INTO prompts_fts (rowid, content, source_project, conversation_id, search_terms)
    VALUES (new.id, new.content, new.source_project, new.conversation_id, new.search_terms);
END
"""
CREATE_FTS_UPDATE = """
CREATE TRIGGER prompts_fts_update
AFTER UPDATE OF id, content, source_project, conversation_id, search_terms ON prompts
WHEN old.content IS NOT new.content OR old.source_project IS NOT new.source_project
    OR old.conversation_id IS NOT new.conversation_id OR old.search_terms IS NOT new.search_terms
    OR old.id IS NOT new.id
BEGIN
    INSERT INTO prompts_fts (prompts_fts, rowid, content, source_project, conversation_id, search_terms)
    VALUES ('delete', old.id, old.content, old.source_project, old.conversation_id, old.search_terms);
    INSERT INTO prompts_fts (rowid, content, source_project, conversation_id, search_terms)
    VALUES (new.id, new.content, new.source_project, new.conversation_id, new.search_terms);
END
"""
CREATE_FTS_DELETE = """
CREATE TRIGGER prompts_fts_delete AFTER DELETE ON prompts
BEGIN
    INSERT INTO prompts_fts (prompts_fts, rowid, content, source_project, conversation_id, search_terms)
    VALUES ('delete', old.id, old.content, old.source_project, old.conversation_id, old.search_terms);
END
"""
# Most programs with which a person would delete a row leave foreign keys off, so triggers delete what belongs to it.
CREATE_REMAINS = """
CREATE TRIGGER prompts_remains AFTER DELETE ON prompts
BEGIN
    DELETE FROM prompt_embeddings WHERE prompt_id = old.id;
    DELETE FROM prompt_codes WHERE prompt_id = old.id;
    DELETE FROM prompt_aliases WHERE prompt_id = old.id;
END
"""

PROMPT_STATEMENTS: Final = (
    CREATE_PROMPTS,
    CREATE_CONVERSATION_ORDER,
    CREATE_SOURCE_ORDER,
    CREATE_TEXT,
    CREATE_EMBEDDINGS,
    CREATE_EMBEDDINGS_MODEL,
    CREATE_MODELS,
    CREATE_CODES,
    CREATE_GENERATION,
    FIRST_GENERATION,
    CREATE_CODE_BLOCKS,
    CREATE_CODE_REPLACED,
    CREATE_CODE_DELETED,
    CREATE_ALIASES,
    CREATE_ALIASES_OF,
    CREATE_SOURCES,
    CREATE_FORGOTTEN,
    CREATE_RUNS,
    CREATE_FTS,
    CREATE_FTS_INSERT,
    CREATE_FTS_UPDATE,
    CREATE_FTS_DELETE,
    CREATE_REMAINS,
)
"""The statements that turn an empty file into an index of past chats."""

CONVERSATION_STATEMENTS: Final = (DROP_CONVERSATION_ORDER, CREATE_CONVERSATIONS)
"""The statements that make lists of conversations quick."""

PROMPT_MIGRATIONS: Final = (
    Migration(
        1,
        "past chats",
        (
            CREATE_LEDGER,
            *PROMPT_STATEMENTS,
            f"PRAGMA application_id = {APPLICATION_ID}",
            "PRAGMA user_version = 1",
        ),
    ),
    Migration(2, "lists of conversations", (*CONVERSATION_STATEMENTS, "PRAGMA user_version = 2")),
    Migration(3, "packed vectors", (*PACKED_STATEMENTS, "PRAGMA user_version = 3")),
    Migration(4, "one order of a conversation", (*ORDER_STATEMENTS, f"PRAGMA user_version = {NEWEST}")),
)


def migrate_prompts(connection: sqlite3.Connection) -> None:
    """Apply the missing steps to the file of *connection*.

    Raises:
        sqlite3.Error: the file cannot be written; it stays as it was before the failed step.
    """
    prepare_packing(connection)
    migrate(connection, PROMPT_MIGRATIONS)
