"""``commit_source``: turns the staged turns of a source into rows, in one transaction; ``sources``: what was committed.

First the fate of each staged turn is decided.  Then each fate is one statement over all of its turns; rows that stay the
same are not written.  The fates:

``new``        the identity is not stored yet
``kept``       it is stored unchanged, from this source; or the turns are imported from elsewhere, and it is stored
``updated``    it is stored from this source, which now has another text
``moved``      it is stored from a source with a shorter text, or one that no longer holds it: it now belongs to this source
``same``       it is stored from another source: this source is recorded as a further one
"""

import json
import sqlite3
from collections.abc import Callable, Collection
from typing import Final

from attrs import asdict, evolve

from chatmemory.input.choices import Role
from chatmemory.pastchats.indexing.prompt_drafts import (
    PromptDraft,
    SourceChanges,
    SourceState,
    without_kinds,
)
from chatmemory.pastchats.prompt import TurnKind
from chatmemory_layers.sqlite.engine.migrations import transaction
from chatmemory_layers.sqlite.prompts.prompt_conversations import RECORD_COLUMNS, record_of
from chatmemory_layers.sqlite.prompts.prompt_order import NUMBER_STAGED
from chatmemory_layers.sqlite.prompts.prompt_row import plain
from chatmemory_layers.sqlite.prompts.prompt_staging import discard, metadata_text

WRITTEN_AT_ONCE: Final = (
    2_000  # turns; SQLite first copies what a statement with triggers writes, in some builds in memory
)

# The source of an import was not read itself: its turns are added, and change nothing that is stored.
FORGET_FORGETTING = """
DELETE FROM prompt_forgotten WHERE content_hash IN (SELECT content_hash FROM staging.staged_prompts)
"""
# Ids are chosen before rows are written, so that they need not be looked up afterwards; gaps do no harm.
FIND_FATES = """
INSERT INTO staging.staged_fates (place, prompt_id, fate, needs_vector)
SELECT place, prompt_id, fate, fate IN ('new', 'updated', 'moved') AND is_another_text
FROM (
    SELECT
        staged.rowid AS place,
        coalesce(
            kept.id, staged.rowid + coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = 'prompts'), 0)
        ) AS prompt_id,
        kept.text_hash IS NOT staged.text_hash AS is_another_text,
        CASE
            WHEN kept.id IS NULL THEN 'new'
            WHEN :only_adds THEN 'kept'
            WHEN kept.source_path <> staged.source_path THEN
                CASE
                    WHEN kept.superseded_at IS NOT NULL OR length(staged.content) > length(kept.content)
                    THEN 'moved'
                    ELSE 'same'
                END
            WHEN kept.superseded_at IS NULL
                AND kept.text_hash IS staged.text_hash AND kept.content IS staged.content
                AND coalesce(kept.place, kept.turn_index) IS staged.turn_index AND kept.role IS staged.role
                AND kept.kind IS staged.kind AND kept.conversation_id IS staged.conversation_id
                AND kept.session IS staged.session AND kept.speaker IS staged.speaker
                AND kept.timestamp IS staged.timestamp AND kept.format IS staged.format
                AND kept.source_project IS staged.source_project
                AND kept.search_terms IS staged.search_terms AND kept.metadata_json IS staged.metadata_json
            THEN 'kept'
            ELSE 'updated'
        END AS fate
    FROM staging.staged_prompts AS staged LEFT JOIN main.prompts AS kept ON kept.content_hash = staged.content_hash
    WHERE NOT EXISTS (SELECT 1 FROM prompt_forgotten WHERE content_hash = staged.content_hash)
)
"""
CLEAR_FATES = "DELETE FROM staging.staged_fates"
COUNT_FATES = "SELECT fate, count(*) FROM staging.staged_fates GROUP BY fate"

SELECT_LAST_PLACE = "SELECT max(place) FROM staging.staged_fates"
INSERT_NEW = """
INSERT INTO prompts (
    id, source_path, source_project, conversation_id, turn_index, role, content, timestamp, content_hash,
    metadata_json, format, session, kind, speaker, text_hash, search_terms,
    superseded_at
)
SELECT
    prompt_id, source_path, source_project, conversation_id, turn_index, role, content, timestamp, content_hash,
    metadata_json, format, session, kind, speaker, text_hash, search_terms,
    CASE WHEN is_superseded THEN CURRENT_TIMESTAMP END
FROM staging.staged_turns WHERE fate = 'new' AND place BETWEEN :first AND :last ORDER BY place
"""
INSERT_THEIR_ALIASES = """
INSERT OR IGNORE INTO prompt_aliases (source_path, prompt_id)
SELECT alias.value, staged.prompt_id FROM staging.staged_turns AS staged, json_each(staged.aliases) AS alias
WHERE staged.fate = 'new' AND staged.aliases <> '[]'
"""

KEEP_FORMER_SOURCES = """
INSERT OR IGNORE INTO prompt_aliases (source_path, prompt_id)
SELECT prompts.source_path, prompts.id
FROM staging.staged_fates AS staged CROSS JOIN prompts ON prompts.id = staged.prompt_id
WHERE staged.fate = 'moved' AND prompts.superseded_at IS NULL
"""
UPDATE_CHANGED = """
UPDATE prompts SET
    source_path = staged.source_path, source_project = staged.source_project,
    conversation_id = staged.conversation_id, turn_index = staged.turn_index, place = NULL, role = staged.role,
    content = staged.content, timestamp = staged.timestamp, metadata_json = staged.metadata_json,
    format = staged.format, session = staged.session, kind = staged.kind, speaker = staged.speaker,
    text_hash = staged.text_hash, search_terms = staged.search_terms, superseded_at = NULL
FROM staging.staged_turns AS staged
WHERE prompts.id = staged.prompt_id AND staged.fate IN ('updated', 'moved') AND staged.place BETWEEN :first AND :last
"""
DELETE_OWN_ALIASES = """
DELETE FROM prompt_aliases
WHERE source_path = :source
    AND prompt_id IN (SELECT prompt_id FROM staging.staged_fates WHERE fate = 'moved')
"""
INSERT_ALIASES = """
INSERT OR IGNORE INTO prompt_aliases (source_path, prompt_id)
SELECT source_path, prompt_id FROM staging.staged_turns WHERE fate = 'same'
"""

COUNT_WANTED = "SELECT count(*) FROM staging.staged_fates WHERE needs_vector"
INSERT_MODELS = """
INSERT OR IGNORE INTO prompt_models (model, dim)
SELECT DISTINCT model, dim FROM staging.staged_vectors UNION SELECT 'none', 0
"""
DELETE_FORMER_VECTORS = """
DELETE FROM prompt_vectors WHERE prompt_id IN (
    SELECT prompt_id FROM staging.staged_fates WHERE needs_vector AND fate <> 'new'
)
"""
DELETE_FORMER_CODES = """
DELETE FROM prompt_codes WHERE prompt_id IN (
    SELECT prompt_id FROM staging.staged_fates WHERE needs_vector AND fate <> 'new'
)
"""
INSERT_VECTORS = """
INSERT INTO prompt_vectors (prompt_id, model_key, dense, squares, vector, made_at)
SELECT
    staged.prompt_id, prompt_models.model_key, made.dense, made.squares, made.vector,
    CASE WHEN staged.fate <> 'new' THEN CAST(strftime('%s', 'now') AS INTEGER) END
FROM staging.staged_turns AS staged
CROSS JOIN staging.staged_vectors AS made ON made.text_hash = staged.text_hash AND made.model = staged.model
CROSS JOIN prompt_models ON prompt_models.model = made.model AND prompt_models.dim = made.dim
WHERE staged.needs_vector ORDER BY staged.place
"""
INSERT_CODES = """
INSERT INTO prompt_codes (prompt_id, model_key, code)
SELECT staged.prompt_id, prompt_models.model_key, made.code
FROM staging.staged_turns AS staged
CROSS JOIN staging.staged_vectors AS made ON made.text_hash = staged.text_hash AND made.model = staged.model
CROSS JOIN prompt_models ON prompt_models.model = made.model AND prompt_models.dim = made.dim
WHERE staged.needs_vector ORDER BY staged.place
"""
# Turns for which no vector was made, because the same text has one elsewhere.
LEAVE_TO_COPY = """
UPDATE staging.staged_fates SET needs_vector = 0
WHERE needs_vector AND EXISTS (SELECT 1 FROM prompt_vectors WHERE prompt_id = staged_fates.prompt_id)
"""
COPY_VECTORS = """
INSERT INTO prompt_vectors (prompt_id, model_key, dense, squares, vector, made_at)
SELECT
    staged.prompt_id, copied.model_key, copied.dense, copied.squares, copied.vector,
    CASE WHEN staged.fate <> 'new' THEN CAST(strftime('%s', 'now') AS INTEGER) END
FROM staging.staged_turns AS staged
CROSS JOIN prompt_vectors AS copied ON copied.prompt_id = (
    SELECT prompts.id FROM prompts
    CROSS JOIN prompt_vectors AS theirs ON theirs.prompt_id = prompts.id
    CROSS JOIN prompt_models ON prompt_models.model_key = theirs.model_key
    WHERE substr(prompts.text_hash, 1, 12) = substr(staged.text_hash, 1, 12)
        AND prompts.text_hash = staged.text_hash AND prompt_models.model = staged.model LIMIT 1
)
WHERE staged.needs_vector
"""
INSERT_NO_VECTORS = """
INSERT INTO prompt_vectors (prompt_id, model_key, dense, squares, vector)
SELECT prompt_id, (SELECT model_key FROM prompt_models WHERE model = 'none' AND dim = 0), 0, 0, x''
FROM staging.staged_fates AS staged
WHERE needs_vector AND NOT EXISTS (SELECT 1 FROM prompt_vectors WHERE prompt_id = staged.prompt_id)
"""
COPY_CODES = """
INSERT INTO prompt_codes (prompt_id, model_key, code)
SELECT staged.prompt_id, own.model_key, coalesce((
    SELECT prompt_codes.code FROM prompts CROSS JOIN prompt_codes ON prompt_codes.prompt_id = prompts.id
    WHERE substr(prompts.text_hash, 1, 12) = substr(staged.text_hash, 1, 12)
        AND prompts.text_hash = staged.text_hash AND prompt_codes.model_key = own.model_key LIMIT 1
), x'')
FROM staging.staged_turns AS staged
CROSS JOIN prompt_vectors AS own ON own.prompt_id = staged.prompt_id
WHERE staged.needs_vector
"""

# Stored turns of the source that were asked for, and that it no longer holds.
CHOOSE_LOST = """
INSERT INTO staging.chosen_prompts (prompt_id)
SELECT id FROM prompts
WHERE id IN (
    SELECT id FROM prompts WHERE source_path = :source
    UNION SELECT prompt_id FROM prompt_aliases WHERE prompt_aliases.source_path = :source
)
    AND id NOT IN (SELECT prompt_id FROM staging.staged_fates)
    AND (:roles = '[]' OR role IN (SELECT value FROM json_each(:roles)))
    AND (:kinds = '[]' OR kind IN (SELECT value FROM json_each(:kinds)))
"""
DELETE_LOST_ALIASES = """
DELETE FROM prompt_aliases
WHERE source_path = :source AND prompt_id IN (SELECT prompt_id FROM staging.chosen_prompts)
"""
# Turns that another source still holds.
HAND_OVER = """
UPDATE prompts SET
    source_path = (SELECT min(source_path) FROM prompt_aliases WHERE prompt_id = prompts.id), superseded_at = NULL
WHERE id IN (SELECT prompt_id FROM staging.chosen_prompts) AND source_path = :source
    AND EXISTS (SELECT 1 FROM prompt_aliases WHERE prompt_id = prompts.id)
"""
DELETE_HANDED_OVER = """
DELETE FROM prompt_aliases
WHERE prompt_id IN (SELECT prompt_id FROM staging.chosen_prompts)
    AND source_path = (SELECT prompts.source_path FROM prompts WHERE prompts.id = prompt_id)
"""
SUPERSEDE = """
UPDATE prompts SET superseded_at = CURRENT_TIMESTAMP
WHERE id IN (SELECT prompt_id FROM staging.chosen_prompts) AND source_path = :source AND superseded_at IS NULL
"""
SELECT_UNREAD = """
SELECT id FROM prompts WHERE source_path = :source AND id NOT IN (SELECT prompt_id FROM staging.staged_fates)
"""
SELECT_RECORD = f"SELECT {RECORD_COLUMNS} FROM prompts WHERE id = :id"  # noqa: S608  made of a constant
# What the source now says where it said this turn.
SELECT_READ_INSTEAD = """
SELECT staged.content FROM prompts CROSS JOIN staging.staged_prompts AS staged
    ON staged.conversation_id = prompts.conversation_id AND staged.role = prompts.role
    AND staged.turn_index = coalesce(prompts.place, prompts.turn_index)
WHERE prompts.id = :id AND prompts.superseded_at IS NULL
"""
DELETE_TURN = "DELETE FROM prompts WHERE id = :id"
REDACT = """
UPDATE prompts SET
    source_project = :project, content = :content, text_hash = :text_hash, search_terms = :search_terms,
    metadata_json = :metadata
WHERE id = :id
"""
INSERT_NO_MODEL = "INSERT OR IGNORE INTO prompt_models (model, dim) VALUES ('none', 0)"
# Of the text with the secret; ``re_embed`` makes that of the new text.
EMPTY_VECTOR = """
UPDATE prompt_vectors SET
    model_key = (SELECT model_key FROM prompt_models WHERE model = 'none' AND dim = 0), dense = 0, squares = 0, vector = x''
WHERE prompt_id = :id
"""
EMPTY_CODE = """
UPDATE prompt_codes SET
    model_key = (SELECT model_key FROM prompt_models WHERE model = 'none' AND dim = 0), code = x''
WHERE prompt_id = :id
"""

KEEP_STATE = """
INSERT INTO prompt_sources (
    source_path, size_bytes, modified_ns, format, format_version, options, status, issue, also
)
VALUES (:source, :size, :modified_ns, :format, :format_version, :options, :status, :issue, :also)
ON CONFLICT (source_path) DO UPDATE SET
    size_bytes = excluded.size_bytes, modified_ns = excluded.modified_ns, format = excluded.format,
    format_version = excluded.format_version, options = excluded.options, status = excluded.status,
    issue = excluded.issue, also = excluded.also, indexed_at = CURRENT_TIMESTAMP
WHERE NOT :only_adds AND (
    size_bytes, modified_ns, prompt_sources.format, format_version, options, status, issue, also
) IS NOT (
    excluded.size_bytes, excluded.modified_ns, excluded.format, excluded.format_version, excluded.options,
    excluded.status, excluded.issue, excluded.also
)
"""

SELECT_SOURCES = """
SELECT source_path, size_bytes, modified_ns, format, format_version, options, status, issue, also FROM prompt_sources
"""


def commit_source(
    connection: sqlite3.Connection,
    state: SourceState,
    *,
    roles: Collection[Role],
    kinds: Collection[TurnKind],
    redacted: Callable[[PromptDraft], PromptDraft] | None,
) -> SourceChanges:
    """Store the staged turns and *state* in one transaction, and clear the staging area."""
    with transaction(connection):
        changes = _store_staged(connection, state)
        if redacted is not None:
            _redact_unread(connection, state, redacted)
        if state.status == "indexed":  # a source read in part may still hold the other turns
            changes = evolve(changes, superseded=_supersede(connection, state, roles=roles, kinds=kinds))
        connection.execute(NUMBER_STAGED)
        connection.execute(KEEP_STATE, _state_row(state))
        connection.execute(CLEAR_FATES)
    discard(connection)
    return changes


def redact_source(
    connection: sqlite3.Connection, state: SourceState, *, redacted: Callable[[PromptDraft], PromptDraft]
) -> None:
    """Redact the stored turns of a source and store *state* in one transaction."""
    with transaction(connection):
        _redact_unread(connection, state, redacted)
        connection.execute(KEEP_STATE, {**_state_row(state), "only_adds": False})


def _store_staged(connection: sqlite3.Connection, state: SourceState) -> SourceChanges:
    only_adds = state.status == "imported"
    if only_adds:
        connection.execute(FORGET_FORGETTING)
    connection.execute(FIND_FATES, {"only_adds": only_adds})
    fates = dict(connection.execute(COUNT_FATES).fetchall())
    duplicates = 0
    if "new" in fates:
        _write(connection, INSERT_NEW)
        connection.execute(INSERT_THEIR_ALIASES)
    if "updated" in fates or "moved" in fates:
        connection.execute(KEEP_FORMER_SOURCES)
        _write(connection, UPDATE_CHANGED)
        connection.execute(DELETE_OWN_ALIASES, {"source": plain(state.source)})
        connection.execute(DELETE_FORMER_VECTORS)
        connection.execute(DELETE_FORMER_CODES)
    if "same" in fates:
        duplicates = connection.execute(INSERT_ALIASES).rowcount
    if fates.keys() & {"new", "updated", "moved"}:
        _store_vectors(connection)
    return SourceChanges(
        new=fates.get("new", 0),
        updated=fates.get("updated", 0) + fates.get("moved", 0),
        unchanged=fates.get("kept", 0) + fates.get("same", 0) - duplicates,
        duplicates=duplicates,
    )


def _write(connection: sqlite3.Connection, statement: str) -> None:
    """Write all turns that *statement* selects, in portions."""
    (last,) = connection.execute(SELECT_LAST_PLACE).fetchone()
    for first in range(1, last + 1, WRITTEN_AT_ONCE):
        connection.execute(statement, {"first": first, "last": first + WRITTEN_AT_ONCE - 1})


def _store_vectors(connection: sqlite3.Connection) -> None:
    (wanted,) = connection.execute(COUNT_WANTED).fetchone()
    connection.execute(INSERT_MODELS)
    made = connection.execute(INSERT_VECTORS).rowcount
    connection.execute(INSERT_CODES)
    if made < wanted:
        connection.execute(LEAVE_TO_COPY)
        connection.execute(COPY_VECTORS)
        connection.execute(INSERT_NO_VECTORS)
        connection.execute(COPY_CODES)


def _supersede(
    connection: sqlite3.Connection,
    state: SourceState,
    *,
    roles: Collection[Role],
    kinds: Collection[TurnKind],
) -> int:
    source = {"source": plain(state.source)}
    wanted = {"roles": json.dumps(sorted(roles)), "kinds": json.dumps(sorted(kinds))}
    if not connection.execute(CHOOSE_LOST, {**source, **wanted}).rowcount:
        return 0
    connection.execute(DELETE_LOST_ALIASES, source)
    connection.execute(HAND_OVER, source)
    connection.execute(DELETE_HANDED_OVER)
    return connection.execute(SUPERSEDE, source).rowcount


def _redact_unread(
    connection: sqlite3.Connection, state: SourceState, redacted: Callable[[PromptDraft], PromptDraft]
) -> None:
    """Redact the turns that were stored from the source and not read now."""
    connection.execute(INSERT_NO_MODEL)
    for row in connection.execute(SELECT_UNREAD, {"source": plain(state.source)}).fetchall():
        turn = {"id": row[0]}
        _, before, _ = record_of(connection.execute(SELECT_RECORD, turn).fetchone())
        after = redacted(before)
        # A turn without an id has another identity without its secret: it was read and is stored anew.
        instead = () if "native_id" in after.metadata else connection.execute(SELECT_READ_INSTEAD, turn)
        if any(without_kinds(content) == without_kinds(after.content) for (content,) in instead):
            connection.execute(DELETE_TURN, turn)
        elif after != before:
            columns = {
                "project": after.project,
                "content": after.content,
                "text_hash": after.text_hash,
                "search_terms": after.search_terms,
                "metadata": metadata_text(after),
            }
            connection.execute(REDACT, {**turn, **columns})
            if after.text_hash != before.text_hash:
                connection.execute(EMPTY_VECTOR, turn)
                connection.execute(EMPTY_CODE, turn)


def _state_row(state: SourceState) -> dict[str, object]:
    return {
        **asdict(state, recurse=False),
        "source": plain(state.source),
        "also": json.dumps({path: list(seen) for path, seen in state.also.items()}),
        "only_adds": state.status == "imported",
    }


def sources(connection: sqlite3.Connection) -> dict[str, SourceState]:
    """Return the state of every source, by name."""
    return {
        row[0]: SourceState(
            source=row[0],
            size=row[1],
            modified_ns=row[2],
            format=row[3],
            format_version=row[4],
            options=row[5],
            status=row[6],
            issue=row[7],
            also={}
            if row[8] == "{}"
            else {path: (seen[0], seen[1]) for path, seen in json.loads(row[8]).items()},
        )
        for row in connection.execute(SELECT_SOURCES)
    }
