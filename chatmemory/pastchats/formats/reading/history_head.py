"""``read_head``: reads the beginning of a file once, for all formats; ``partial_json`` reads a document that is cut off."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from json import JSONDecodeError
from typing import Final, cast

from attrs import evolve

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.history_format import HEAD_BYTES, Head, HistoryReader
from chatmemory.pastchats.formats.reading.json_lines import DECODER, decoded
from chatmemory.pastchats.formats.reading.text_lines import MAX_RECORD_BYTES

# A string without an end reaches to the end of the text.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)
_STRING_SO_FAR: Final = re.compile(r'"(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*', re.DOTALL)
_MAX_DEPTH: Final = 100
_CLOSING: Final = {"[": "]", "{": "}"}
# A document, and not a text that begins with a bracket: [2024-01-01], [[a link]], {{a template}} ...
_DOCUMENT: Final = re.compile(r'(?:[\[\s]|null\s*,)*(?:\{\s*(?:["}]|\Z)|["\]]|\Z)')
# ... or [ ] to do.
_EMPTY_AND_MORE: Final = re.compile(r"(?:\[\s*\]|\{\s*\})\s*\S")


def read_head(reader: HistoryReader) -> Head:
    """Return the head of *reader*, which is its first 64 KiB.

    A file of one whole JSON object has both shapes: its shape is ``json_lines``, and ``document`` is that object too;
    ``readings`` returns both.
    """
    blocks = reader.blocks()
    start, rest = _first(blocks)
    is_whole = not rest
    text = _text(start, is_whole=is_whole)
    lines = text.split("\n")
    cut = "" if is_whole else lines.pop()
    values = [_value(line) for line in lines if line.strip()]
    records = [value for value in values if value is not None]
    if _is_json_lines(text, values):
        tail = partial_json(cut) if cut.lstrip()[:1] in ("{", "[") else None
        head = Head(reader.path, "json_lines", tuple(records + ([] if tail is None else [tail])), None, text)
        return evolve(head, document=records[0]) if is_whole and len(values) == 1 else head
    if (
        not is_whole
        and not values
        and text.lstrip().startswith("{")
        and _another_follows(chain([rest], blocks))
    ):
        return Head(reader.path, "json_lines", (partial_json(text),), None, text)
    stripped = text.lstrip()
    if stripped[:1] in ("{", "[") and _DOCUMENT.match(stripped) and not _EMPTY_AND_MORE.match(stripped):
        return Head(reader.path, "json", (), partial_json(stripped), text)
    return Head(reader.path, "text", (), None, text)


def readings(head: Head) -> tuple[Head, ...]:
    """Return *head* in each shape that it may have: a single object is a document, or one line of a growing file."""
    if head.shape == "json_lines" and head.document is not None:
        return head, evolve(head, shape="json", records=())
    if head.shape == "json" and "\n" not in head.text.strip() and isinstance(head.document, dict):
        return head, evolve(head, shape="json_lines", records=(head.document,), document=None)
    return (head,)


def _first(blocks: Iterator[bytes]) -> tuple[bytes, bytes]:
    """Return the bytes of the head, and the bytes that were read after it."""
    start = b""
    for block in blocks:
        start += block
        if len(start) > HEAD_BYTES:
            break
    return start[:HEAD_BYTES], start[HEAD_BYTES:]


def _text(start: bytes, *, is_whole: bool) -> str:
    text = start.decode("utf-8", "replace").removeprefix("\ufeff")
    if not is_whole:
        # A character that is cut by the end of the head.
        text = text.removesuffix("\ufffd")
    return text.replace("\r\n", "\n")


def _value(line: str) -> Json:
    """Return the object or list in *line*; None for anything else."""
    return decoded(line) if line[:1] in ("{", "[") else None


def _is_json_lines(text: str, values: list[Json]) -> bool:
    """Return whether the text has lines of records, some perhaps damaged, and is not a document over several lines."""
    if not values:
        return False
    if values[0] is not None:
        # A single list is a document.
        return isinstance(values[0], dict) or len([value for value in values if value is not None]) > 1
    whole = sum(isinstance(value, dict) and bool(value) for value in values)
    is_spread = text.lstrip().startswith("[") or text.lstrip().split("\n", 1)[0].strip() == "{"
    return not is_spread and whole * 2 > len(values)


def _another_follows(blocks: Iterable[bytes]) -> bool:
    """Return whether another record follows the first line, which is longer than the head."""
    seen = 0
    is_behind = False
    for block in blocks:
        rest = block
        if not is_behind:
            seen += len(block)
            _, newline, rest = block.partition(b"\n")
            is_behind = bool(newline)
        rest = rest.lstrip()
        if is_behind and rest:
            return rest.startswith(b"{")
        if seen > MAX_RECORD_BYTES:
            return False
    return False


def partial_json(text: str) -> Json:
    """Return the value at the start of *text*, without the parts that are cut off; None when there is no value.

    A string that is cut off keeps its beginning; a key without a value is left out.
    """
    text = text.lstrip()
    closed = _closed(text, is_cut_off=True)
    try:
        return _first_value(closed)
    except JSONDecodeError as damage:
        before = _closed(closed[: damage.pos], is_cut_off=False)
    except RecursionError:
        before = _closed(closed[: _deepest(closed)], is_cut_off=False)
    except ValueError:
        return None
    try:
        return _first_value(before)
    except (ValueError, RecursionError):
        return None


def _deepest(text: str) -> int:
    """Return the position where the nesting of *text* exceeds the limit, or its length."""
    depth = 0
    for match in _TOKEN.finditer(text):
        sign = match.group()
        depth += (sign in _CLOSING) - (sign in _CLOSING.values())
        if depth > _MAX_DEPTH:
            return match.start()
    return len(text)


def _first_value(text: str) -> Json:
    return cast("Json", DECODER.raw_decode(text)[0])


def _closed(text: str, *, is_cut_off: bool) -> str:
    """Return *text* up to its last whole member, with its open brackets closed.

    *is_cut_off*: a string at the end of the text counts as a member too.
    """
    brackets: list[str] = []
    end = 0
    before = ""
    for match in _TOKEN.finditer(text):
        sign = match.group()
        if sign in _CLOSING:
            brackets.append(sign)
            end = match.end()
        elif sign in _CLOSING.values():
            if brackets:
                brackets.pop()
            end = match.end()
            if not brackets:
                break
        elif sign == ",":
            end = match.start()
        elif is_cut_off and sign != ":" and match.end() == len(text):
            is_value = before == ":" or (brackets[-1:] == ["["] and before in ("[", ","))
            so_far = _STRING_SO_FAR.match(sign)
            if is_value and so_far:
                text = f'{text[: match.start()]}{so_far.group()}"'
                end = len(text)
        before = sign
    return text[:end] + "".join(_CLOSING[bracket] for bracket in reversed(brackets))
