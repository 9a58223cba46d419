"""The third step of an index of past chats: vectors are stored without their zeros, and without their JSON.

A vector as JSON takes four times the space of a packed one, and no search reads it.  ``prompt_embeddings`` is now a view
with the columns that it had as a table.  It computes ``vector_json`` when a query asks for it.  The view is SQL alone, so
every program that opens the file can read it.
"""

from typing import Final

# A row as packed_vectors.py makes it.  made_at: in seconds since 1970; NULL: the same as the time of its turn.
CREATE_VECTORS = """
CREATE TABLE prompt_vectors (
    prompt_id INTEGER PRIMARY KEY,
    model_key INTEGER NOT NULL,
    dense INTEGER NOT NULL,
    squares INTEGER NOT NULL,
    vector BLOB NOT NULL,
    made_at INTEGER,
    FOREIGN KEY (prompt_id) REFERENCES prompts (id) ON DELETE CASCADE
)
"""
KEEP_MODELS = (
    "INSERT OR IGNORE INTO prompt_models (model, dim) SELECT DISTINCT model, dim FROM prompt_embeddings"
)
# A damaged vector stays damaged: it is too short to be packed, and re-embed makes it again.
KEEP_VECTORS = """
INSERT INTO prompt_vectors (prompt_id, model_key, dense, squares, vector, made_at)
SELECT
    former.prompt_id, prompt_models.model_key,
    packed_dense(former.vector), packed_squares(former.vector), packed_numbers(former.vector),
    CASE WHEN former.created_at IS NOT prompts.created_at THEN CAST(strftime('%s', former.created_at) AS INTEGER) END
FROM prompt_embeddings AS former
JOIN prompt_models ON prompt_models.model = former.model AND prompt_models.dim = former.dim
LEFT JOIN prompts ON prompts.id = former.prompt_id
ORDER BY former.prompt_id
"""
DROP_REMAINS = "DROP TRIGGER prompts_remains"
DROP_EMBEDDINGS = "DROP TABLE prompt_embeddings"
CREATE_VECTORS_MODEL = "CREATE INDEX prompt_vectors_model ON prompt_vectors (model_key)"
CREATE_REMAINS = """
CREATE TRIGGER prompts_remains AFTER DELETE ON prompts
BEGIN
    DELETE FROM prompt_vectors WHERE prompt_id = old.id;
    DELETE FROM prompt_codes WHERE prompt_id = old.id;
    DELETE FROM prompt_aliases WHERE prompt_id = old.id;
END
"""

# number: the position of a number in the vector; bits: the byte with its bit, which says whether it is stored; byte: where
# it is stored.  SQL can read the value of a byte only from its two hexadecimal digits.
CREATE_EMBEDDINGS = """
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
FROM prompt_vectors AS kept JOIN prompt_models AS models ON models.model_key = kept.model_key
"""
# A program that deletes a row of the former table can still delete it.
CREATE_EMBEDDINGS_DELETE = """
CREATE TRIGGER prompt_embeddings_delete INSTEAD OF DELETE ON prompt_embeddings
BEGIN
    DELETE FROM prompt_vectors WHERE prompt_id = old.prompt_id;
END
"""

# A hash is searched by its beginning, then compared whole: the index has a third of the size.
DROP_TEXT = "DROP INDEX prompts_text"
CREATE_TEXT_START = "CREATE INDEX prompts_text ON prompts (substr(text_hash, 1, 12))"

PACKED_STATEMENTS: Final = (
    CREATE_VECTORS,
    KEEP_MODELS,
    KEEP_VECTORS,
    DROP_REMAINS,
    DROP_EMBEDDINGS,
    CREATE_VECTORS_MODEL,
    CREATE_REMAINS,
    CREATE_EMBEDDINGS,
    CREATE_EMBEDDINGS_DELETE,
    DROP_TEXT,
    CREATE_TEXT_START,
)
"""The statements that reduce a store to a third of its size."""
