"""``RivalFile``: the export of another memory tool; the functions read its untyped JSON."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.input.json_value import Json, JsonObject, json_object
from chatmemory.input.made_id import made_id
from chatmemory.input.rules import MAX_ID_CHARACTERS
from chatmemory.longterm.memories import EarlierContent, Memory, MemoryRole, Provenance
from chatmemory.programs.archive.records import MemoryRecord, Record, RejectedRecord

Arrivals: TypeAlias = Iterator[Record | RejectedRecord]

UNDATED: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of records that the export does not date: before all others."""


SQLITE: Final = b"SQLite format 3\0"
"""The first bytes of a SQLite file."""


Rows: TypeAlias = Callable[[Path, str, Sequence[str], str], Iterator[tuple[Any, ...]]]
"""Yields the rows of a table of a SQLite file, which is only read; another program may be writing to it.

Its arguments are the file, the table, the names of the columns, and those that order the rows, or ``rowid``.  A table that the
file lacks has no rows, a column that the table lacks is None in each row.  It raises ``ValueError`` if the file is damaged.
"""


@frozen
class RivalFile:
    """The file of another tool's export, and the reader of SQLite tables in it."""

    path: Path
    rows_of: Rows

    @property
    def is_sqlite(self) -> bool:
        """Whether the file is a SQLite file, by its first bytes."""
        with self.path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE

    def rows(self, table: str, columns: Sequence[str], order: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table, see ``Rows``."""
        return self.rows_of(self.path, table, columns, order)


def remembered(
    tool: str,
    memory_id: str,
    content: str,
    namespace: Namespace,
    created_at: datetime,
    *,
    path: str,
    superseded_at: datetime | None = None,
    role: MemoryRole = "user",
    session_id: str | None = None,
    key: str | None = None,
    value: Json = None,
    tags: tuple[str, ...] = (),
    earlier: tuple[EarlierContent, ...] = (),
) -> MemoryRecord:
    """Return a long-term memory that *tool* inferred, so that it is recalled and decays."""
    memory = Memory(
        memory_id,
        namespace,
        content,
        key=key,
        value=value,
        category=None,
        tags=tags,
        confidence=1.0,
        source="inferred",
        role=role,
        session_id=session_id,
        memory_type="long_term",
        pinned=False,
        provenance=Provenance((), tool, path),
        created_at=created_at,
        superseded_at=superseded_at,
        version=1 + len(earlier),
    )
    return MemoryRecord(memory=memory, earlier=earlier, dedup_key=None, vector=None)


def text_of(value: Json) -> str | None:
    """Return a text without the characters that a store cannot keep, or None if it is empty or not a text."""
    if not isinstance(value, str) or not value.strip():
        return None
    return value.replace("\0", "").encode("utf-8", "replace").decode()


def spoken(content: Json) -> str:
    """Return the readable text of a message's content, which is a text or a list of parts with texts."""
    if isinstance(content, str):
        return text_of(content) or ""
    if isinstance(content, list):
        return "\n".join(filter(None, map(spoken, content)))
    part = json_object(content)
    found = next((part[name] for name in ("text", "refusal", "transcript", "content") if name in part), None)
    return "" if found is None else spoken(found)


def object_of(value: Json) -> JsonObject | None:
    """Return a JSON object that has members, or None for anything else."""
    return json_object(value) or None


def id_of(value: Json, *otherwise: str) -> str:
    """Return *value* if it is a valid id, else an id derived from *otherwise*, the same in each import."""
    if isinstance(value, str) and value.strip() and "\0" not in value and len(value) <= MAX_ID_CHARACTERS:
        return value
    return made_id(*otherwise)


def json_of(path: Path) -> Json:
    """Read a file of JSON, or of JSON Lines as a list.

    Raises:
        ValueError: the file is neither.
        OSError: the file cannot be read.
    """
    text = path.read_text(encoding="utf-8-sig")
    try:
        return cast("Json", json.loads(text))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:  # noqa: PLR2004  one line is not a list
            raise
        return [json.loads(line) for line in lines]
