"""The texts in a message of Gemini CLI: words, thoughts, results of tools, and texts that the tool added."""

import re
from typing import Final, final

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

_BETWEEN: Final = "\n\n"

_SETUP: Final = ("This is the Gemini CLI. We are setting up the context for our chat.", "<session_context>")
_SETUP_ANSWER: Final = "Got it. Thanks for the context!"
_SNAPSHOT: Final = ("<state_snapshot>", "<compressed_chat_history>")
_SLASH_COMMAND: Final = re.compile(r"\s*/[a-z][a-z0-9:_-]*(?!\S)")
_GO_ON: Final = "System: Please continue."


@final
@frozen
class GeminiParts:
    """The texts of a message."""

    words: str
    thoughts: str
    results: str
    calls: tuple[JsonObject, ...]


def parts_of(message: JsonObject) -> GeminiParts:
    """Split *message*, of a session or of a checkpoint, into its texts."""
    words: list[str] = []
    thoughts = [_thought(thought) for thought in json_objects(message.get("thoughts"))]
    results: list[str] = []
    calls: list[JsonObject] = []
    content = message.get("content", message.get("parts"))
    for item in (content,) if isinstance(content, str | dict) else json_items(content):
        part = json_object(item)
        text = item if isinstance(item, str) else json_text(part.get("text"))
        if text.strip():
            (thoughts if part.get("thought") is True else words).append(text)
        if response := json_object(part.get("functionResponse")):
            results.append(_result(response))
        if call := json_object(part.get("functionCall")):
            calls.append(_named(call))
    for call in json_objects(message.get("toolCalls")):
        calls.append(_named(call))
        responses = [
            _result(json_object(part.get("functionResponse"))) for part in json_objects(call.get("result"))
        ]
        results.append(_BETWEEN.join(filter(None, responses)) or json_text(call.get("resultDisplay")))
    return GeminiParts(
        _BETWEEN.join(words),
        _BETWEEN.join(filter(None, thoughts)),
        _BETWEEN.join(filter(None, results)),
        tuple(calls),
    )


def _thought(thought: JsonObject) -> str:
    return ": ".join(filter(None, (json_text(thought.get("subject")), json_text(thought.get("description")))))


def _result(response: JsonObject) -> str:
    return first_text(json_object(response.get("response")), "output", "error", "content")


def _named(call: JsonObject) -> JsonObject:
    return {key: text for key in ("name", "id", "status") if (text := json_text(call.get(key)))}


def shown(message: JsonObject) -> str:
    """Return the text that the person saw instead of the text that the model received: ``/init`` instead of its instructions."""
    display: Json = message.get("displayContent")
    if isinstance(display, str):
        return display
    return _BETWEEN.join(text for part in json_objects(display) if (text := json_text(part.get("text"))))


def kind_of_words(text: str, *, display: str, is_users: bool) -> TurnKind:
    """Return the kind of *text*, for which the person saw *display*."""
    start = text.lstrip()
    if start.startswith(_SNAPSHOT):
        return "summary"
    if not is_users:
        return "harness" if start == _SETUP_ANSWER else "typed"
    if start.startswith(_SETUP):
        return "harness"
    is_command = start == _GO_ON or _is_slash_command(display or start)
    return "command" if is_command else "typed"


def _is_slash_command(text: str) -> bool:
    """Return whether *text* is a command like ``/chat save x``, and not a path like ``/home/user is full``."""
    return _SLASH_COMMAND.match(text) is not None
