"""Writes of past chats other than turns: vectors of another model, a new index of words, records of runs.

``without_vector`` and ``torn`` find the turns that need a vector.
"""

import json
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from attrs import asdict

from chatmemory.pastchats.past_chats import IndexReport
from chatmemory_layers.sqlite.engine.migrations import transaction
from chatmemory_layers.sqlite.memories.merged_words import rebuild_words
from chatmemory_layers.sqlite.prompts.packed_vectors import PackedVector, vector_rows
from chatmemory_layers.sqlite.prompts.prompt_codes import pack_codes
from chatmemory_layers.sqlite.prompts.prompt_row import instant_text

if TYPE_CHECKING:
    from chatmemory.embedding.embedder import Matrix

KEPT_RUNS: Final = 1_000

INSERT_MODEL = "INSERT OR IGNORE INTO prompt_models (model, dim) VALUES (:model, :dim)"
# A turn may have been deleted since it was read; then its vector is not written.
REPLACE_VECTOR = """
INSERT INTO prompt_vectors (prompt_id, model_key, dense, squares, vector, made_at)
SELECT :prompt_id, model_key, :dense, :squares, :vector, CAST(strftime('%s', 'now') AS INTEGER) FROM prompt_models
WHERE model = :model AND dim = :dim AND EXISTS (SELECT 1 FROM prompts WHERE id = :prompt_id)
ON CONFLICT (prompt_id) DO UPDATE SET
    model_key = excluded.model_key, dense = excluded.dense, squares = excluded.squares, vector = excluded.vector,
    made_at = excluded.made_at
"""
REPLACE_CODE = """
INSERT INTO prompt_codes (prompt_id, model_key, code)
SELECT :prompt_id, model_key, :code FROM prompt_models
WHERE model = :model AND dim = :dim AND EXISTS (SELECT 1 FROM prompts WHERE id = :prompt_id)
ON CONFLICT (prompt_id) DO UPDATE SET model_key = excluded.model_key, code = excluded.code
"""
# Old runs are deleted: a watch adds one every few seconds, for years.
DELETE_OLD_RUNS = "DELETE FROM index_runs WHERE id <= (SELECT max(id) FROM index_runs) - :kept"

COUNT_PROMPTS = "SELECT count(*) FROM prompts"

INSERT_RUN = """
INSERT INTO index_runs (
    started_at, finished_at, files, failed, new, updated, unchanged, duplicates, superseded, report_json
)
VALUES (
    :started_at, :finished_at, :files, :failed, :new, :updated, :unchanged, :duplicates, :superseded, :report_json
)
"""

SELECT_WITHOUT_VECTOR = """
SELECT prompts.id, prompts.content
FROM (
    SELECT prompt_id FROM prompt_models CROSS JOIN prompt_vectors ON prompt_vectors.model_key = prompt_models.model_key
    WHERE prompt_models.model <> :model LIMIT :limit
) CROSS JOIN prompts ON prompts.id = prompt_id
ORDER BY prompts.id
"""
SELECT_WITHOUT_ROW = """
SELECT id, content FROM prompts
WHERE NOT EXISTS (SELECT 1 FROM prompt_vectors WHERE prompt_id = id)
    OR NOT EXISTS (SELECT 1 FROM prompt_codes WHERE prompt_id = id)
    OR id IN (SELECT value FROM json_each(:torn))
ORDER BY id LIMIT :limit
"""
SELECT_VECTORS = """
SELECT prompt_id, dim, dense, squares, vector FROM prompt_vectors JOIN prompt_models USING (model_key)
"""


def re_embed(connection: sqlite3.Connection, ids: Sequence[int], vectors: "Matrix", *, model: str) -> None:
    """Replace the vectors of the rows *ids* by *vectors*, shape ``(len(ids), dim)``."""
    rows = [
        {"prompt_id": prompt_id, "model": model, **row._asdict()}
        for prompt_id, row in zip(ids, vector_rows(vectors), strict=True)
    ]
    with transaction(connection):
        for row in rows[:1]:
            connection.execute(INSERT_MODEL, row)
        connection.executemany(REPLACE_VECTOR, rows)
        connection.executemany(REPLACE_CODE, rows)


def reindex_words(connection: sqlite3.Connection) -> int:
    """Rebuild the index of words; return the number of turns."""
    with transaction(connection):
        rebuild_words(connection.execute, "prompts_fts")
        (count,) = connection.execute(COUNT_PROMPTS).fetchone()
    return int(count)


def record_run(connection: sqlite3.Connection, report: IndexReport) -> None:
    """Add a row to ``index_runs``, which keeps the last ``KEPT_RUNS``, and pack the codes that the run added into blocks."""
    with transaction(connection):
        connection.execute(INSERT_RUN, _run_row(report))
        connection.execute(DELETE_OLD_RUNS, {"kept": KEPT_RUNS})
        pack_codes(connection)


def _run_row(report: IndexReport) -> dict[str, object]:
    detail = {
        "read": dict(report.read),
        "unchanged_files": report.unchanged,
        "not_histories": report.not_histories,
        "missing": report.missing,
        "redacted": report.redacted,
        "unknown_records": dict(report.unknown_records),
        "issues": list(map(str, report.issues)),
        "seconds": report.seconds,
    }
    return {
        "started_at": instant_text(report.started_at),
        "finished_at": instant_text(report.started_at + timedelta(seconds=report.seconds)),
        "files": report.files,
        "failed": report.failed,
        **asdict(report.turns),
        "report_json": json.dumps(detail),
    }


def without_vector(connection: sqlite3.Connection, model: str, *, limit: int) -> tuple[tuple[int, str], ...]:
    """Return rows whose vector is of another model; when there are none left, those whose vector is damaged."""
    asked = {"model": model, "limit": max(limit, 0)}
    rows = (
        connection.execute(SELECT_WITHOUT_VECTOR, asked).fetchall()
        or connection.execute(SELECT_WITHOUT_ROW, {**asked, "torn": json.dumps(torn(connection))}).fetchall()
    )
    return tuple((prompt_id, content) for prompt_id, content in rows)


def torn(connection: sqlite3.Connection) -> list[int]:
    """Return the rows whose vector is damaged."""
    return [
        prompt_id
        for prompt_id, dim, *columns in connection.execute(SELECT_VECTORS)
        if not PackedVector(*columns).is_whole(dim)
    ]
