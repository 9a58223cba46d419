"""The walk over a JSON document: the same members as the whole document has, however it is read, damaged or cut off."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.formats.reading.json_walk import ANY, END, MAX_ISSUES, walk
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from tests.for_each import for_each
from tests.thorough import rounds

TALKS = [
    {"title": "重试", "mapping": {"n1": {"text": "为什么?"}, "n2": {"text": '因为 "x"'}}, "time": 1.5},
    {"mapping": [], "time": 12345678},
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


def walked(content: str | bytes, *into: tuple[str, ...], block_bytes: int = 65_536) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chatmemory.pastchats.formats.reading.json_walk._BUFFER", block_bytes)
        return list(walk(TextReader("x.json", {"x.json": content}, block_bytes), *into))


def codes(found: list[Any]) -> list[str]:
    return [one.code for one in found if isinstance(one, HistoryIssue)]


def values(found: list[Any]) -> list[Any]:
    return [one for one in found if not isinstance(one, HistoryIssue)]


def members(value: Any, depth: int, path: tuple[str | int, ...] = ()) -> Iterator[Any]:
    """Yield what a walk into everything down to *depth* has to yield."""
    if depth and isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from members(member, depth - 1, (*path, key))
        yield path, END
    else:
        yield path, value


def test_a_pattern_names_the_containers_that_are_gone_into_and_each_has_an_end() -> None:
    assert walked(json.dumps(TALKS), (ANY, "mapping")) == [
        ((0, "title"), "重试"),
        ((0, "mapping", "n1"), {"text": "为什么?"}),
        ((0, "mapping", "n2"), {"text": '因为 "x"'}),
        ((0, "mapping"), END),
        ((0, "time"), 1.5),
        ((0,), END),
        ((1, "mapping"), END),
        ((1, "time"), 12345678),
        ((1,), END),
        ((), END),
    ]
    found = walked('[{"mapping": {"a": 1, "b": {"c', (ANY, "mapping"))
    ends = [((0, "mapping"), END), ((0,), END), ((), END)]
    assert values(found) == [((0, "mapping", "a"), 1), *ends]


@settings(max_examples=rounds(50, thorough=300))
@given(JSON, st.integers(0, 4), st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_a_walk_yields_every_member_once(
    document: Any, depth: int, block_bytes: int, indent: int | None, is_ascii: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=is_ascii)
    found = walked(text, *([(ANY,) * (depth - 1)] if depth else []), block_bytes=block_bytes)
    assert found == list(members(document, depth))


@settings(max_examples=rounds(50, thorough=200))
@given(JSON, st.data())
def test_a_document_that_is_cut_off_keeps_what_came_before(document: Any, data: st.DataObject) -> None:
    text = json.dumps([document, "end"])
    end = data.draw(st.integers(1, len(text) - 1))
    found = walked(text[:end], (ANY, ANY))
    whole = [one for one in members([document, "end"], 3) if one[1] is not END]
    kept = [one for one in values(found) if one[1] is not END]
    # A number may lose its last digits; nothing else is guessed at.
    assert kept[:-1] == whole[: max(0, len(kept) - 1)]
    assert codes(found) == ["truncated_tail"]
    assert found[-1] == ((), END)


DEEP = "[" * 100_000 + "]" * 100_000


@for_each("damage", [DEEP, "9" * 5000, "tru", "'quoted'", '{"a": "he said "hi" there"}'])
@for_each("block_bytes", [11, 65_536])
def test_a_damaged_member_is_named_and_the_walk_goes_on(damage: str, block_bytes: int) -> None:
    found = walked(f'[{{"a": 1}}, {damage}, {{"b": 2}}]', (), block_bytes=block_bytes)
    assert codes(found) == ["malformed_record"]
    assert values(found) == [((0,), {"a": 1}), ((2,), {"b": 2}), ((), END)]


@for_each(
    ("odd", "expected"),
    [
        ('"\\ud83e"', "\ud83e"),
        ("-Infinity", float("-inf")),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1.5e+16", 1.5e16),
        ('"a\x00\rb"', "a\x00\rb"),
        (b'"\xff\xfe x"', "\udcff\udcfe x"),
    ],
)
def test_odd_values_are_values(odd: str | bytes, expected: object) -> None:
    member = odd if isinstance(odd, bytes) else odd.encode()
    for block_bytes in (1, 5, 100):
        assert walked(b"[" + member + b"]", (), block_bytes=block_bytes) == [((0,), expected), ((), END)]


def test_an_issue_says_what_is_wrong_and_where_and_a_file_that_is_no_json_ends_after_some() -> None:
    text = '[{"标题": "一"}, tru, 3]'
    (issue,) = (one for one in walked(text, (), block_bytes=3) if isinstance(one, HistoryIssue))
    assert issue.offset == len(text[: text.index("tru")].encode())
    [_, issue, _] = walked('["一", "二', (ANY,))
    assert issue.detail == "no JSON: unterminated string"
    found = walked("[" + "?, " * 5000 + "]", ())
    assert len(codes(found)) == MAX_ISSUES
    assert found[-1] == ((), END)
    assert codes(walked('{"a": 1}\n{"b": 2}', ())) == ["malformed_record"]
    found = walked('{"a": 1 "b": 2, "c": 3,}', ())
    assert {(("a",), 1), (("c",), 3)} <= {*values(found)}
    assert codes(found) == ["malformed_record"]


@for_each("content", ["", " \n", b"\xef\xbb\xbf"])
def test_an_empty_document_has_no_members(content: str | bytes) -> None:
    assert walked(content, ()) == []


def test_a_very_long_value_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatmemory.pastchats.formats.reading.json_walk.MAX_RECORD_BYTES", 1000)
    text = json.dumps([{"a": 1}, {"b": 'long "quoted" \\ ' * 500}, {"c": 3}])
    found = walked(text, (), block_bytes=64)
    assert codes(found) == ["too_large"]
    assert values(found) == [((0,), {"a": 1}), ((2,), {"c": 3}), ((), END)]
