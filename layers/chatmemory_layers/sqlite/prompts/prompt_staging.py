"""Stages the turns of one source on their way into the store, in a file beside it that only this connection can use.

While a long source is read and embedded, staged turns need neither memory nor the lock of the store.  They disappear with
the process, because the file is unlinked.  Temporary tables would do, but some builds of SQLite
(``pysqlite3-binary``) keep them in memory, 1 GB for a history of 100 MB.  ``prompt_commit.py`` turns them into rows.
"""

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Final

from chatmemory.embedding.embedder import Vector
from chatmemory.input.json_value import Json
from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft
from chatmemory_layers.sqlite.engine.migrations import transaction
from chatmemory_layers.sqlite.prompts.packed_vectors import NO_MODEL, vector_rows
from chatmemory_layers.sqlite.prompts.prompt_row import ALIASES, NO_ALIASES, instant_text, plain

SELECT_FILE = "SELECT file FROM pragma_database_list WHERE name = 'main'"
CREATE_STAGED = """
CREATE TABLE staging.staged_prompts (
    content_hash TEXT NOT NULL UNIQUE,
    source_path TEXT NOT NULL,
    source_project TEXT NOT NULL,
    format TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    session TEXT NOT NULL,
    turn_index INTEGER NOT NULL,
    role TEXT NOT NULL,
    kind TEXT NOT NULL,
    speaker TEXT,
    content TEXT NOT NULL,
    timestamp TEXT,
    text_hash TEXT NOT NULL,
    search_terms TEXT NOT NULL,
    metadata_json TEXT,
    aliases TEXT NOT NULL,
    is_superseded INTEGER NOT NULL,
    model TEXT NOT NULL
)
"""
# What the commit finds out about each turn.  Apart from the texts: a page that a transaction changes is written twice.
CREATE_FATES = """
CREATE TABLE staging.staged_fates (
    place INTEGER PRIMARY KEY,
    prompt_id INTEGER NOT NULL,
    fate TEXT NOT NULL,
    needs_vector INTEGER NOT NULL
)
"""
CREATE_TURNS = """
CREATE VIEW staging.staged_turns AS
SELECT fates.place, fates.prompt_id, fates.fate, fates.needs_vector, staged.*
FROM staged_fates AS fates CROSS JOIN staged_prompts AS staged ON staged.rowid = fates.place
"""
CREATE_STAGED_VECTORS = """
CREATE TABLE staging.staged_vectors (
    text_hash TEXT NOT NULL UNIQUE,
    model TEXT NOT NULL,
    dim INTEGER NOT NULL,
    dense INTEGER NOT NULL,
    squares INTEGER NOT NULL,
    vector BLOB NOT NULL,
    code BLOB NOT NULL
)
"""
# Turns that the source once held and does not hold any more; also those that are about to be deleted.
CREATE_CHOSEN = "CREATE TABLE staging.chosen_prompts (prompt_id INTEGER PRIMARY KEY)"

# Of two turns with the same identity the later one counts, at the position of the earlier one.
STAGE = """
INSERT INTO staging.staged_prompts (
    content_hash, source_path, source_project, format, conversation_id, session, turn_index, role, kind, speaker,
    content, timestamp, text_hash, search_terms, metadata_json, aliases, is_superseded, model
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (content_hash) DO UPDATE SET
    source_path = excluded.source_path, source_project = excluded.source_project, format = excluded.format,
    conversation_id = excluded.conversation_id, session = excluded.session, turn_index = excluded.turn_index,
    role = excluded.role, kind = excluded.kind, speaker = excluded.speaker, content = excluded.content,
    timestamp = excluded.timestamp, text_hash = excluded.text_hash, search_terms = excluded.search_terms,
    metadata_json = excluded.metadata_json, aliases = excluded.aliases,
    is_superseded = excluded.is_superseded, model = excluded.model
"""
STAGE_VECTOR = """
INSERT OR REPLACE INTO staging.staged_vectors (text_hash, model, dim, dense, squares, vector, code)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
CLEAR = (
    "DELETE FROM staging.staged_prompts",
    "DELETE FROM staging.staged_vectors",
    "DELETE FROM staging.chosen_prompts",
)

SELECT_UNCHANGED = """
SELECT asked.key FROM json_each(:hashes) AS asked CROSS JOIN prompts ON prompts.content_hash = asked.key
WHERE prompts.text_hash = asked.value
"""
SELECT_UNEMBEDDED = """
SELECT asked.value FROM json_each(:hashes) AS asked
WHERE NOT EXISTS (
    SELECT 1 FROM prompts
    CROSS JOIN prompt_vectors ON prompt_vectors.prompt_id = prompts.id
    CROSS JOIN prompt_models ON prompt_models.model_key = prompt_vectors.model_key
    WHERE substr(prompts.text_hash, 1, 12) = substr(asked.value, 1, 12)
        AND prompts.text_hash = asked.value AND prompt_models.model = :model
) AND NOT EXISTS (
    SELECT 1 FROM staging.staged_vectors AS staged WHERE staged.text_hash = asked.value AND staged.model = :model
)
"""


# Made once: ``json.dumps`` with these arguments makes an encoder at each call.
_encode: Final = json.JSONEncoder(ensure_ascii=False, default=dict).encode


def prepare_staging(connection: sqlite3.Connection) -> None:
    """Attach the staging file, and create its tables.

    Raises:
        OSError: no file can be created in the folder of the store.
    """
    (store,) = connection.execute(SELECT_FILE).fetchone()
    file = _new_file(Path(store).parent) if store else None
    connection.execute("ATTACH :name AS staging", {"name": ":memory:" if file is None else str(file)})
    for pragma in ("journal_mode = MEMORY", "synchronous = OFF", "secure_delete = OFF"):
        connection.execute(f"PRAGMA staging.{pragma}").fetchall()
    if file is not None:
        with suppress(PermissionError):  # Windows cannot delete an open file
            file.unlink()
    for statement in (CREATE_STAGED, CREATE_STAGED_VECTORS, CREATE_FATES, CREATE_TURNS, CREATE_CHOSEN):
        connection.execute(statement)


def _new_file(folder: Path) -> Path:
    handle, name = mkstemp(prefix=".staging-", dir=folder)
    os.close(handle)
    return Path(name)


def stage(
    connection: sqlite3.Connection,
    turns: Sequence[PromptDraft],
    vectors: Mapping[str, Vector],
    *,
    model: str,
) -> None:
    """Stage *turns*, with *vectors* by the hashes of their texts."""
    rows = zip(vectors, vector_rows(list(vectors.values())), strict=True)
    with transaction(connection, "BEGIN"):
        connection.executemany(STAGE, [_row_of(turn, model) for turn in turns])
        connection.executemany(STAGE_VECTOR, [(text_hash, model, *row) for text_hash, row in rows])


def discard(connection: sqlite3.Connection) -> None:
    """Delete the staged turns."""
    for statement in CLEAR:
        connection.execute(statement)


def unchanged(connection: sqlite3.Connection, hashes: Mapping[str, str]) -> frozenset[str]:
    """Return the identities that are stored with the same text."""
    rows = connection.execute(SELECT_UNCHANGED, {"hashes": json.dumps(dict(hashes))})
    return frozenset(content_hash for (content_hash,) in rows)


def unembedded(connection: sqlite3.Connection, text_hashes: Sequence[str], model: str) -> frozenset[str]:
    """Return the texts that lack a vector of *model*, both stored and staged."""
    if model == NO_MODEL:
        return frozenset()
    asked = {"hashes": json.dumps(list(text_hashes)), "model": model}
    return frozenset(text_hash for (text_hash,) in connection.execute(SELECT_UNEMBEDDED, asked))


def _row_of(turn: PromptDraft, model: str) -> tuple[object, ...]:
    _, aliases = _without_aliases(turn)
    return (
        turn.content_hash,
        plain(turn.source),
        turn.project,
        turn.format,
        turn.conversation_id,
        turn.session,
        turn.turn_index,
        turn.role,
        turn.kind,
        turn.speaker,
        turn.content,
        instant_text(turn.timestamp),
        turn.text_hash,
        turn.search_terms,
        metadata_text(turn),
        _encode(aliases) if aliases else NO_ALIASES,
        turn.is_superseded,
        model,
    )


def metadata_text(turn: PromptDraft) -> str | None:
    """Return the metadata of *turn* without its further sources, as JSON; None: it has none."""
    metadata, _ = _without_aliases(turn)
    return _encode(metadata) if metadata else None


def _without_aliases(turn: PromptDraft) -> tuple[Mapping[str, Json], list[str]]:
    """Separate the metadata from the further sources, which an export has put into it."""
    named = turn.metadata.get(ALIASES)
    if named is None:
        return turn.metadata, []
    metadata = {key: value for key, value in turn.metadata.items() if key != ALIASES}
    if not isinstance(named, Sequence) or isinstance(named, str):
        return metadata, []
    return metadata, [alias for alias in named if isinstance(alias, str) and alias != turn.source]
