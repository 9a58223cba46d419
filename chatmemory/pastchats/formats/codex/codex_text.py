"""The texts in an item of Codex: words of a person, and texts that Codex added in the name of the person."""

import json
import re
from typing import Final, cast, final

from attrs import frozen

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.reading.json_values import (
    first_text,
    json_items,
    json_object,
    json_objects,
    json_text,
)
from chatmemory.pastchats.prompt import TurnKind

_HARNESS: Final = re.compile(
    r"\s*(?:"
    r"<(?:environment_context|user_instructions|INSTRUCTIONS|turn_aborted|subagent_notification|skill|"
    r"collaboration_mode|permissions|apps_instructions|goal_context|user_action|model_switch|personality_spec|"
    r"realtime_conversation|hook_prompt|recommended_plugins|system-reminder)\b"
    r"|# AGENTS\.md instructions\b"
    r"|Another language model started to solve this problem and produced a summary of its thinking process"
    r")"
)
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
    written = tuple(text for text in texts if text.strip())
    words = tuple(text for text in written if not _HARNESS.match(text))
    is_command = bool(words) and all(_SHELL_COMMAND.match(text) for text in words)
    asides = tuple(text for text in written if _HARNESS.match(text))
    return Said(words, asides, "command" if is_command else "typed")


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
