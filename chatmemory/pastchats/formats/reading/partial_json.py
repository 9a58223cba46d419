"""``partial_json``: the values at the beginning of a JSON document, before it is cut off or damaged."""

import re
from json import JSONDecodeError
from typing import Final, cast

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.reading.json_lines import DECODER

# A string without an end reaches to the end of the text.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)
_STRING_SO_FAR: Final = re.compile(r'"(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*', re.DOTALL)
_MAX_DEPTH: Final = 100
_CLOSING: Final = {"[": "]", "{": "}"}


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
