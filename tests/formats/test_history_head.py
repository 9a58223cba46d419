"""The head of a file: which shape it has, and what its beginning says."""

import json
from typing import Any

from hypothesis import given, settings, strategies as st

from chatmemory.pastchats.formats.history_format import HEAD_BYTES, Head
from chatmemory.pastchats.formats.reading.history_head import partial_json, read_head, readings
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from tests.for_each import for_each
from tests.thorough import rounds

LONG = "长" * 30_000  # 90,000 bytes, more than the head
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


def head(content: str | bytes, *, block_bytes: int = 4096) -> Head:
    return read_head(TextReader("x", {"x": content}, block_bytes))


@for_each(
    ("content", "records"),
    [
        ('{"a": 1}\n{"b": 2}\n', ({"a": 1}, {"b": 2})),
        ('\n{"a": 1}\r\n{"b": "值', ({"a": 1},)),
        ('{"a": 1}\nnot this\n{"b": 2}\n', ({"a": 1}, {"b": 2})),
        ('"cut": 1}\n{"a": 1}\n{"b": 2}\n', ({"a": 1}, {"b": 2})),
        (f'{{"a": 1}}\n{{"b": "x", "c": "{LONG}"}}\n', ({"a": 1}, {"b": "x"})),
        (f'{{"b": "x", "c": "{LONG}"}}\n{{"a": 1}}\n', ({"b": "x"},)),
    ],
)
def test_lines_of_records_are_known(content: str, records: tuple[dict[str, Any], ...]) -> None:
    found = head(content)
    assert found.shape == "json_lines"
    assert len(found.records) == len(records)
    for record, expected in zip(found.records, records, strict=True):
        assert isinstance(record, dict)
        assert expected.items() <= record.items()
    assert readings(found) == (found,)


@for_each(
    ("content", "document"),
    [
        ("[]", []),
        ('[{"a": 1}]', [{"a": 1}]),
        ('{\n "a": [\n{"b": 1}\n],\n "c": 2}', {"a": [{"b": 1}], "c": 2}),
        ('[\n{"a": 1}\n,{"b": 2}\n]', [{"a": 1}, {"b": 2}]),
        ('[{"a": 1}, oops, {"b": 2}]', [{"a": 1}]),
        ('[null, {"a": 1}]', [None, {"a": 1}]),
    ],
)
def test_a_document_is_known(content: str, document: object) -> None:
    found = head(content)
    assert (found.shape, found.document) == ("json", document)
    # Brackets without end hide nothing before them.
    endless = head('{"id": 1, "document": ' + content + ', "deep": ' + "[" * 100_000)
    assert endless.shape == "json"
    assert isinstance(endless.document, dict)
    assert endless.document["id"] == 1


def test_text_is_text_one_object_two_things_and_a_long_document_as_far_as_it_goes() -> None:
    texts = ["", "\n", "# 标题\n", "[2024-01-01] User: hi", "[ ] to do\n[x] done", "[[a link]]"]
    for content in (*texts, "{{ a template }}", '# hi\n{"a": 1}\n'):
        assert head(content).shape == "text", content
    found = head('{"a": 1}\n')
    lines, document = readings(found)
    assert (lines.shape, lines.records) == ("json_lines", ({"a": 1},))
    assert (document.shape, document.document) == ("json", {"a": 1})
    long = head(f'{{"a": "{LONG}"}}')
    assert [reading.shape for reading in readings(long)] == ["json", "json_lines"]
    document = [{"id": 1, "title": "一"}, {"id": 2, "text": LONG, "more": 3}]
    found = head(json.dumps(document, ensure_ascii=False))
    assert isinstance(found.document, list)
    first, second = found.document
    assert first == {"id": 1, "title": "一"}
    assert isinstance(second, dict)
    assert list(second) == ["id", "text"]
    assert LONG.startswith(str(second["text"]))
    assert len(str(second["text"])) > HEAD_BYTES // 3 - 100


@for_each("block_bytes", [1, 1000, 10**6])
def test_the_text_of_a_head_ends_with_a_whole_character(block_bytes: int) -> None:
    found = head("ab" + LONG, block_bytes=block_bytes)
    assert "\ufffd" not in found.text
    assert ("ab" + LONG).startswith(found.text)
    assert head(b"a\r\n\xff").text == "a\n\ufffd"


@settings(max_examples=rounds(50, thorough=300))
@given(JSON, st.data())
def test_the_beginning_of_a_value_says_nothing_that_it_does_not(value: Any, data: st.DataObject) -> None:
    text = json.dumps({"k": value})
    end = data.draw(st.integers(1, len(text)))
    assert is_part(partial_json(text[:end]), {"k": value})
    assert partial_json(text) == {"k": value}


def is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(is_part, part, whole))
    if isinstance(part, str) and isinstance(whole, str):
        # Half of a pair of surrogates is cut off too.
        return whole.startswith((part, part[:-1]))
    return bool(part == whole)
