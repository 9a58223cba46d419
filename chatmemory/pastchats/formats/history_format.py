"""``HistoryFormat``: reads the histories of one tool.  Any distribution adds one with the entry point ``chatmemory.formats``.

Readers are plain functions of bytes.  They neither open files nor use a store, so they run anywhere and are tested
with text.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, Protocol, TypeAlias, final

from attrs import frozen

from chatmemory.input.json_value import Json, JsonObject, json_object
from chatmemory.pastchats.formats.histories import Parsed

HEAD_BYTES: Final = 65_536
"""The number of bytes at the start of a file that decide its format."""

LEAST_CONFIDENCE: Final = 50
"""With a lower confidence, a format does not claim a file."""


class UnreadableHistoryError(Exception):
    """Raised by whatever reads a ``HistoryReader``: the file system returned no bytes; the argument is its message."""


class HistoryBytes(Protocol):
    """Gives the bytes of one file, or of a part of it."""

    @property
    def path(self) -> str:
        """The path of the file, for people and for ids."""
        ...

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file from its beginning, in blocks of any size, without a byte order mark.

        The method may be called more than once, and raises ``UnreadableHistoryError``.
        """
        ...


class HistoryReader(HistoryBytes, Protocol):
    """Gives a format the bytes of one file, and of files near it."""

    @property
    def name(self) -> str:
        """The last part of *path*."""
        ...

    def sibling(self, relative: str, /) -> "HistoryReader | None":
        """Return the reader of a file near this one (``../a/b.json``), and count that file as read; None when it does not exist."""
        ...

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        """Return the names in a folder near this file, sorted; an empty sequence when the folder does not exist."""
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
        document: for ``json``, the part of the value that is in the head; the rest is missing.
        text: the head as text, with U+FFFD for invalid UTF-8; lines end in ``\n``.
    """

    path: str
    shape: HeadShape
    records: tuple[Json, ...]
    document: Json
    text: str

    @property
    def first(self) -> JsonObject:
        """The document, or else the first record; an empty object if that is another value."""
        return json_object(self.document or next(iter(self.records), None))

    @property
    def is_only_lines(self) -> bool:
        """Whether the file is lines of records, and not also a document of one line."""
        return self.shape == "json_lines" and self.document is None


@final
@frozen
class Claim:
    """The claim of a format that a file has this format.

    Attributes:
        confidence: 0 to 100.  Signs of only this format give 90 and more; signs that two formats share give 60.
        evidence: the signs in the file, for a person to read.
        is_transcript: False for a known file of the tool that holds no conversation, such as an index.
    """

    confidence: int
    evidence: str
    is_transcript: bool = True


def surest(claims: Iterable[Claim | None]) -> Claim | None:
    """Return the claim with the highest confidence, the first among equals; None if there is none."""
    return max(filter(None, claims), key=lambda claim: claim.confidence, default=None)


@final
@frozen
class KnownRoot:
    """A place where a tool stores its histories.

    Attributes:
        folder: may begin with ``~`` and contain environment variables and globs: ``~/.cursor/projects/*``.
        files: globs below it, ``**/*.jsonl``.
    """

    folder: str
    files: tuple[str, ...]


def roots_in(*folders: str, files: tuple[str, ...]) -> tuple[KnownRoot, ...]:
    """Return a place of *files*, which are globs, below each of *folders*."""
    return tuple(KnownRoot(folder, files) for folder in folders)


class HistoryFormat(Protocol):
    """Reads one format of histories."""

    @property
    def name(self) -> str:
        """The name for ``--format`` and the prefix of its conversation ids: lower case letters and ``_``."""
        ...

    @property
    def version(self) -> int:
        """A number that grows when the format reads the same file differently; then every file is read again."""
        ...

    @property
    def has_global_ids(self) -> bool:
        """Whether native ids are globally unique, so that a copy of a turn in another conversation is recognized."""
        ...

    @property
    def known_roots(self) -> Sequence[KnownRoot]:
        """The places to search when the user names none."""
        ...

    def claim(self, head: Head, /) -> Claim | None:
        """Return the claim that the file has this format, judged by its content; None when it has another format.

        The path may change the confidence only a little.
        """
        ...

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the conversations, and the issues of records that could not be read.

        Memory use does not grow with the file.  Turns of kinds that are not indexed by default are yielded as well,
        with their kind.
        """
        ...


@final
@frozen
class FileFormat:
    """A ``HistoryFormat`` of two functions, for files that no table describes."""

    name: str
    claim: Callable[[Head], Claim | None]
    parse: Callable[[HistoryReader], Iterator[Parsed]]
    version: int = 1
    has_global_ids: bool = False
    known_roots: Sequence[KnownRoot] = ()
