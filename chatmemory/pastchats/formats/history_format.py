"""``HistoryFormat``: reads the histories of one tool.  Any distribution adds one with the entry point ``chatmemory.formats``.

Readers are plain functions of bytes.  They neither open files nor know of a store, so they run anywhere and are tested
with text.
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
    """Gives a format the bytes of one file, and of files near it."""

    @property
    def path(self) -> str:
        """The path of the file, for people and for ids."""
        ...

    @property
    def name(self) -> str:
        """The last part of *path*."""
        ...

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file from its beginning, in blocks of any size, without a byte order mark.

        It may be called more than once.

        Raises:
            UnreadableHistoryError: the file cannot be read.
        """
        ...

    def sibling(self, relative: str, /) -> "HistoryReader | None":
        """Return the reader of a file near this one (``../a/b.json``), which then counts as read; None when there is none."""
        ...

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        """Return the names in a folder near this file, sorted; empty when there is no such folder."""
        ...


HeadShape: TypeAlias = Literal["json_lines", "json", "text"]


@final
@frozen
class Head:
    r"""The first ``HEAD_BYTES`` of a file, read once for all formats.

    Attributes:
        path: ``HistoryReader.path``.
        shape: ``json_lines``: the first line is a complete JSON value, and another one follows or could follow.
            ``json``: one JSON value over several lines, or too long for the head.  ``text``: neither.
        records: for ``json_lines``, the first values; the last one may be incomplete when the head cuts it off.
        document: for ``json``, the value as far as the head goes; what the head cuts off is missing.
        text: the head as text, with U+FFFD for invalid UTF-8; lines end in ``\n``.
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
    """A place where a tool keeps its histories.

    Attributes:
        folder: may begin with ``~`` and contain environment variables and globs: ``~/.cursor/projects/*``.
        files: globs below it, ``**/*.jsonl``.
    """

    folder: str
    files: tuple[str, ...]


class HistoryFormat(Protocol):
    """Reads one format of histories."""

    @property
    def name(self) -> str:
        """The name for ``--format`` and the start of its conversation ids: lower case letters and ``_``."""
        ...

    @property
    def version(self) -> int:
        """A number that is raised when the format reads the same file differently; then every file is read again."""
        ...

    @property
    def has_global_ids(self) -> bool:
        """Whether native ids are unique in the world, so that a copy of a turn in another conversation is recognized."""
        ...

    @property
    def known_roots(self) -> Sequence[KnownRoot]:
        """The places to search when the user names none."""
        ...

    def claim(self, head: Head, /) -> Claim | None:
        """Return how sure it is, from the content, that the file has this format; None: it has not.

        The path may change the confidence only a little.
        """
        ...

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the conversations, and what could not be read; memory use does not grow with the file.

        Turns of kinds that are not indexed by default are yielded as well, with their kind.
        """
        ...
