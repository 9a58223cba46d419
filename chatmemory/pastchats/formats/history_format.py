"""``HistoryFormat``: what reads the histories of one tool.  Anybody can add one, by the entry points ``chatmemory.formats``.

Readers are plain functions of bytes: they neither open files nor know of a store, so that they run anywhere and are
tested with text.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, Protocol, TypeAlias, final

from attrs import frozen

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.histories import Parsed

HEAD_BYTES: Final = 65_536
"""How much of a file decides what it is."""

LEAST_CONFIDENCE: Final = 50
"""Below it, a format does not claim a file."""


class UnreadableHistoryError(Exception):
    """The file system gave no bytes; what it said is the argument."""


class HistoryReader(Protocol):
    """One file, as a format may see it."""

    @property
    def path(self) -> str:
        """Where it lies, for people and for ids."""
        ...

    @property
    def name(self) -> str:
        """The last part of *path*."""
        ...

    def blocks(self) -> Iterator[bytes]:
        """Yield its bytes from the beginning, in blocks of any size, without a byte order mark; as often as asked.

        Raises:
            UnreadableHistoryError: they cannot be read.
        """
        ...

    def sibling(self, relative: str, /) -> "HistoryReader | None":
        """Return the reader of a file near it (``../a/b.json``), None when there is none; it counts as read too."""
        ...

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        """Return the names in a folder near it, sorted; none when there is no such folder."""
        ...


HeadShape: TypeAlias = Literal["json_lines", "json", "text"]


@final
@frozen
class Head:
    r"""The first ``HEAD_BYTES`` of a file, looked at once for all formats.

    Attributes:
        path: ``HistoryReader.path``.
        shape: ``json_lines``: the first line is a whole JSON value, and another one follows or could follow.
            ``json``: one JSON value over several lines, or too long for the head.  ``text``: neither.
        records: of ``json_lines``, the first values; one that is cut off is as far as it goes.
        document: of ``json``, the value as far as the head goes; what was cut off is missing from it.
        text: the head as text, U+FFFD for what is no UTF-8; lines end in ``\n``.
    """

    path: str
    shape: HeadShape
    records: tuple[Json, ...]
    document: Json
    text: str


@final
@frozen
class Claim:
    """How sure a format is that a file is its own.

    Attributes:
        confidence: 0 to 100.  Signs that only this format has make 90 and more; signs that two formats share, 60.
        evidence: what was seen, for a person to read.
        is_transcript: False for a known file of the tool that holds no conversation, such as an index.
    """

    confidence: int
    evidence: str
    is_transcript: bool = True


@final
@frozen
class KnownRoot:
    """Where a tool keeps its histories.

    Attributes:
        folder: may begin with ``~`` and hold environment variables and globs: ``~/.cursor/projects/*``.
        files: globs below it, ``**/*.jsonl``.
    """

    folder: str
    files: tuple[str, ...]


class HistoryFormat(Protocol):
    """Reads one format."""

    @property
    def name(self) -> str:
        """What ``--format`` calls it, and what its conversation ids begin with: lower case and ``_``."""
        ...

    @property
    def version(self) -> int:
        """Grows when it reads the same file differently: then every file is read anew."""
        ...

    @property
    def has_global_ids(self) -> bool:
        """Whether native ids are unique in the world, so that a copy of a turn in another conversation is known."""
        ...

    @property
    def known_roots(self) -> Sequence[KnownRoot]:
        """Where to look when nobody says where."""
        ...

    def claim(self, head: Head, /) -> Claim | None:
        """Say whether the file is of this format, by its content; its path may only add or take away a little."""
        ...

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the conversations, and what could not be read; in memory that does not grow with the file.

        Turns of kinds that are not indexed by default are yielded too, tagged.
        """
        ...
