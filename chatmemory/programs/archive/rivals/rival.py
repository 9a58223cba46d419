"""``RivalFile``: the export of another memory tool; the functions read its untyped JSON."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, cast

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.input.json_value import Json, JsonObject
from chatmemory.input.made_id import made_id
from chatmemory.input.rules import MAX_ID_CHARACTERS
from chatmemory.longterm.memories import EarlierContent, Memory, MemoryRole, Provenance
from chatmemory.pastchats.formats.reading.json_walk import json_object
from chatmemory.programs.archive.records import MemoryRecord, Record, Unfit

Arrivals: TypeAlias = Iterator[Record | Unfit]

UNDATED: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of records that the export does not date: before all others."""


SQLITE: Final = b"SQLite format 3\0"
"""The first bytes of a SQLite file."""


class Rows(Protocol):
    """Yields the rows of a table of a SQLite file, which is only read."""

    def __call__(
        self, path: Path, table: str, columns: Sequence[str], order: str, /
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of *table*; none if the file has no such table.

        Args:
            path: the file, which another program may be writing to.
            table: its name.
            columns: the names of the columns; a column that the table lacks is None in each row.
            order: the columns that order them, or ``rowid``.

        Raises:
            ValueError: the file is damaged.
        """
        ...


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


@frozen
class Remembered:
    """The content of one memory of another tool."""

    tool: str
    id: str
    content: str
    namespace: Namespace
    created_at: datetime
    superseded_at: datetime | None = None
    role: MemoryRole = "user"
    session_id: str | None = None
    path: str | None = None
    key: str | None = None
    value: Json = None
    tags: tuple[str, ...] = ()
    earlier: tuple[EarlierContent, ...] = ()

    def record(self) -> MemoryRecord:
        """Return a long-term memory that the tool inferred, so that it is recalled and decays."""
        memory = Memory(
            self.id,
            self.namespace,
            self.content,
            key=self.key,
            value=self.value,
            category=None,
            tags=self.tags,
            confidence=1.0,
            source="inferred",
            role=self.role,
            session_id=self.session_id,
            memory_type="long_term",
            pinned=False,
            provenance=Provenance((), self.tool, self.path),
            created_at=self.created_at,
            superseded_at=self.superseded_at,
            version=1 + len(self.earlier),
        )
        return MemoryRecord(memory=memory, earlier=self.earlier, dedup_key=None, vector=None)


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
        msg = "it is nested too deeply"
        raise ValueError(msg) from error
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:  # noqa: PLR2004  one line is not a list
            raise
        return [json.loads(line) for line in lines]
