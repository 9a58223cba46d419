CREATE TABLE atomic_memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp INTEGER NOT NULL,
    content TEXT NOT NULL,
    tags TEXT,
    session_id TEXT,
    create_time TEXT NOT NULL DEFAULT (datetime('now','localtime')),
    app_type TEXT DEFAULT '',
    embedding TEXT
, memory_type TEXT DEFAULT 'short_term', memory_id TEXT, user_key INTEGER, role TEXT, category TEXT, key TEXT, value TEXT, confidence REAL, source TEXT, pinned INTEGER NOT NULL DEFAULT 0, provenance TEXT, created_at_us INTEGER, last_used_at_us INTEGER, last_use_id TEXT, use_count INTEGER NOT NULL DEFAULT 0, superseded_at_us INTEGER, superseded_by TEXT, version INTEGER NOT NULL DEFAULT 1, space_key INTEGER, dedup_key BLOB, search_terms TEXT, attribute TEXT);

CREATE TRIGGER atomic_memory_remains AFTER DELETE ON atomic_memory
BEGIN
    DELETE FROM memory_embedding WHERE memory_key = old.id;
    DELETE FROM memory_use WHERE memory_key = old.id;
END;

CREATE TRIGGER memory_coverage_delete AFTER DELETE ON atomic_memory WHEN old.memory_type = 'long_term' AND old.superseded_at_us IS NULL AND old.user_key IS NOT NULL
BEGIN
    UPDATE memory_coverage SET memories = memories - 1
    WHERE user_key = old.user_key AND app_type = coalesce(old.app_type, '') AND space_key = coalesce(old.space_key, 0);
    DELETE FROM memory_coverage
    WHERE user_key = old.user_key AND app_type = coalesce(old.app_type, '') AND space_key = coalesce(old.space_key, 0)
        AND memories = 0;
END;

CREATE TRIGGER memory_coverage_enter AFTER UPDATE OF memory_type, superseded_at_us, user_key, app_type, space_key ON atomic_memory WHEN new.memory_type = 'long_term' AND new.superseded_at_us IS NULL AND new.user_key IS NOT NULL
BEGIN
    INSERT INTO memory_coverage (user_key, app_type, space_key, memories)
    VALUES (new.user_key, coalesce(new.app_type, ''), coalesce(new.space_key, 0), 1)
    ON CONFLICT (user_key, app_type, space_key) DO UPDATE SET memories = memories + 1;
END;

CREATE TRIGGER memory_coverage_insert AFTER INSERT ON atomic_memory WHEN new.memory_type = 'long_term' AND new.superseded_at_us IS NULL AND new.user_key IS NOT NULL
BEGIN
    INSERT INTO memory_coverage (user_key, app_type, space_key, memories)
    VALUES (new.user_key, coalesce(new.app_type, ''), coalesce(new.space_key, 0), 1)
    ON CONFLICT (user_key, app_type, space_key) DO UPDATE SET memories = memories + 1;
END;

CREATE TRIGGER memory_coverage_leave BEFORE UPDATE OF memory_type, superseded_at_us, user_key, app_type, space_key ON atomic_memory WHEN old.memory_type = 'long_term' AND old.superseded_at_us IS NULL AND old.user_key IS NOT NULL
BEGIN
    UPDATE memory_coverage SET memories = memories - 1
    WHERE user_key = old.user_key AND app_type = coalesce(old.app_type, '') AND space_key = coalesce(old.space_key, 0);
    DELETE FROM memory_coverage
    WHERE user_key = old.user_key AND app_type = coalesce(old.app_type, '') AND space_key = coalesce(old.space_key, 0)
        AND memories = 0;
END;

CREATE TRIGGER memory_fts_delete BEFORE DELETE ON atomic_memory
BEGIN
    INSERT INTO memory_fts (memory_fts, rowid, words)
    SELECT 'delete', id, words FROM memory_searchable WHERE id = old.id;
END;

CREATE TRIGGER memory_fts_enter AFTER UPDATE OF memory_type, search_terms, user_key ON atomic_memory
BEGIN
    INSERT INTO memory_fts (rowid, words) SELECT id, words FROM memory_searchable WHERE id = new.id;
END;

CREATE TRIGGER memory_fts_insert AFTER INSERT ON atomic_memory
BEGIN
    INSERT INTO memory_fts (rowid, words) SELECT id, words FROM memory_searchable WHERE id = new.id;
END;

CREATE TRIGGER memory_fts_leave BEFORE UPDATE OF memory_type, search_terms, user_key ON atomic_memory
BEGIN
    INSERT INTO memory_fts (memory_fts, rowid, words)
    SELECT 'delete', id, words FROM memory_searchable WHERE id = old.id;
END;

CREATE TRIGGER memory_version_remains AFTER DELETE ON atomic_memory
BEGIN
    DELETE FROM memory_version WHERE memory_key = old.id;
END;

CREATE INDEX atomic_memory_attribute ON atomic_memory (user_key, app_type, attribute)
WHERE attribute IS NOT NULL AND superseded_at_us IS NULL
;

CREATE INDEX atomic_memory_beside ON atomic_memory (user_key, session_id, created_at_us, memory_id)
WHERE session_id IS NOT NULL AND memory_type = 'long_term'
;

CREATE UNIQUE INDEX atomic_memory_dedup ON atomic_memory (user_key, app_type, dedup_key)
WHERE dedup_key IS NOT NULL AND superseded_at_us IS NULL
;

CREATE UNIQUE INDEX atomic_memory_id_of_user ON atomic_memory (memory_id, user_key);

CREATE INDEX atomic_memory_key ON atomic_memory (user_key, key, superseded_at_us) WHERE key IS NOT NULL
;

CREATE INDEX atomic_memory_recallable ON atomic_memory (user_key, created_at_us)
WHERE memory_type = 'long_term' AND superseded_at_us IS NULL
;

CREATE INDEX atomic_memory_session ON atomic_memory (user_key, session_id) WHERE session_id IS NOT NULL
;

CREATE INDEX atomic_memory_short_term ON atomic_memory (user_key, created_at_us) WHERE memory_type = 'short_term'
;

CREATE INDEX atomic_memory_successor ON atomic_memory (superseded_by) WHERE superseded_by IS NOT NULL
;

CREATE INDEX atomic_memory_timeline ON atomic_memory (user_key, created_at_us, memory_id);

CREATE TABLE chat_branch (
    conversation_key INTEGER NOT NULL,
    branch_key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (conversation_key, branch_key)
) WITHOUT ROWID
;

CREATE TABLE "chat_conversation" (
    conversation_key INTEGER PRIMARY KEY,
    conversation_id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    next_seq INTEGER NOT NULL,
    rewritten_at_version INTEGER NOT NULL,
    summarized_place INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    view_count INTEGER NOT NULL,
    view_tokens INTEGER NOT NULL,
    open_count INTEGER NOT NULL,
    deleted_count INTEGER NOT NULL,
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL
, owner_user TEXT NOT NULL DEFAULT '', owner_app TEXT NOT NULL DEFAULT '', kept_since_version INTEGER NOT NULL DEFAULT 0, kept_since_us INTEGER, forked_from TEXT, forked_at_version INTEGER, forked_at_seq INTEGER, recency INTEGER NOT NULL DEFAULT -1);

CREATE TRIGGER chat_conversation_begun AFTER INSERT ON chat_conversation 
WHEN new.recency <> CASE WHEN new.message_count > 0 THEN new.updated_at_us >> 20 ELSE -1 END
BEGIN
    UPDATE chat_conversation SET recency = CASE WHEN new.message_count > 0 THEN new.updated_at_us >> 20 ELSE -1 END WHERE conversation_key = new.conversation_key;
END;

CREATE TRIGGER chat_conversation_moved AFTER UPDATE OF updated_at_us, message_count ON chat_conversation 
WHEN new.recency <> CASE WHEN new.message_count > 0 THEN new.updated_at_us >> 20 ELSE -1 END
BEGIN
    UPDATE chat_conversation SET recency = CASE WHEN new.message_count > 0 THEN new.updated_at_us >> 20 ELSE -1 END WHERE conversation_key = new.conversation_key;
END;

CREATE INDEX chat_conversation_owner ON chat_conversation (owner_user, conversation_id);

CREATE INDEX chat_conversation_owner_recency ON chat_conversation (owner_user, recency);

CREATE INDEX chat_conversation_recency ON chat_conversation (recency);

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
    content TEXT NOT NULL, version INTEGER, stored_at_us INTEGER, covered_at_version INTEGER,
    UNIQUE (conversation_key, seq),
    UNIQUE (id, conversation_key)
);

CREATE UNIQUE INDEX chat_message_place ON chat_message (conversation_key, place)
WHERE place IS NOT NULL AND covered_by IS NULL
;

CREATE TABLE chatmemory_migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at_us INTEGER NOT NULL
);

CREATE TABLE event (
    number INTEGER PRIMARY KEY,
    stored_at_us INTEGER NOT NULL,
    said_at_us INTEGER,
    who TEXT NOT NULL,
    who_user TEXT NOT NULL,
    kind TEXT NOT NULL,
    action TEXT NOT NULL,
    target_id TEXT NOT NULL,
    owner_user TEXT NOT NULL,
    owner_app TEXT NOT NULL,
    version INTEGER,
    reach INTEGER,
    successor TEXT,
    reason TEXT,
    session_id TEXT,
    evidence TEXT
);

CREATE INDEX event_forgotten ON event (owner_user, session_id) WHERE action = 'forgotten';

CREATE INDEX event_target ON event (target_id, number) WHERE action <> 'added';

CREATE TABLE first_answer (
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    request TEXT NOT NULL,
    value TEXT NOT NULL,
    memory_ids TEXT,
    expires_at_us INTEGER NOT NULL,
    PRIMARY KEY (user, name, number)
);

CREATE INDEX first_answer_expiry ON first_answer (expires_at_us);

CREATE INDEX first_answer_words ON first_answer (user) WHERE memory_ids IS NOT NULL;

CREATE TABLE history_work (
    conversation_key INTEGER PRIMARY KEY,
    due_at_us INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    lease_id TEXT,
    lease_until_us INTEGER
);

CREATE INDEX history_work_queue ON history_work (due_at_us)
;

CREATE TABLE "item" (
    item_key INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    search_terms TEXT,
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL,
    lifetime_us INTEGER,
    expires_at_us INTEGER, version INTEGER NOT NULL DEFAULT 1,
    UNIQUE (namespace, key)
);

CREATE TRIGGER stored_item_removed AFTER DELETE ON "item" BEGIN
    DELETE FROM item_passage WHERE item_key = old.item_key;
END;

CREATE TRIGGER stored_item_rewritten AFTER UPDATE OF value ON "item" BEGIN
    DELETE FROM item_passage WHERE item_key = old.item_key;
END;

CREATE INDEX stored_item_expiry ON "item" (expires_at_us) WHERE expires_at_us IS NOT NULL
;

CREATE TABLE item_passage (
    item_key INTEGER NOT NULL,
    number INTEGER NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (item_key, number)
) WITHOUT ROWID
;

CREATE TABLE item_version (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    search_terms TEXT,
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL,
    ended_at_us INTEGER NOT NULL,
    PRIMARY KEY (namespace, key, version)
);

CREATE INDEX item_version_ended ON item_version (ended_at_us);

CREATE TABLE memory_code_block (
    space_key INTEGER NOT NULL,
    block INTEGER NOT NULL,
    keys BLOB NOT NULL,
    codes BLOB NOT NULL,
    UNIQUE (space_key, block)
);

CREATE TABLE memory_coverage (
    user_key INTEGER NOT NULL,
    app_type TEXT NOT NULL,
    space_key INTEGER NOT NULL,
    memories INTEGER NOT NULL,
    PRIMARY KEY (user_key, app_type, space_key)
) WITHOUT ROWID
;

CREATE TABLE memory_embedding (
    memory_key INTEGER PRIMARY KEY,
    space_key INTEGER NOT NULL,
    seq INTEGER,
    vector BLOB NOT NULL,
    UNIQUE (space_key, seq)
);

CREATE TRIGGER memory_code_delete AFTER DELETE ON memory_embedding WHEN old.seq IS NOT NULL
BEGIN
    UPDATE memory_code_block SET
        keys = CAST(substr(keys, 1, (old.seq & 255) * 8) || zeroblob(8) || substr(keys, (old.seq & 255) * 8 + 9) AS BLOB),
        codes = CAST(
            substr(codes, 1, (old.seq & 255) * (length(codes) >> 8)) || zeroblob(length(codes) >> 8)
            || substr(codes, ((old.seq & 255) + 1) * (length(codes) >> 8) + 1) AS BLOB
        )
    WHERE space_key = old.space_key AND block = old.seq >> 8;
END;

CREATE TRIGGER memory_code_replace AFTER UPDATE OF seq ON memory_embedding WHEN old.seq IS NOT NULL
BEGIN
    UPDATE memory_code_block SET
        keys = CAST(substr(keys, 1, (old.seq & 255) * 8) || zeroblob(8) || substr(keys, (old.seq & 255) * 8 + 9) AS BLOB),
        codes = CAST(
            substr(codes, 1, (old.seq & 255) * (length(codes) >> 8)) || zeroblob(length(codes) >> 8)
            || substr(codes, ((old.seq & 255) + 1) * (length(codes) >> 8) + 1) AS BLOB
        )
    WHERE space_key = old.space_key AND block = old.seq >> 8;
END;

CREATE VIRTUAL TABLE memory_fts USING fts5 (
    words, content="memory_searchable", content_rowid="id", tokenize="ascii", detail=none, columnsize=0
);

CREATE VIEW memory_record AS
SELECT memory_id, app_type, content, key, value, category, tags, confidence, source, role, session_id, memory_type, pinned,
    provenance, created_at_us, last_used_at_us, use_count, model, dim, superseded_at_us, superseded_by, version, attribute,
    row.user_key, search_terms, row.id AS memory_key
FROM atomic_memory AS row LEFT JOIN memory_space USING (space_key);

CREATE VIEW memory_searchable AS
SELECT id, replace(' ' || search_terms, ' ', ' ' || user_key || 'u') AS words FROM atomic_memory
WHERE memory_type = 'long_term' AND search_terms IS NOT NULL;

CREATE TABLE memory_space (
    space_key INTEGER PRIMARY KEY,
    user_key INTEGER NOT NULL,
    model TEXT NOT NULL,
    dim INTEGER NOT NULL, mean BLOB, coded_seq INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user_key, model, dim)
);

CREATE TABLE memory_use (
    memory_key INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    PRIMARY KEY (memory_key, session_id)
) WITHOUT ROWID
;

CREATE TABLE memory_user (
    user_key INTEGER PRIMARY KEY,
    user_name TEXT NOT NULL UNIQUE,
    next_vector INTEGER NOT NULL DEFAULT 1
);

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
;

CREATE TABLE schema_version (version INTEGER);

CREATE TABLE summarization_metadata (
    conversation_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    summary_message_id TEXT NOT NULL,
    starts_at_us INTEGER NOT NULL,
    ends_at_us INTEGER NOT NULL,
    skill_id TEXT NOT NULL,
    messages_deleted INTEGER NOT NULL,
    created_at_us INTEGER NOT NULL, is_stale INTEGER NOT NULL DEFAULT 0, made_at_version INTEGER,
    PRIMARY KEY (conversation_key, id),
    UNIQUE (conversation_key, summary_message_id)
) WITHOUT ROWID
;

CREATE TABLE summary_coverage (
    conversation_key INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    metadata_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    PRIMARY KEY (conversation_key, message_id),
    UNIQUE (conversation_key, metadata_id, ordinal)
) WITHOUT ROWID
;

INSERT INTO schema_version (version) VALUES (6);
