"""Messages of Claude Code that have several lines, and the queue of turns that wait until they are complete."""

from collections import deque
from collections.abc import Iterator
from typing import Final, final

from attrs import define, field

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.claude.claude_text import BETWEEN_BLOCKS, ClaudeParts, united
from chatmemory.pastchats.formats.histories import PromptTurn
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_values import json_object, json_text, without_blanks
from chatmemory.pastchats.prompt import TurnKind

_HELD_CHARACTERS: Final = 8 * 1024 * 1024
"""The limit of text that waits for an earlier message to be complete."""


@final
@define
class Place:
    """The conversation that a record belongs to.

    Attributes:
        session: the id of the conversation, without the name of the format.
    """

    session: str
    project: str = ""
    metadata: dict[str, Json] = field(factory=dict[str, Json])


@final
@define
class Message:
    """A message of the model that later lines may extend."""

    place: Place
    record: JsonObject
    native_id: str | None
    lines: dict[str, ClaudeParts] = field(factory=dict[str, ClaudeParts])
    held: int = 0
    is_whole: bool = False
    is_left_behind: bool = True


@final
@define
class Waiting:
    """A queue of turns in their order; the first one is a message that is not complete yet."""

    entries: deque[Message | PromptTurn] = field(factory=deque["Message | PromptTurn"])
    open: dict[str, Message] = field(factory=dict[str, Message])
    held: int = 0

    def add(self, entry: Message | PromptTurn) -> None:
        """Append *entry* to the queue."""
        self.entries.append(entry)
        self.held += len(entry.content) if isinstance(entry, PromptTurn) else 0

    def leave(self, *, all_of_them: bool = False) -> Iterator[PromptTurn]:
        """Yield and remove the turns that no longer wait, or that have waited for too long."""
        while self.entries:
            entry = self.entries[0]
            if isinstance(entry, Message):
                if not (entry.is_whole or all_of_them or self.held > _HELD_CHARACTERS):
                    return
                entry.is_whole = True
                self.held -= entry.held
                yield from _turns_of(entry)
            else:
                self.held -= len(entry.content)
                yield entry
            self.entries.popleft()


def _turns_of(message: Message) -> Iterator[PromptTurn]:
    record = message.record
    lines = tuple(message.lines.values())
    thoughts = [(line, thought) for line, parts in enumerate(lines) for thought in parts.thoughts]
    words = [(line, text) for line, parts in enumerate(lines) for text in parts.words]
    calls = {
        json_text(call["id"]) or str(place): call
        for place, call in enumerate(c for p in lines for c in p.tool_calls)
    }
    metadata = message.place.metadata | {"model": json_text(json_object(record.get("message")).get("model"))}
    if message.is_left_behind:
        metadata["on_current_path"] = False
    if record.get("isApiErrorMessage") is True:
        metadata["is_api_error"] = True
    spoken: tuple[tuple[TurnKind, list[tuple[int, str]], str], ...] = (
        ("thinking", thoughts, "#thinking"),
        ("typed", words, ""),
    )
    for kind, texts, suffix in spoken:
        content = BETWEEN_BLOCKS.join(united(texts))
        if content:
            extra = {"tool_calls": tuple(calls.values())} if kind == "typed" else {}
            yield PromptTurn(
                conversation_id=f"claude_code:{message.place.session}",
                role="assistant",
                content=content,
                kind=kind,
                native_id=message.native_id + suffix if message.native_id is not None else None,
                timestamp=instant_of(record.get("timestamp")),
                project=message.place.project,
                metadata=without_blanks({**metadata, **extra}),
            )
