"""``HistoryFormatLaws``: all laws of a ``HistoryFormat``, as one class of tests.

``cuts``, ``with_debris`` and ``from_other_versions`` damage a history as crashes and unknown versions of a tool do.
"""

import codecs
import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from random import Random
from typing import Final, TypeAlias, cast, get_args

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json
from chatmemory.laws.kit.law import LawBrokenError, expect
from chatmemory.pastchats.formats.histories import HistoryIssue, IssueCode, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import LEAST_CONFIDENCE, HistoryFormat
from chatmemory.pastchats.formats.reading.history_head import read_head, readings
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from chatmemory.pastchats.prompt import TurnKind

DEBRIS: Final[Mapping[str, bytes]] = {
    "bytes that are no UTF-8": b"\xff\xfe\xc3",
    "an empty block": b"\x00" * 64,
    "a record that does not end": b'\n{"type": "user", "message": {"content": "',
    "brackets, nested too deeply": b"\n" + b"[" * 100_000 + b"\n",
    "a lone surrogate, NaN and an integer of 5,000 digits": b'\n{"a": "\\ud83e", "b": NaN, "c": '
    + b"9" * 5000
    + b"}\n",
}
"""The bytes that crashed and foreign writers leave behind, by name."""

ODD_VALUES: Final[Sequence[Json]] = (
    None,
    True,
    -1,
    1e300,
    10**30,
    "",
    "x",
    "2025-02-30T25:00:00Z",
    [],
    [[]],
    [None],
    {},
    {"type": 1},
)
"""Values that a member may have in another version."""

_Place: TypeAlias = tuple[str | int, ...]
NO_HISTORIES: Final[Mapping[str, str]] = {
    "prose": "# Notes\n\nWe met on Monday. 会议在星期一。\n\n- [ ] write it up\n",
    "a program": "import json\n\n\ndef main() -> None:\n    print(json.dumps({'role': 'user'}))\n",
    "a manifest": '{"name": "chat", "version": "1.0.0", "dependencies": {"left-pad": "^1.3.0"}}',
    "a log": '{"level": "info", "msg": "started", "time": "2025-01-01T00:00:00Z"}\n' * 3,
    "a table": "role,content\nuser,hello\nassistant,hi\n",
    "numbers": "[1, 2, 3]",
    "rows": '[{"id": 1, "title": "one"}, {"id": 2, "title": "two"}]',
}
"""Texts that no format may claim."""

_F1: Final = "F1 claim"
_F2: Final = "F2 turns"
_F3: Final = "F3 again"
_F4: Final = "F4 cut"
_F5: Final = "F5 damage"
_F6: Final = "F6 other versions"
_F7: Final = "F7 name"
_MUTATED_BYTES: Final = 1_000_000  # of a history in all its other versions: about a second
_TELLING: Final = 24  # the number of characters that identify a text in a file
_LEAST_TELLING: Final = 8  # a shorter text may also be a key


class HistoryFormatLaws:
    """Subclass it, name your format and real files, and run pytest; see ``chatmemory.laws``.

    Attributes:
        format: the format under test.
        files: the content of files by path: histories, and the files next to them.
        histories: the paths in *files* that are histories; an empty sequence: all.
        survives_cuts: whether the turns before a cut are the same as in the whole file; False when later records
            remove earlier ones, or when the words are in other files.
        turns_in_a_record: the largest number of turns that are lost when a record is cut off.
        tries: how many times each history is cut off, and is damaged; up to ten times as many other versions of it
            are read if it is small.
    """

    format: HistoryFormat
    files: Mapping[str, bytes | str]
    histories: Sequence[str] = ()
    survives_cuts: bool = True
    turns_in_a_record: int = 2
    tries: int = 40  # more tries find no more

    def test_f1_claim(self) -> None:
        """F1 claim: a history is claimed by its content, under any name."""
        for reader in self._readers():
            neutral = posixpath.join(posixpath.dirname(reader.path), "x")
            files = {**reader.files, neutral: reader.files[reader.path]}
            for path in (reader.path, neutral):
                sure = self._confidence(TextReader(path, files))
                expect(sure >= LEAST_CONFIDENCE, True, f"{path} is claimed ({sure})", law=_F1)

    def test_f1_claim_of_nothing_else(self) -> None:
        """F1 claim: a text that is not a history is not claimed."""
        for what, text in NO_HISTORIES.items():
            sure = self._confidence(TextReader("x", {"x": text}))
            expect(sure < LEAST_CONFIDENCE, True, f"{what} is not claimed ({sure})", law=_F1)

    def test_f2_turns(self) -> None:
        """F2 turns: each turn has its speaker, text and conversation, and a time only with a time zone."""
        for reader in self._readers():
            turns = [one for one in self._parse(reader) if isinstance(one, PromptTurn)]
            expect(bool(turns), True, f"{reader.path} holds turns", law=_F2)
            for turn in turns:
                self._check(turn)
            for conversation in {turn.conversation_id for turn in turns}:
                indexes = [turn.turn_index for turn in turns if turn.conversation_id == conversation]
                given = [index for index in indexes if index is not None]
                expect(
                    given in (indexes, []),
                    True,
                    f"all turns of {conversation} are numbered, or none",
                    law=_F2,
                )

    def test_f3_again(self) -> None:
        """F3 again: a second read gives the same turns, with blocks of any size, with a mark and other line ends."""
        for reader in self._readers():
            first = self._parse(reader)
            content = reader.files[reader.path]
            expect(self._parse(reader), first, f"{reader.path} read again", law=_F3)
            expect(
                self._parse(_with(reader, block_bytes=13)), first, f"{reader.path} in small blocks", law=_F3
            )
            marked = _with(reader, b"\xef\xbb\xbf" + content.removeprefix(b"\xef\xbb\xbf"))
            expect(_texts(self._parse(marked)), _texts(first), f"{reader.path} with a mark", law=_F3)
            unix = content.replace(b"\r\n", b"\n")
            others = _texts(self._parse(_with(reader, unix.replace(b"\n", b"\r\n"))))
            expect(others, _texts(self._parse(_with(reader, unix))), f"{reader.path} with CR and LF", law=_F3)

    def test_f4_cut(self) -> None:
        """F4 cut: a truncated history raises nothing and loses nothing before its end."""
        is_tried = not self.survives_cuts
        for reader in self._readers():
            content = reader.files[reader.path]
            places = list(_places(content, _texts(self._parse(reader)))) if self.survives_cuts else []
            is_tried |= len(places) > self.turns_in_a_record
            for end in cuts(content, count=self.tries):
                found = set(_texts(self._parse(_with(reader, content[:end]))))
                for (text, _), (_, behind) in zip(places, places[self.turns_in_a_record :], strict=False):
                    if behind < end:
                        expect(
                            text in found,
                            True,
                            f"{reader.path} up to byte {end}: {text[:60]!r} is there",
                            law=_F4,
                        )
        wanted = (
            f"a history has more than {self.turns_in_a_record} turns of at least {_LEAST_TELLING} characters"
        )
        expect(is_tried, True, f"{wanted}: fewer show nothing, give a longer one", law=_F4)

    def test_f4_cut_is_told(self) -> None:
        """F4 cut: a history that ends inside a JSON document or line has an issue."""
        for reader in self._readers():
            content = reader.files[reader.path]
            for end in cuts(content, count=self.tries):
                if is_amid_a_record(content, end):
                    parsed = self._parse(_with(reader, content[:end]))
                    is_told = any(isinstance(one, HistoryIssue) for one in parsed)
                    expect(is_told, True, f"{reader.path} up to byte {end} has an issue", law=_F4)

    def test_f5_damage(self) -> None:
        """F5 damage: debris anywhere raises nothing."""
        for reader in self._readers():
            for debris in DEBRIS.values():
                for content in with_debris(
                    reader.files[reader.path], debris, count=self.tries // len(DEBRIS)
                ):
                    self._parse(_with(reader, content))

    def test_f6_other_versions(self) -> None:
        """F6 other versions: a member with another type, or a missing member, raises nothing."""
        for reader in self._readers():
            content = reader.files[reader.path]
            count = max(self.tries, min(10 * self.tries, _MUTATED_BYTES // (len(content) + 1)))
            for changed in from_other_versions(content, count=count, seed=len(content)):
                other = _with(reader, changed)
                self._confidence(other)
                for one in self._parse(other, law=_F6):
                    if isinstance(one, PromptTurn):
                        self._check(one)

    def test_f7_name(self) -> None:
        """F7 name: the name can be typed, and the version is a positive number."""
        expect(
            bool(re.fullmatch("[a-z][a-z0-9_]*", self.format.name)),
            True,
            f"name {self.format.name!r}",
            law=_F7,
        )
        expect(self.format.version >= 1, True, f"version {self.format.version}", law=_F7)
        expect(
            all(root.folder and root.files for root in self.format.known_roots), True, "known roots", law=_F7
        )

    def _readers(self) -> Iterator[TextReader]:
        for path in self.histories or self.files:
            yield TextReader(path, self.files)

    def _confidence(self, reader: TextReader) -> int:
        claims = [self.format.claim(head) for head in readings(read_head(reader))]
        return max((claim.confidence for claim in claims if claim and claim.is_transcript), default=0)

    def _parse(self, reader: TextReader, *, law: str = _F5) -> list[Parsed]:
        """Return the result of a read, after checks that hold for any file."""
        try:
            parsed = list(self.format.parse(reader))
        except Exception as reason:
            start = reader.files[reader.path][:200]
            raise LawBrokenError(
                f"{reader.path} raises {reason!r}; it begins with {start!r}", law=law
            ) from reason
        for one in cast("list[object]", parsed):
            if isinstance(one, HistoryIssue):
                expect(one.code in get_args(IssueCode), True, f"the code of {one}", law=law)
            elif not isinstance(one, PromptTurn | UnknownRecord):
                raise LawBrokenError(f"{reader.path} yields {one!r}", law=law)
        return parsed

    def _check(self, turn: PromptTurn) -> None:
        prefix = f"{self.format.name}:"
        has_id = turn.conversation_id.startswith(prefix) and turn.conversation_id != prefix
        expect(has_id, True, f"{turn.conversation_id!r} is {prefix} and an id", law=_F2)
        expect(bool(turn.content.strip()), True, f"there is text in {turn!r}", law=_F2)
        expect(turn.role in get_args(Role), True, f"role {turn.role!r}", law=_F2)
        expect(turn.kind in get_args(TurnKind), True, f"kind {turn.kind!r}", law=_F2)
        if turn.timestamp is not None:
            expect(turn.timestamp.utcoffset(), timedelta(0), f"offset of {turn.timestamp!r}", law=_F2)
        try:
            json.dumps(turn.metadata)
        except (TypeError, ValueError, RecursionError) as reason:
            raise LawBrokenError(f"metadata of {turn!r}: {reason}", law=_F2) from reason


def _with(reader: TextReader, content: bytes | None = None, *, block_bytes: int = 65_536) -> TextReader:
    files = reader.files if content is None else {**reader.files, reader.path: content}
    return TextReader(reader.path, files, block_bytes)


def _texts(parsed: Sequence[Parsed]) -> list[str]:
    return [one.content.replace("\r\n", "\n") for one in parsed if isinstance(one, PromptTurn)]


def _places(content: bytes, texts: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield those *texts* that are in the file in their order, each with its position."""
    at = 0
    for text in texts:
        line = max(text.split("\n"), key=len)[:_TELLING]
        spellings = {line, json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]}
        found = [
            place
            for spelling in spellings
            if (place := content.find(spelling.encode("utf-8", "replace"), at)) >= 0
        ]
        if len(line) >= _LEAST_TELLING and found:
            at = min(found)
            yield text, at


def cuts(content: bytes, *, count: int) -> Iterator[int]:
    """Yield up to *count* positions to cut *content* at, from the beginning to the last byte."""
    step = max(1, len(content) // count)
    yield from range(0, len(content), step)
    yield from range(max(0, len(content) - 3), len(content))


def is_amid_a_record(content: bytes, end: int) -> bool:
    """Return whether *content*, cut at *end*, ends within a JSON document or a JSON line; False for a text."""
    records, separator = _records(content)
    kept = content[:end].removeprefix(codecs.BOM_UTF8)
    last = kept.rpartition(separator.encode())[2] if separator else kept
    if not records or not last.strip():
        return False
    try:
        json.loads(last)
    except (ValueError, RecursionError):
        return True
    return False


def with_debris(content: bytes, debris: bytes, *, count: int) -> Iterator[bytes]:
    """Yield *content* with *debris* inserted, once for each of *count* positions."""
    for place in cuts(content, count=count):
        yield content[:place] + debris + content[place:]


def from_other_versions(content: bytes, *, count: int, seed: int) -> Iterator[bytes]:
    """Yield *content* with a member of its JSON replaced by an odd value, or left out; nothing for a text."""
    records, separator = _records(content)
    if not records:
        return
    random = Random(seed)  # noqa: S311  no secret: the same members each time
    for _ in range(count):
        which = random.randrange(len(records))
        place = random.choice(_damaged_places(records[which]))
        odd = random.choice(ODD_VALUES)
        changed = _replaced(records[which], place, odd, is_left_out=random.random() < 0.2)  # noqa: PLR2004  now and then
        lines = [json.dumps(changed if number == which else record) for number, record in enumerate(records)]
        yield separator.join(lines).encode()


def _records(content: bytes) -> tuple[list[Json], str]:
    text = content.decode("utf-8-sig", "replace")
    try:
        return [cast("Json", json.loads(text))], ""
    except (ValueError, RecursionError):
        pass
    try:
        return [cast("Json", json.loads(line)) for line in text.split("\n") if line.strip()], "\n"
    except (ValueError, RecursionError):
        return [], ""


def _damaged_places(value: Json) -> list[_Place]:
    found: list[_Place] = [()]
    if isinstance(value, dict):
        found += [(key, *place) for key, member in value.items() for place in _damaged_places(member)]
    elif isinstance(value, list):
        found += [(index, *place) for index, member in enumerate(value) for place in _damaged_places(member)]
    return found


def _replaced(value: Json, place: _Place, odd: Json, *, is_left_out: bool) -> Json:
    if not place:
        return odd
    step, *rest = place
    copy = cast(
        "dict[str | int, Json]", {**value} if isinstance(value, dict) else [*cast("list[Json]", value)]
    )
    if not rest and is_left_out and isinstance(value, dict):
        del copy[step]
    else:
        copy[step] = _replaced(copy[step], tuple(rest), odd, is_left_out=is_left_out)
    return cast("Json", copy)
