"""``walk``: reads one JSON document of any size, and holds no more of it in memory than its largest yielded value.

The standard library's decoder reads values out of a buffer of text; the walk moves the buffer forward, enters the named
containers, and continues after damage.

``json_members``, ``object_members``, ``members_beside``, ``texts_beside`` and ``whole_object`` are walks over documents of usual shapes.
"""

import codecs
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from json import JSONDecodeError
from typing import Final, TypeAlias, cast, final

from attrs import define, frozen

from chatmemory.input.json_value import EMPTY, Json, JsonObject
from chatmemory.pastchats.formats.histories import HistoryIssue, IssueCode
from chatmemory.pastchats.formats.history_format import HistoryBytes, HistoryReader
from chatmemory.pastchats.formats.reading.json_lines import DECODER, why, why_no_json
from chatmemory.pastchats.formats.reading.text_lines import MAX_RECORD_BYTES

ANY: Final = "*"
"""In a pattern: each index of a list, each key of an object."""

MAX_ISSUES: Final = 100
"""After this many issues, the rest of a document is skipped, because it is not JSON."""

_BUFFER: Final = 1 << 18  # characters that are read at a time; a larger number is not faster
# An error this close to the end of the buffer may be an incomplete value: -Infinity, \\ud83e.
_NEAR_END: Final = 16
_SPACE: Final = re.compile(r"[ \t\r\n\ufeff\x00]*")
_STRUCTURE: Final = re.compile(r'["\[\]{},]')
_NUMBER_GOES_ON: Final = re.compile(r"[-+.eE\d]*\Z")
_IN_STRING: Final = re.compile(r'["\\]')


class End(Enum):
    """The marker that is yielded instead of a value at the end of an entered container."""

    END = "end"


END: Final = End.END
WalkPath: TypeAlias = tuple[str | int, ...]
Walked: TypeAlias = tuple[WalkPath, Json | End]
_Patterns: TypeAlias = tuple[tuple[str, ...], ...]


def walk(reader: HistoryBytes, *into: tuple[str, ...]) -> Iterator[Walked | HistoryIssue]:
    """Yield the members of the containers that *into* names, each with its path, in the order of the file.

    ``walk(reader, (ANY, "mapping"))`` over ``[{"title": "x", "mapping": {"n": {...}}}]`` yields ``((0, "title"),
    "x")``, ``((0, "mapping", "n"), {...})``, ``((0, "mapping"), END)``, ``((0,), END)`` and ``((), END)``.  The
    containers on the way to a named container are entered as well; every other value is decoded whole.  When the
    value at a path is not a container, it is yielded as a value.

    For damage, an issue is yielded and the walk continues after it; a truncated document ends with an issue and with
    the ``END`` of every open container.
    """
    document = _Document(reader)
    first = document.peek()
    if not first:
        return
    if into and first in "[{":
        document.at += 1
        yield from _walk_into(document, _Container((), into, is_object=first == "{"))
    else:
        value = document.value()
        if isinstance(value, _Damage):
            yield document.issue(value)
            return
        yield (), value
    if document.peek():
        yield document.issue(_Damage("malformed_record", "text after the end of the JSON document"))


@final
@define
class _Container:
    """A list or an object that the walk has entered."""

    path: WalkPath
    into: _Patterns
    is_object: bool
    members: int = 0

    def below(self, key: str | int) -> _Patterns:
        depth = len(self.path)
        return tuple(
            pattern
            for pattern in self.into
            if len(pattern) > depth and (pattern[depth] == ANY or pattern[depth] == key)
        )


def _walk_into(document: "_Document", root: _Container) -> Iterator[Walked | HistoryIssue]:
    stack = [root]
    issues = 0
    while stack:
        container = stack[-1]
        for found in _members(document, container):
            if isinstance(found, _Container):
                stack.append(found)
                break
            if isinstance(found, _Damage):
                yield document.issue(found)
                issues += 1
                if found.code == "truncated_tail" or issues >= MAX_ISSUES:
                    document.leave()
                    yield from ((one.path, END) for one in reversed(stack))
                    return
                if not found.is_passed:
                    document.skip()
            else:
                yield found
        else:
            yield container.path, END
            stack.pop()


def _members(document: "_Document", container: _Container) -> "Iterator[Walked | _Damage | _Container]":
    """Yield the remaining members of *container*, up to and including a member to enter; reads the end of the container too."""
    closing = "}" if container.is_object else "]"
    while True:
        char = document.peek()
        if container.members and char == ",":
            document.at += 1
            char = document.peek()
        elif container.members and char and char not in "]}":
            yield _Damage("malformed_record", "no comma between two values")
            continue
        if not char:
            yield _Damage("truncated_tail", "the JSON document ends too early")
            return
        if char in "]}":
            document.at += 1
            if char != closing:
                yield _Damage("malformed_record", f"{char!r} where {closing!r} belongs", is_passed=True)
            return
        key: str | int = container.members
        container.members += 1
        if container.is_object:
            name = document.key()
            if isinstance(name, _Damage):
                yield name
                continue
            key = name
            char = document.peek()
        below = container.below(key) if char and char in "[{" else ()
        if below:
            document.at += 1
            yield _Container((*container.path, key), below, is_object=char == "{")
        else:
            value = document.value()
            yield value if isinstance(value, _Damage) else ((*container.path, key), value)


@final
@frozen
class _Damage:
    """The reason why there is no value; ``is_passed``: the walk is already after the damage."""

    code: IssueCode
    detail: str
    is_passed: bool = False


@final
class _Document:
    """The text of a document, as a buffer that moves forward."""

    def __init__(self, reader: HistoryBytes) -> None:
        self.at = 0
        self._text = ""
        self._bytes_before = 0
        self._path = reader.path
        self._blocks = reader.blocks()
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._is_ended = False

    def peek(self) -> str:
        """Return the next character that is not white space, without consuming it; "" at the end."""
        while True:
            match = _SPACE.match(self._text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self._text):
                return self._text[self.at]
            if not self._more():
                return ""

    def key(self) -> "str | _Damage":
        """Read a key and its colon."""
        name = self.value() if self.peek() == '"' else None
        if isinstance(name, _Damage):
            return name
        if not isinstance(name, str) or self.peek() != ":":
            code: IssueCode = "malformed_record" if self.peek() else "truncated_tail"
            return _Damage(code, "no key where one belongs")
        self.at += 1
        return name

    def value(self) -> "Json | _Damage":
        """Read a whole value; when there is none, do not move."""
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self.at)
            except RecursionError as damage:
                return _Damage("malformed_record", why(damage))
            except JSONDecodeError as damage:
                is_open = damage.msg.startswith("Unterminated") or damage.pos > len(self._text) - _NEAR_END
                if not is_open:
                    return _Damage("malformed_record", why_no_json(damage))
                if _length(self._text[self.at :]) > MAX_RECORD_BYTES:
                    return _Damage("too_large", f"a value of more than {MAX_RECORD_BYTES // 1024**2} MiB")
                if not self._more():
                    # At the end of the document, an incomplete value was cut off.
                    is_cut = damage.msg.startswith("Unterminated") or not _STRUCTURE.search(
                        self._text, damage.pos
                    )
                    code: IssueCode = "truncated_tail" if is_cut else "malformed_record"
                    return _Damage(code, why_no_json(damage))
            except ValueError as damage:
                return _Damage("malformed_record", why(damage))
            else:
                # A number that ends at the end of the buffer may continue after it.
                if type(value) in (int, float) and _NUMBER_GOES_ON.match(self._text, end):
                    if self._more():
                        continue
                    if end < len(self._text):
                        return _Damage("truncated_tail", "the JSON document ends within a number")
                self.at = end
                return cast("Json", value)

    def skip(self) -> None:
        """Skip the damage, up to the next comma or bracket of the container; only brackets and strings are examined."""
        depth = 0
        while (match := self._find(_STRUCTURE)) is not None:
            char = match.group()
            self.at = match.start()
            if not depth and char in ",]}":
                return
            self.at += 1
            if char == '"':
                self._skip_string()
            elif char in "[{":
                depth += 1
            elif char in "]}":
                depth -= 1

    def _skip_string(self) -> None:
        while (match := self._find(_IN_STRING)) is not None:
            self.at = match.end()
            if match.group() == '"':
                return
            if self.at == len(self._text):
                self._more()
            self.at += 1

    def _find(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return the next match of *pattern*; None if the document ends before it."""
        while (match := pattern.search(self._text, self.at)) is None:
            self.at = len(self._text)
            if not self._more():
                return None
        return match

    def leave(self) -> None:
        self._text, self.at, self._is_ended = "", 0, True

    def issue(self, damage: _Damage) -> HistoryIssue:
        offset = self._bytes_before + _length(self._text[: self.at])
        return HistoryIssue(damage.code, self._path, damage.detail, offset=offset)

    def _more(self) -> bool:
        """Drop the consumed text and read at least as much as is held, so that a long value is decoded only a few times."""
        if self._is_ended:
            return False
        self._bytes_before += _length(self._text[: self.at])
        parts = [self._text[self.at :]]
        wanted = max(min(len(parts[0]), MAX_RECORD_BYTES - len(parts[0])), _BUFFER)
        self._text, self.at = "", 0
        while wanted > 0:
            block = next(self._blocks, None)
            if block is None:
                self._is_ended = True
                parts.append(self._decoder.decode(b"", final=True))
                break
            parts.append(self._decoder.decode(block))
            wanted -= len(parts[-1])
        self._text = "".join(parts)
        return True


def _length(text: str) -> int:
    """Return the number of bytes of *text* in the file."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def json_members(
    reader: HistoryReader, *lists: tuple[str, ...]
) -> Iterator[tuple[WalkPath, Json] | HistoryIssue]:
    """Yield the members of each of *lists* with their paths, in the order of the file, and an issue for each damage.

    A list is named by its path: ``("messages",)``, or ``()`` for a document that is a list.
    """
    for found in walk(reader, *lists):
        if isinstance(found, HistoryIssue):
            yield found
        elif found[0] and found[0][:-1] in lists and not isinstance(found[1], End):
            yield found[0], found[1]


def object_members(
    reader: HistoryReader, *path: str, called: str = "a message"
) -> Iterator[JsonObject | HistoryIssue]:
    """Yield the objects of the list at *path*, and an issue for each member that is not an object.

    Without *path*, the document itself is the list.  The issue calls the member *called*.
    """
    for found in json_members(reader, path):
        if isinstance(found, HistoryIssue):
            yield found
        elif isinstance(found[1], Mapping):
            yield found[1]
        else:
            detail = f"{called} that is no object, the {found[0][-1]}."
            yield HistoryIssue("malformed_record", reader.path, detail)


def members_beside(reader: HistoryReader, *lists: str) -> Iterator[tuple[str, Json]]:
    """Yield the members of the document outside of *lists*, before or after them."""
    for found in walk(reader, *((name,) for name in lists)):
        if not isinstance(found, HistoryIssue) and len(found[0]) == 1 and not isinstance(found[1], End):
            yield str(found[0][0]), found[1]


def texts_beside(reader: HistoryReader, *lists: str) -> dict[str, str]:
    """Return the texts among ``members_beside``."""
    return {name: value for name, value in members_beside(reader, *lists) if isinstance(value, str)}


def whole_object(reader: HistoryReader) -> JsonObject:
    """Return the object in a small file; an empty object when the file is damaged or holds no object."""
    for found in walk(reader):
        if not isinstance(found, HistoryIssue) and isinstance(found[1], Mapping):
            return found[1]
    return EMPTY
