"""``Content``: the content of a message, a text or a list of blocks, sorted into its parts.

The blocks are those of Anthropic's and OpenAI's APIs, which most tools store unchanged.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, final

from attrs import define, evolve, field

from chatmemory.input.choices import Role
from chatmemory.input.json_value import (
    EMPTY,
    Json,
    JsonObject,
    first_said,
    first_text,
    json_items,
    json_object,
    json_objects,
    json_text,
    without_blanks,
)
from chatmemory.pastchats.formats.histories import PromptTurn
from chatmemory.pastchats.formats.reading.envelopes import HARNESS, words_and_notes
from chatmemory.pastchats.prompt import TurnKind

BETWEEN_BLOCKS: Final = "\n\n"

_TEXT: Final = frozenset({"text", "input_text", "output_text", "markdown", "refusal", "voice_note"})
_THINKING: Final = frozenset({"thinking", "reasoning", "think"})
_TOOL_USE: Final = frozenset(
    {"tool_use", "server_tool_use", "mcp_tool_use", "function_call", "tool-call", "tool_call"}
)
_ATTACHED: Final = frozenset({
    "image", "image_url", "imageUrl", "input_image", "image_file", "document", "file", "input_file",
    "audio", "video",
})  # fmt: skip


@final
@define
class Content:
    """The parts of one message.

    Attributes:
        texts: the texts that a person reads.
        thinking: the thoughts of a model.
        results: the results of tools.
        attached: texts that came with the message, which the speaker did not write.
        tool_calls: ``{name, id}`` of each.
        attachments: ``{name, type}`` of each.
        unknown: the types of the parts that the reader does not know.
    """

    texts: list[str] = field(factory=list[str])
    thinking: list[str] = field(factory=list[str])
    results: list[str] = field(factory=list[str])
    attached: list[str] = field(factory=list[str])
    tool_calls: list[JsonObject] = field(factory=list[JsonObject])
    attachments: list[JsonObject] = field(factory=list[JsonObject])
    unknown: list[str] = field(factory=list[str])

    @property
    def text(self) -> str:
        """The texts that a person reads, joined."""
        return joined(self.texts)

    @property
    def turn_count(self) -> int:
        """The number of turns that ``content_turns`` makes from the content."""
        kinds = (self.texts, self.thinking, self.results, self.attached)
        return sum(any(map(str.strip, texts)) for texts in kinds if texts)

    def add(self, content: Json) -> None:
        """Add the parts of *content*: a text, a block, or a list of them."""
        for block in json_items(content) if isinstance(content, list) else (content,):
            if isinstance(block, str):
                self.texts.append(block)
            else:
                self._add_block(json_object(block))

    def _add_block(self, block: JsonObject) -> None:
        kind = json_text(block.get("type"))
        if kind in _TEXT:
            text = block.get("text")
            self.texts.append(first_said(text, json_object(text).get("value"), block.get("refusal")))
        elif kind in _THINKING:
            self.thinking.append(first_said(block.get("thinking"), block.get("text"), block.get("think")))
        elif kind in _TOOL_USE:
            call = json_object(block.get("tool_call")) or block
            self.called(call.get("name"), first_said(call.get("id"), call.get("call_id")))
            self.results.append(json_text(call.get("output")))
        elif kind.endswith("tool_result") or kind in {"function_call_output", "tool-result"}:
            self.results.append(plain_text(block.get("content") or block.get("output")))
        elif kind in _ATTACHED:
            name = first_said(block.get("name"), block.get("filename"), block.get("path"), block.get("title"))
            # An image's text would be its description, a file's is its content: the speaker wrote neither.
            self.attach(name, kind, block.get("content"))

    def called(self, name: Json, native_id: Json = None) -> None:
        """Add the call of a tool."""
        self.tool_calls.append(without_blanks({"name": json_text(name), "id": json_text(native_id)}))

    def attach(self, name: Json, kind: Json, text: Json = None) -> None:
        """Add what came with the message; *text* is its text, if the history holds it."""
        self.attachments.append(without_blanks({"name": name, "type": kind}))
        self.attached.append(json_text(text))


def content_of(content: Json) -> Content:
    """Return the parts of *content*."""
    parts = Content()
    parts.add(content)
    return parts


def plain_text(content: Json) -> str:
    """Return all text in *content*: a text, a block, or a list of them; a list inside a list is ignored."""
    blocks = json_items(content) if isinstance(content, list) else (content,)
    return joined([block if isinstance(block, str) else _plain(json_object(block)) for block in blocks])


def _plain(block: JsonObject) -> str:
    return first_said(block.get("text"), block.get("content"), block.get("value"), block.get("output"))


def joined(texts: Sequence[str]) -> str:
    """Return *texts* separated by blank lines, without blank texts."""
    if len(texts) == 1:
        return texts[0].strip()
    kept = [text.strip() for text in texts]
    return "\n\n".join(text for text in kept if text)


def parts_of(content: Json) -> Content:
    """Return the parts of a message of Claude Code or Cursor; *attached* are blocks and notes that the tool added."""
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


def content_turns(
    content: Content,
    *,
    conversation_id: str,
    role: Role,
    kind: TurnKind = "typed",
    native_id: str = "",
    first_index: int | None = None,
    timestamp: datetime | None = None,
    project: str = "",
    metadata: JsonObject = EMPTY,
) -> Iterator[PromptTurn]:
    """Yield the turns of one message in their natural order: thinking, text, attached, results.

    The tool calls belong to the turn of the text, or of the thinking when there is no text.  *first_index* is the
    ``turn_index`` of the first turn.  Blank members of *metadata* are left out.
    """
    if role == "user" and kind == "typed":
        parted = [words_and_notes(text) for text in content.texts]
        notes = [note for _, note in parted if note]
        content = evolve(content, texts=[own for own, _ in parted], attached=[*notes, *content.attached])
    calls = without_blanks({"tool_calls": content.tool_calls, "attachments": content.attachments})
    text = content.text
    said: list[tuple[str, Role, TurnKind, str]] = [(text, role, kind, "")]
    if content.thinking:
        said.insert(0, (joined(content.thinking), "assistant", "thinking", "#thinking"))
    if content.attached:
        said.append((joined(content.attached), role, "harness", "#attached"))
    if content.results:
        said.append((joined(content.results), "tool", "tool_result", "#result"))
    bearer = "" if text else "#thinking"
    spoken = [one for one in said if one[0]]
    for place, (words, speaker, text_kind, suffix) in enumerate(spoken):
        yield PromptTurn(
            conversation_id=conversation_id,
            role=speaker,
            content=words,
            kind=text_kind,
            native_id=native_id + suffix if native_id else None,
            turn_index=None if first_index is None else first_index + place,
            timestamp=timestamp,
            project=project,
            metadata=without_blanks({**metadata, **(calls if suffix == bearer else {})}),
        )
