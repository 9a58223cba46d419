CREATE TABLE chatmemory_migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at_us INTEGER NOT NULL
);

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
);

CREATE TABLE prompt_aliases (
    source_path TEXT NOT NULL,
    prompt_id INTEGER NOT NULL,
    PRIMARY KEY (source_path, prompt_id),
    FOREIGN KEY (prompt_id) REFERENCES prompts (id) ON DELETE CASCADE
) WITHOUT ROWID
;

CREATE INDEX prompt_aliases_of ON prompt_aliases (prompt_id);

CREATE TABLE prompt_code_blocks (
    first_id INTEGER PRIMARY KEY,
    last_id INTEGER NOT NULL,
    model_key INTEGER NOT NULL,
    size INTEGER NOT NULL,
    ids BLOB NOT NULL,
    codes BLOB NOT NULL
);

CREATE TABLE prompt_codes (
    prompt_id INTEGER PRIMARY KEY,
    model_key INTEGER NOT NULL,
    code BLOB NOT NULL,
    FOREIGN KEY (prompt_id) REFERENCES prompts (id) ON DELETE CASCADE
);

CREATE TRIGGER prompt_codes_deleted AFTER DELETE ON prompt_codes
BEGIN
    UPDATE prompt_generation SET number = number + 1;
    DELETE FROM prompt_code_blocks WHERE first_id <= old.prompt_id AND last_id >= old.prompt_id;
END;

CREATE TRIGGER prompt_codes_replaced AFTER UPDATE ON prompt_codes
BEGIN
    UPDATE prompt_generation SET number = number + 1;
    DELETE FROM prompt_code_blocks WHERE first_id <= old.prompt_id AND last_id >= old.prompt_id;
END;

CREATE VIEW prompt_embeddings AS
SELECT
    kept.prompt_id,
    models.model,
    models.dim,
    (
        WITH RECURSIVE
        places (number) AS (
            SELECT 0 WHERE models.dim > 0 UNION ALL SELECT number + 1 FROM places WHERE number + 1 < models.dim
        ),
        flags (number, bits) AS (
            SELECT number, hex(substr(kept.vector, kept.dense + (number - kept.dense) / 8 + 1, 1)) FROM places
        ),
        stored (number, is_stored) AS (
            SELECT number, number < kept.dense OR ((
                instr('123456789ABCDEF', substr(bits, 1, 1)) * 16 + instr('123456789ABCDEF', substr(bits, 2, 1))
            ) >> (7 - (number - kept.dense) % 8) & 1) FROM flags
        ),
        bytes (is_stored, byte) AS (
            SELECT is_stored, hex(substr(
                kept.vector,
                sum(is_stored) OVER (ORDER BY number)
                + CASE WHEN number < kept.dense THEN 0 ELSE (models.dim - kept.dense + 7) / 8 END,
                1
            )) FROM stored ORDER BY number
        )
        SELECT '[' || coalesce(group_concat(
            CASE WHEN is_stored THEN (
                instr('123456789ABCDEF', substr(byte, 1, 1)) * 16 + instr('123456789ABCDEF', substr(byte, 2, 1)) + 128
            ) % 256 - 128 ELSE 0 END
        ), '') || ']' FROM bytes
    ) AS vector_json,
    coalesce(
        datetime(kept.made_at, 'unixepoch'), (SELECT created_at FROM prompts WHERE id = kept.prompt_id)
    ) AS created_at
FROM prompt_vectors AS kept JOIN prompt_models AS models ON models.model_key = kept.model_key;

CREATE TRIGGER prompt_embeddings_delete INSTEAD OF DELETE ON prompt_embeddings
BEGIN
    DELETE FROM prompt_vectors WHERE prompt_id = old.prompt_id;
END;

CREATE TABLE prompt_forgotten (
    content_hash TEXT PRIMARY KEY,
    forgotten_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID
;

CREATE TABLE prompt_generation (
    id INTEGER PRIMARY KEY CHECK (id = 0),
    number INTEGER NOT NULL
);

CREATE TABLE prompt_models (
    model_key INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    dim INTEGER NOT NULL,
    UNIQUE (model, dim)
);

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
);

CREATE TABLE prompt_vectors (
    prompt_id INTEGER PRIMARY KEY,
    model_key INTEGER NOT NULL,
    dense INTEGER NOT NULL,
    squares INTEGER NOT NULL,
    vector BLOB NOT NULL,
    made_at INTEGER,
    FOREIGN KEY (prompt_id) REFERENCES prompts (id) ON DELETE CASCADE
);

CREATE INDEX prompt_vectors_model ON prompt_vectors (model_key);

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
, place INTEGER);

CREATE TRIGGER prompts_fts_delete AFTER DELETE ON prompts
BEGIN
    INSERT INTO prompts_fts (prompts_fts, rowid, content, source_project, conversation_id, search_terms)
    VALUES ('delete', old.id, old.content, old.source_project, old.conversation_id, old.search_terms);
END;

CREATE TRIGGER prompts_fts_insert AFTER INSERT ON prompts
BEGIN
    INSERT INTO prompts_fts (rowid, content, source_project, conversation_id, search_terms)
    VALUES (new.id, new.content, new.source_project, new.conversation_id, new.search_terms);
END;

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
END;

CREATE TRIGGER prompts_remains AFTER DELETE ON prompts
BEGIN
    DELETE FROM prompt_vectors WHERE prompt_id = old.id;
    DELETE FROM prompt_codes WHERE prompt_id = old.id;
    DELETE FROM prompt_aliases WHERE prompt_id = old.id;
END;

CREATE INDEX prompts_conversation_order
ON prompts (conversation_id, turn_index, id, timestamp, superseded_at, role, format, source_project)
;

CREATE INDEX prompts_source_order ON prompts (source_path, turn_index);

CREATE INDEX prompts_text ON prompts (substr(text_hash, 1, 12));

CREATE VIRTUAL TABLE prompts_fts USING fts5(
    content,
    source_project,
    conversation_id UNINDEXED,
    search_terms,
    content="prompts",
    content_rowid='id',
    tokenize='porter unicode61'
);
