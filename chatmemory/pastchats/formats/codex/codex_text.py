"""The texts in an item of Codex: words of a person, and texts that Codex added in the name of the person."""

import json
import re
from typing import Final, cast, final

from attrs import frozen

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.reading.envelopes import HARNESS, words_and_notes
from chatmemory.pastchats.formats.reading.json_values import (
    first_text,
    json_items,
    json_object,
    json_objects,
    json_text,
)
from chatmemory.pastchats.prompt import TurnKind

_SHELL_COMMAND: Final = re.compile(r"\s*<user_shell_command>")


@final
@frozen
class Said:
    """The texts of a message.

    Attributes:
        asides: the texts that the tool wrote.
        kind: the kind of *words*.
    """

    words: tuple[str, ...]
    asides: tuple[str, ...]
    kind: TurnKind


def said_in(content: Json) -> Said:
    """Split the content of a message, which is a string or a list of items with text, into words and asides."""
    texts = (content,) if isinstance(content, str) else tuple(_text(item) for item in json_items(content))
    words: list[str] = []
    asides: list[str] = []
    for text in texts:
        own, notes = words_and_notes(text)
        is_added = HARNESS.match(own) is not None
        words += [own] if own.strip() and not is_added else []
        asides += filter(None, (notes, own.strip() if is_added else ""))
    is_command = bool(words) and all(_SHELL_COMMAND.match(text) for text in words)
    return Said(tuple(words), tuple(asides), "command" if is_command else "typed")


def _text(item: Json) -> str:
    return item if isinstance(item, str) else json_text(json_object(item).get("text"))


def text_of_output(output: Json) -> str:
    """Return the output of a tool, without the tool's report about the run (exit code, duration)."""
    if isinstance(output, str):
        if output.startswith("{"):
            try:
                unwrapped = json_object(cast("Json", json.loads(output)))
            except (ValueError, RecursionError):
                return output
            return first_text(unwrapped, "output") or output
        return output
    if isinstance(output, list | tuple):
        return "\n\n".join(text for item in json_objects(output) if (text := json_text(item.get("text"))))
    return first_text(json_object(output), "text", "content", "output")


def text_of_reasoning(item: JsonObject) -> str:
    """Return the readable thoughts; most thoughts are encrypted."""
    parts = (*json_objects(item.get("summary")), *json_objects(item.get("content")))
    return "\n\n".join(text for part in parts if (text := json_text(part.get("text"))))
