"""The texts in a message of Claude Code: words, thoughts, results of tools, and texts that the tool added."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from chatmemory.input.json_value import (
    Json,
    JsonObject,
    first_text,
    json_items,
    json_object,
    json_objects,
    json_text,
)
from chatmemory.pastchats.formats.reading.content_blocks import Content
from chatmemory.pastchats.formats.reading.envelopes import CONTINUED, HARNESS, words_and_notes
from chatmemory.pastchats.prompt import TurnKind

BETWEEN_BLOCKS: Final = "\n\n"

_SHELL_INPUT: Final = re.compile(r"\s*<bash-input>")


def parts_of(content: Json) -> Content:
    """Return the parts of a message's ``content``, a string or a list of blocks; *attached* are blocks that the tool added."""
    parts = Content()
    items = json_items(content)
    for item in (content,) if isinstance(content, str) else items:
        block = json_object(item)
        text = item if isinstance(item, str) else json_text(block.get("text"))
        kind = "text" if isinstance(item, str) else json_text(block.get("type"))
        if kind == "text" and text.strip():
            own, notes = words_and_notes(text)
            if notes and own:
                parts.attached.append(notes)
                parts.texts.append(own)
            else:
                (parts.attached if len(items) > 1 and HARNESS.match(text) else parts.texts).append(text)
        elif kind == "thinking" and (thought := json_text(block.get("thinking"))).strip():
            parts.thinking.append(thought)
        elif kind in {"tool_use", "server_tool_use", "mcp_tool_use"}:
            parts.tool_calls.append({"name": json_text(block.get("name")), "id": json_text(block.get("id"))})
        elif kind.endswith("tool_result") and (result := _text_of_result(block.get("content"))).strip():
            parts.results.append(result)
    return parts


def _text_of_result(content: Json) -> str:
    if isinstance(content, str):
        return content
    return BETWEEN_BLOCKS.join(text for block in json_objects(content) if (text := first_text(block, "text")))


def kind_of_words(text: str, record: JsonObject) -> TurnKind:
    """Return the kind of *text*, which is the text of a user's message in *record*."""
    if record.get("isCompactSummary") is True or text.startswith(CONTINUED):
        return "summary"
    origin = json_text(json_object(record.get("origin")).get("kind"))
    if (
        record.get("isMeta") is True
        or record.get("isVisibleInTranscriptOnly") is True
        or bool(record.get("interruptedMessageId"))
        or origin not in {"", "human"}
        or HARNESS.match(text)
    ):
        return "harness"
    return "command" if _SHELL_INPUT.match(text) else "typed"


def united(texts: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Yield the texts of a message that was written in several lines, in their order; each is given with its line.

    A text that continues the text of an earlier line replaces it: the message was written while it grew.
    """
    kept: list[tuple[int, str]] = []
    for line, text in texts:
        for place, (earlier_line, earlier) in enumerate(kept):
            if earlier_line != line and text.startswith(earlier):
                kept[place] = (line, text)
                break
        else:
            kept.append((line, text))
    return (text for _, text in kept)
