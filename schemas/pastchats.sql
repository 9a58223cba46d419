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

CREATE TABLE prompt_embeddings (
    prompt_id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    dim INTEGER NOT NULL,
    vector BLOB NOT NULL,
    vector_json TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (prompt_id) REFERENCES prompts (id) ON DELETE CASCADE
);

CREATE INDEX prompt_embeddings_model ON prompt_embeddings (model);

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
);

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
    DELETE FROM prompt_embeddings WHERE prompt_id = old.id;
    DELETE FROM prompt_codes WHERE prompt_id = old.id;
    DELETE FROM prompt_aliases WHERE prompt_id = old.id;
END;

CREATE INDEX prompts_conversation_order
ON prompts (conversation_id, turn_index, id, timestamp, superseded_at, role, format, source_project)
;

CREATE INDEX prompts_source_order ON prompts (source_path, turn_index);

CREATE INDEX prompts_text ON prompts (text_hash);

CREATE VIRTUAL TABLE prompts_fts USING fts5(
    content,
    source_project,
    conversation_id UNINDEXED,
    search_terms,
    content="prompts",
    content_rowid='id',
    tokenize='porter unicode61'
);
