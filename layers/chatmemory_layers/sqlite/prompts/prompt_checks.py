"""``check``: the health checks of an index of past chats, which ``doctor`` prints; they write nothing.

==== ======================================================================
code what is checked
==== ======================================================================
D001 SQLite's version, and its known defects
D002 the file itself, page by page
D003 the index of words against the turns
D004 every turn has one whole vector and one code, and no vector is without a turn
D005 rows that refer to missing rows
D006 vectors of other models than the present one
D007 the log: whether writers and readers can work at the same time
D008 who may read the file
D009 sources that are gone, and turns that their sources no longer hold
D010 free space on the disk
D011 texts against their hashes: SQLite itself does not notice a changed letter
D012 known stores that the last run could not read
D013 turns that are dated in the future
==== ======================================================================

A code is never given to another check.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Final, final

from attrs import frozen

from chatmemory.pastchats.indexing.prompt_drafts import text_hash
from chatmemory.pastchats.past_chats import Finding
from chatmemory.pastchats.prompt import CLOCK_SKEW
from chatmemory_layers.sqlite.engine.file_checks import MOST_COMPLAINTS, Seen, damage, findings, privacy, room
from chatmemory_layers.sqlite.engine.file_connection import connect
from chatmemory_layers.sqlite.engine.sqlite_problem import DRIVER_ERRORS, PRIMARY_CODE
from chatmemory_layers.sqlite.prompts.packed_vectors import NO_MODEL
from chatmemory_layers.sqlite.prompts.prompt_conversations import bytes_on_disk
from chatmemory_layers.sqlite.prompts.prompt_row import instant_text
from chatmemory_layers.sqlite.prompts.prompt_writes import torn

FIRST_WITHOUT_RESET_BUG: Final = (3, 51, 3)
"""Before this version, two connections that write or empty the log at the same moment could damage the file (since 3.7.0)."""

LOCK_SECONDS: Final = 2.0

# With rank 1, FTS5 compares the index with the rows.  Without it, an index that has lost rows passes.
CHECK_WORDS = "INSERT INTO prompts_fts (prompts_fts, rank) VALUES ('integrity-check', 1)"
COUNT_WORDS = """
SELECT count(*) FROM prompts_fts_docsize AS entry
WHERE NOT EXISTS (SELECT 1 FROM prompts WHERE prompts.id = entry.id)
UNION ALL
SELECT count(*) FROM prompts WHERE NOT EXISTS (SELECT 1 FROM prompts_fts_docsize WHERE id = prompts.id)
"""
COUNT_ROWS = """
SELECT
    (SELECT count(*) FROM prompts),
    (SELECT count(*) FROM prompts WHERE NOT EXISTS (SELECT 1 FROM prompt_vectors WHERE prompt_id = id)),
    (SELECT count(*) FROM prompts WHERE NOT EXISTS (SELECT 1 FROM prompt_codes WHERE prompt_id = id)),
    (SELECT count(*) FROM prompt_vectors WHERE NOT EXISTS (SELECT 1 FROM prompts WHERE id = prompt_id))
    + (SELECT count(*) FROM prompt_codes WHERE NOT EXISTS (SELECT 1 FROM prompts WHERE id = prompt_id))
"""
CHECK_REFERENCES = "PRAGMA foreign_key_check"
COUNT_MODELS = """
SELECT model, count(*) FROM prompt_vectors JOIN prompt_models USING (model_key)
WHERE model <> :model GROUP BY model ORDER BY model
"""
# Counted as prune counts them.
COUNT_ABANDONED = """
SELECT
    (SELECT count(DISTINCT source_path) FROM prompts CROSS JOIN prompt_sources USING (source_path) WHERE status = 'missing'),
    (SELECT count(*) FROM prompts CROSS JOIN prompt_sources USING (source_path)
     WHERE status = 'missing' AND superseded_at IS NULL),
    (SELECT count(*) FROM prompts WHERE superseded_at IS NOT NULL)
"""
COUNT_EMPTIED = """
SELECT count(DISTINCT source_path), count(*) FROM prompt_sources CROSS JOIN prompts USING (source_path)
WHERE status = 'skipped' AND superseded_at IS NULL
"""
SELECT_UNREAD = """
SELECT source_path, substr(issue, 11) FROM prompt_sources
WHERE status = 'skipped' AND issue LIKE 'not_read: %' ORDER BY source_path
"""
COUNT_LATER = "SELECT count(*), min(source_path), max(timestamp) FROM prompts WHERE timestamp > :now AND timestamp < ':'"
SELECT_TEXTS = "SELECT id, content, text_hash FROM prompts"


@final
@frozen
class Examined:
    """An index under examination.

    Attributes:
        path: the path of the file; None: it is in memory.
        model: the name of the present embedder's model.
        native: the driver of *connection*.
    """

    connection: sqlite3.Connection
    path: Path | None
    model: str
    native: ModuleType

    def counts(self, statement: str) -> list[int]:
        """Return the numbers that a statement selects, row by row."""
        return [count for row in self.connection.execute(statement).fetchall() for count in row]


def check(
    connection: sqlite3.Connection, *, path: Path | None, model: str, native: ModuleType
) -> tuple[Finding, ...]:
    """Make all checks of the table above; return at least one finding for each code that applies."""
    examined = Examined(connection, path, model, native)
    return tuple(findings(_CHECKS, _START_ANEW, (*DRIVER_ERRORS, native.Error, OSError), examined))


_START_ANEW: Final = "export what can be read (pastchats-memory export), move the file away, and index again"
_REINDEX: Final = "pastchats-memory reindex"
_RE_EMBED: Final = "pastchats-memory re-embed"


def _version(examined: Examined) -> Iterator[Seen]:
    version = f"SQLite {examined.native.sqlite_version}"
    # No warning: nearly every machine has an older version, and a warning that always appears is not read.
    if examined.native.sqlite_version_info < FIRST_WITHOUT_RESET_BUG:
        version += (
            " (before 3.51.3, two processes that write at the same moment might, very rarely, damage a file)"
        )
    yield "ok", version, ""


def _pages(examined: Examined) -> Iterator[Seen]:
    if complaints := damage(examined.connection):
        is_of_words = all("fts5" in text.lower() for text in complaints)
        repair = _REINDEX if is_of_words else _START_ANEW
        yield "error", f"the file is damaged: {'; '.join(complaints)}", repair
    else:
        yield "ok", "the file is whole", ""


def _words(examined: Examined) -> Iterator[Seen]:
    is_true, how = _words_are_true(examined), ""
    if is_true is None:
        is_true, how = not any(examined.counts(COUNT_WORDS)), " (counted only: the file cannot be locked)"
    if is_true:
        yield "ok", f"the index of words agrees with the turns{how}", ""
    else:
        yield "error", f"the index of words does not agree with the turns{how}", _REINDEX


def _words_are_true(examined: Examined) -> bool | None:
    """Return whether the index of words agrees with the rows, word by word; None: the file cannot be locked.

    SQLite treats the comparison as a write, though it writes nothing: so it needs a connection that may write, and is rolled
    back.
    """
    if examined.path is None:
        return _compared(examined.connection, examined.native)
    try:
        writer = connect(
            examined.path, mode="rw", timeout_seconds=LOCK_SECONDS, driver=examined.native, any_thread=True
        )
    except examined.native.OperationalError:
        return None
    try:
        return _compared(writer, examined.native)
    finally:
        writer.close()


def _compared(connection: sqlite3.Connection, native: ModuleType) -> bool | None:
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(CHECK_WORDS)
        finally:
            connection.execute("ROLLBACK")
    except native.DatabaseError as error:
        # Only messages of SQLite have a code, not messages of the module.
        if getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE == sqlite3.SQLITE_CORRUPT:
            return False
        if isinstance(error, native.OperationalError):
            return None
        raise
    return True


def _vectors(examined: Examined) -> Iterator[Seen]:
    prompts, without_vector, without_code, orphans = examined.counts(COUNT_ROWS)
    broken = len(torn(examined.connection))
    if without_vector or without_code or broken:
        message = f"of {prompts} turns, {without_vector} have no vector, {broken} a broken one, and {without_code} no code"
        yield "error", message, _RE_EMBED
    elif not orphans:
        yield "ok", f"{prompts} turns, each with one vector", ""
    if orphans:
        yield "error", f"{orphans} vectors or codes are of no turn", _START_ANEW


def _references(examined: Examined) -> Iterator[Seen]:
    complaints = examined.connection.execute(CHECK_REFERENCES).fetchall()
    if complaints:
        tables = ", ".join(sorted({table for table, *_ in complaints}))
        yield "error", f"{len(complaints)} rows of {tables} refer to missing rows", _START_ANEW
    else:
        yield "ok", "all references are valid", ""


def _models(examined: Examined) -> Iterator[Seen]:
    if examined.model == NO_MODEL:
        yield "ok", "the present embedder makes no vectors: words alone are compared", ""
        return
    others = examined.connection.execute(COUNT_MODELS, {"model": examined.model}).fetchall()
    for model, count in others:
        of = "no vector" if model == NO_MODEL else f"a vector of {model}"
        yield (
            "warning",
            f"{count} turns have {of}, not of {examined.model}: only their words are found",
            _RE_EMBED,
        )
    if not others:
        yield "ok", f"all vectors are of {examined.model}", ""


def _journal(examined: Examined) -> Iterator[Seen]:
    (mode,) = examined.connection.execute("PRAGMA journal_mode").fetchone()
    if mode in {"wal", "memory"}:
        yield "ok", f"journal mode {mode}", ""
    else:
        message = f"journal mode {mode}: searches wait while an index run writes"
        yield "warning", message, "keep the file on a local disk, then run pastchats-memory index"


def _privacy(examined: Examined) -> Iterator[Seen]:
    return iter(()) if examined.path is None else privacy(examined.path)


def _abandoned(examined: Examined) -> Iterator[Seen]:
    missing, alone, superseded = examined.counts(COUNT_ABANDONED)
    emptied, turns = examined.counts(COUNT_EMPTIED)
    if alone or superseded:
        message = (
            f"{missing} sources are gone with {alone} turns, {superseded} turns are no longer in their sources; "
            "all of it is still found"
        )
        yield "ok", message, "pastchats-memory prune deletes these turns, if you want that"
    elif not emptied:
        yield "ok", "the last runs of index found every turn in its source", ""
    if emptied:
        message = (
            f"{turns} turns are of files that no longer hold a chat history ({emptied}); they are still found"
        )
        yield "ok", message, "pastchats-memory forget --source FILE deletes these turns, if you want that"


def _room(examined: Examined) -> Iterator[Seen]:
    return iter(()) if examined.path is None else room(examined.path, bytes_on_disk(examined.path))


def _texts(examined: Examined) -> Iterator[Seen]:
    changed = [
        prompt_id
        for prompt_id, content, kept_hash in examined.connection.execute(SELECT_TEXTS)
        if not isinstance(content, str) or text_hash(content) != kept_hash
    ]
    if changed:
        some = ", ".join(map(str, changed[:MOST_COMPLAINTS]))
        message = f"{len(changed)} texts are not what was indexed (rows {some}{' ...' if changed[MOST_COMPLAINTS:] else ''})"
        yield "error", message, "pastchats-memory index --full, then pastchats-memory reindex"
    else:
        yield "ok", "every text is what was indexed", ""


def _unread(examined: Examined) -> Iterator[Seen]:
    folders: dict[tuple[str, str], list[str]] = {}
    for source, detail in examined.connection.execute(SELECT_UNREAD).fetchall():
        folders.setdefault((str(Path(source).parent), detail), []).append(source)
    for (_, detail), (source, *others) in folders.items():
        more = f" and {len(others)} more beside it" if others else ""
        message = f"not read: {source}{more}: {detail}"
        yield "warning", message, "export its chats with its tool, then index the file"


def _later(examined: Examined) -> Iterator[Seen]:
    now = instant_text(datetime.now(UTC) + CLOCK_SKEW)
    count, source, latest = 0, "", ""
    with suppress(*DRIVER_ERRORS, examined.native.Error):  # D002 tells of the damage
        count, source, latest = examined.connection.execute(COUNT_LATER, {"now": now}).fetchone()
    if count:
        message = (
            f"{count} turns are dated in the future, up to {latest} ({source} ...); they are never the newest"
        )
        yield "warning", message, "check the clock of the machine that wrote them"


_CHECKS: Final[Mapping[str, Callable[[Examined], Iterator[Seen]]]] = {
    "D001": _version,
    "D002": _pages,
    "D003": _words,
    "D004": _vectors,
    "D005": _references,
    "D006": _models,
    "D007": _journal,
    "D008": _privacy,
    "D009": _abandoned,
    "D010": _room,
    "D011": _texts,
    "D012": _unread,
    "D013": _later,
}
