"""The JSON of a framework under ``AS_GIVEN``: in the metadata of a message, or in the value of a memory."""

import json
from collections.abc import Sequence
from typing import Any, cast

from chatmemory.input.json_value import AS_GIVEN, Json, json_object
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS, clean_text


def storable_content(text: str) -> str:
    """Return *text* as the content of a message or a memory: cleaned, and no longer than a store accepts."""
    return clean_text(text)[:MAX_CONTENT_CHARACTERS]


def in_pieces(text: str) -> list[str]:
    """Return *text* in pieces that every store accepts in metadata."""
    size = MAX_CONTENT_CHARACTERS
    return [text[start : start + size] for start in range(0, len(text), size)]


def value_in_pieces(name: str, value: object) -> dict[str, Any]:
    """Return *value* for ``given_value`` when a store refuses the value itself, for example for a NUL in it."""
    # ASCII: characters that cannot be stored are written as escapes.
    return {f"{name}Text": in_pieces(json.dumps(value))}


def given_text(stored: Json, name: str) -> str | None:
    """Return the text that is stored in pieces under *name*, or None; raise ``TypeError`` when it is not in pieces."""
    as_given = json_object(json_object(stored).get(AS_GIVEN))
    return "".join(cast("Sequence[str]", as_given[name])) if name in as_given else None


def given_value(stored: Json, name: str) -> Any:
    """Return the value that is stored under *name*, whole or in pieces.

    Raises:
        KeyError, TypeError, ValueError: there is none that an adapter has stored.
    """
    text = given_text(stored, f"{name}Text")
    return json_object(json_object(stored)[AS_GIVEN])[name] if text is None else json.loads(text)
