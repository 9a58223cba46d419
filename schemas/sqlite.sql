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

CREATE TABLE conversation (
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
);

CREATE TABLE history_work (
    conversation_key INTEGER PRIMARY KEY,
    due_at_us INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    lease_id TEXT,
    lease_until_us INTEGER
);

CREATE INDEX history_work_queue ON history_work (due_at_us)
;

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
