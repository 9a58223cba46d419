-- What chatmemory makes in a PostgreSQL database; generated from the migrations.

CREATE TABLE IF NOT EXISTS chatmemory_migration (
    number        BIGINT PRIMARY KEY,
    name          TEXT NOT NULL,
    checksum      TEXT NOT NULL,
    applied_at_us BIGINT NOT NULL
);

-- 1: chat memory

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
