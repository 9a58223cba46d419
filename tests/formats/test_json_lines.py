"""Lines of JSON and of text: parted where their writers parted them, damaged ones named, none lost."""

from datetime import UTC, datetime

import pytest

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import JsonLine, json_lines
from chatmemory.pastchats.formats.reading.text_lines import (
    MAX_PASSAGE_CHARACTERS,
    Passage,
    TextReader,
    byte_lines,
    text_lines,
)
from chatmemory.pastchats.formats.tools.aider import aider
from chatmemory.pastchats.formats.tools.markdown import markdown
from chatmemory.pastchats.formats.tools.specstory import specstory
from tests.for_each import for_each
from tests.formats.read_turns import read

BLOCKS = for_each("block_bytes", [1, 2, 3, 7, 65_536])


def records(content: bytes | str, *, block_bytes: int = 65_536) -> list[JsonLine | HistoryIssue]:
    return list(json_lines(TextReader("x.jsonl", {"x.jsonl": content}, block_bytes)))


def values(content: bytes | str, *, block_bytes: int = 65_536) -> list[Json | str]:
    found = records(content, block_bytes=block_bytes)
    return [one.value if isinstance(one, JsonLine) else one.code for one in found]


@BLOCKS
def test_a_record_knows_its_line_and_its_place(block_bytes: int) -> None:
    found = records('{"字": "一"}\r\n\n{"b": 2}\n', block_bytes=block_bytes)
    assert found == [JsonLine({"字": "一"}, 1, 0), JsonLine({"b": 2}, 3, 17)]


@BLOCKS
@for_each("inside", ["\u2028", "\u0085", "\r", "\x0b", "\x1c"])
def test_only_a_newline_ends_a_record(inside: str, block_bytes: int) -> None:
    assert values(f'{{"a": "x{inside}y"}}\n[1]\n', block_bytes=block_bytes) == [{"a": f"x{inside}y"}, [1]]


def test_a_damaged_line_is_named_and_the_others_are_read_in_each_encoding() -> None:
    assert records('{"a": 1}\n{"b": \n{"c": 3}\n') == [
        JsonLine({"a": 1}, 1, 0),
        HistoryIssue("malformed_record", "x.jsonl", "no JSON: expecting value at character 6", 2, 9),
        JsonLine({"c": 3}, 3, 16),
    ]
    [issue] = records('{"键": "值')
    assert isinstance(issue, HistoryIssue)
    assert issue.detail == "no JSON: unterminated string at character 7"
    assert values('{"a": 1}{"b": 2}\n{"c": 3}{"d"\n') == [{"a": 1}, {"b": 2}, {"c": 3}, "malformed_record"]
    assert str(values('{"a": NaN}\n')) == "[{'a': nan}]"
    text = '{"a": "值"}\n{"b": 1}\n'
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
        mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
        for block_bytes in (1, 3, 100):
            assert values(mark + text.encode(encoding), block_bytes=block_bytes) == [{"a": "值"}, {"b": 1}]


@for_each(
    ("damage", "expected"),
    [
        (b'{"a": "\xff"}', {"a": "\udcff"}),
        (b'{"a": "\\ud83e"}', {"a": "\ud83e"}),
        (b'{"a": "x\x00y"}', {"a": "x\x00y"}),
        (b'\x00\x00\x00{"a": 1}', {"a": 1}),
        (b'{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b'{"a": -Infinity}', {"a": float("-inf")}),
        (b'{"a": ' + b"9" * 5000 + b"}", "malformed_record"),
        (b"[" * 100_000, "malformed_record"),
        (b"\x00" * 100, "malformed_record"),
        (b"false alarm", "malformed_record"),
    ],
)
def test_odd_content_is_one_record_or_one_issue(damage: bytes, expected: Json) -> None:
    assert values(b'{"first": 1}\n' + damage + b'\n{"last": 2}\n') == [{"first": 1}, expected, {"last": 2}]


def test_a_very_long_record_is_named_and_one_in_the_writing_a_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = '{"a": 1}\n{"b": "值"}\n'.encode()
    seen = [values(whole[:end]) for end in range(len(whole) + 1)]
    assert all(found[:1] == [{"a": 1}] for found in seen[8:])
    assert all(found[-1] == "truncated_tail" for found in seen[10:-2])
    assert seen[-1] == seen[-2] == [{"a": 1}, {"b": "值"}]
    monkeypatch.setattr("chatmemory.pastchats.formats.reading.text_lines.MAX_RECORD_BYTES", 100)
    content = '{"a": 1}\n{"b": "' + "x" * 500 + '"}\n{"c": 3}\n'
    assert values(content, block_bytes=16) == [{"a": 1}, "too_large", {"c": 3}]
    last = records(content, block_bytes=16)[-1]
    assert last == JsonLine({"c": 3}, 3, content.index('{"c"'))


@for_each("content", ["", "\n", "\n\r\n  \n", b"\xef\xbb\xbf"])
def test_an_empty_file_holds_no_records(content: str | bytes) -> None:
    assert records(content) == []


@BLOCKS
def test_lines_of_text_keep_all_but_their_ends(block_bytes: int) -> None:
    reader = TextReader("x.md", {"x.md": "一\u2028行\r\n\nlone \r CR\n最后"}, block_bytes)
    found = list(text_lines(reader))
    assert [line.text for line in found] == ["一\u2028行", "", "lone \r CR", "最后"]
    assert [line.line for line in found] == [1, 2, 3, 4]
    assert [offset for _, _, offset, _ in byte_lines(reader)] == [0, 11, 12, 22]


@BLOCKS
def test_a_long_line_comes_in_whole_characters(monkeypatch: pytest.MonkeyPatch, block_bytes: int) -> None:
    monkeypatch.setattr("chatmemory.pastchats.formats.reading.text_lines.MAX_RECORD_BYTES", 10)
    long = "é😀你x" * 7
    pieces = list(text_lines(TextReader("x", {"x": f"{long}\nend\n"}, block_bytes)))
    assert "".join(piece.text for piece in pieces if piece.line == 1) == long
    assert [piece.text for piece in pieces if piece.line == 2] == ["end"]


AT = datetime(2025, 8, 28, 12, 57, 8, tzinfo=UTC)
DATES = ("2025-08-28T12:57:08Z", "2025-08-28T12:57:08.000Z", "2025-08-28T12:57:08", " 2025-08-28 12:57:08 ")
OTHER_DATES = ("2025-08-28T20:57:08+08:00", "2025-08-28T12:57:08.000000000Z")
NUMBERS = (1756385828, 1756385828.0, 1756385828000, 1756385828000000, 1756385828000000000)
WRITTEN = (*DATES, *OTHER_DATES, *NUMBERS, "1756385828000", "1756385828.0")
KOREAN, BEFORE_ALL = "2025. 6. 27. at 14시 17분 35초 GMT+9", "0001-01-01T00:00:00+08:00"
WORDS = ("", "[trimmed for fixture]", KOREAN, "昨天", BEFORE_ALL)
OTHERS: tuple[Json, ...] = (0, 5, -1756385828, float("nan"), float("inf"), 10**400, None, True, [], {})


def test_an_instant_is_found_in_every_way_of_writing_it_and_none_rather_than_a_guess() -> None:
    assert [(written, found) for written in WRITTEN if (found := instant_of(written)) != AT] == []
    for written in ("2025-08-28T12:57:08.611Z", 1756385828.611, 1756385828611):
        assert instant_of(written) == AT.replace(microsecond=611_000)
    assert [(written, found) for written in (*WORDS, *OTHERS) if (found := instant_of(written))] == []


LONG = "重试" * MAX_PASSAGE_CHARACTERS


def test_a_turn_has_no_blank_lines_around_it_and_one_without_end_is_cut_off() -> None:
    passage = Passage()
    assert (passage.line, passage.is_blank, passage.text) == (0, True, "")
    for number, line in enumerate(("", "你好", "", "  code", ""), start=7):
        passage.add(line, number)
    assert (passage.line, passage.is_blank, passage.text) == (7, False, "你好\n\n  code")
    histories = (
        (markdown, f"## User\n\n{LONG}\n{LONG}\n\n## Assistant\n\n好\n"),
        (aider, f"# aider chat started at 2025-10-20 21:49:17\n\n#### {LONG}  \n\n好\n"),
        (
            specstory,
            f"<!-- Generated by SpecStory -->\n\n_**User**_\n\n{LONG}\n\n---\n\n_**Assistant**_\n\n好\n",
        ),
    )
    for format_, text in histories:
        found = read(format_, text)
        first, second = found.kept
        assert 0 <= MAX_PASSAGE_CHARACTERS - len(first.content) < 10
        assert first.lossy == ("truncated",)
        assert second.content == "好"
        assert second.lossy == ()
        assert [issue.code for issue in found.issues] == ["too_large"]
