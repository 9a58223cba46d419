"""Reads the members of zip archives, in which tools deliver exports; nothing is unpacked onto the disk."""

import posixpath
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, final

from attrs import evolve, field, frozen

from chatmemory.pastchats.formats.histories import HistoryFile, HistoryIssue
from chatmemory.pastchats.formats.history_format import UnreadableHistoryError
from chatmemory.pastchats.formats.reading.text_lines import without_mark
from chatmemory.pastchats.path_globs import NO_HISTORIES
from chatmemory_layers.files.folder_search import Found

ARCHIVE: Final = ".zip"
BLOCK_BYTES: Final = 1 << 18
MAX_MEMBERS: Final = 200_000
MAX_RATIO: Final = 200  # chats compress to a tenth, zip bombs to a thousandth
BOMB_BYTES: Final = 64 * 1024 * 1024  # a smaller file may exceed the ratio: empty templates do

_ENCRYPTED: Final = 0x1  # a bit of a member's flags
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
"""The exceptions of ``zipfile`` for archives that are damaged, encrypted or compressed by an unknown method."""


def is_archive(path: str) -> bool:
    """Return whether *path* has the suffix of an archive; office documents are zip files with other suffixes."""
    return path.lower().endswith(ARCHIVE)


def members(archive: HistoryFile, real_path: str) -> Iterator[Found]:
    """Yield the members of *archive* that may be histories, and an issue for each that cannot be read."""
    try:
        with zipfile.ZipFile(real_path) as opened:
            infos = {info.filename: info for info in opened.infolist() if not info.is_dir()}
    except _UNREADABLE as reason:
        yield HistoryIssue("unreadable", archive.path, f"no zip archive that can be read: {reason}")
        return
    if len(infos) > MAX_MEMBERS:
        yield HistoryIssue("too_large", archive.path, f"an archive of more than {MAX_MEMBERS:,} files")
        return
    for name, info in sorted(infos.items()):
        if NO_HISTORIES.isdisjoint(name.split("/")):
            yield _member(evolve(archive, member=_text(name), size=info.file_size), info)


def may_hold(real_path: str, member: str) -> bool:
    """Return whether *member* is in the archive; True for an archive that cannot be read."""
    try:
        with zipfile.ZipFile(real_path) as archive:
            return any(_text(name) == member for name in archive.namelist())
    except _UNREADABLE:
        return True


def _member(file: HistoryFile, info: zipfile.ZipInfo) -> Found:
    if info.flag_bits & _ENCRYPTED:
        return HistoryIssue("unreadable", file.source, "it is encrypted: unpack the archive")
    if is_archive(file.member):
        return HistoryIssue("unreadable", file.source, "an archive within an archive: unpack the outer one")
    if info.file_size > BOMB_BYTES and info.file_size > MAX_RATIO * info.compress_size:
        return HistoryIssue(
            "too_large", file.source, f"{info.file_size:,} bytes out of {info.compress_size:,}"
        )
    return file


def _text(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@frozen
class MemberReader:
    """The base of the readers of one member of the file at *real_path*, an archive or a store of conversations."""

    file: HistoryFile
    real_path: str
    also: dict[str, tuple[int, int]] = field(init=False, factory=dict[str, tuple[int, int]])

    @property
    def path(self) -> str:
        """The path of the archive and the member."""
        return self.file.source

    @property
    def name(self) -> str:
        """The last part of the member's name."""
        return posixpath.basename(self.file.member)


@final
class ArchiveReader(MemberReader):
    """A ``TrackedReader`` of a member; its neighbours are members of the same archive."""

    def blocks(self) -> Iterator[bytes]:
        """Yield the member's bytes, without a byte order mark."""
        return without_mark(self._blocks())

    def _blocks(self) -> Iterator[bytes]:
        try:
            with zipfile.ZipFile(self.real_path) as archive, archive.open(self._name(archive)) as member:
                while block := member.read(BLOCK_BYTES):
                    yield block
        except KeyError as reason:
            raise UnreadableHistoryError("it is no longer in the archive") from reason
        except _UNREADABLE as reason:
            raise UnreadableHistoryError(str(reason)) from reason

    def _name(self, archive: zipfile.ZipFile) -> str:
        return next(
            (name for name in archive.namelist() if _text(name) == self.file.member), self.file.member
        )

    def sibling(self, relative: str, /) -> "ArchiveReader | None":
        """Return the reader of a neighbouring member, or None if it does not exist."""
        member = self._near(relative)
        try:
            with zipfile.ZipFile(self.real_path) as archive:
                size = archive.getinfo(member).file_size
        except (KeyError, *_UNREADABLE):
            return None
        return ArchiveReader(evolve(self.file, member=member, size=size), self.real_path)

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        """Return the names in a folder of the archive, sorted."""
        folder = self._near(relative)
        start = "" if folder == "." else f"{folder}/"
        try:
            with zipfile.ZipFile(self.real_path) as archive:
                names = archive.namelist()
        except _UNREADABLE:
            return ()
        inside = {name[len(start) :].split("/")[0] for name in names if name.startswith(start)}
        return sorted(inside - {""})

    def _near(self, relative: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.file.member), relative))
