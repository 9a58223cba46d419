"""``listed_turns``: the turns of one message of a list: its text, its thoughts, the results of its tools."""

from collections.abc import Iterator
from typing import Final

from attrs import evolve

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject, json_items, json_object, json_objects, json_text
from chatmemory.pastchats.formats.histories import PromptTurn
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_turns
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.shapes.message_lists import Holder
from chatmemory.pastchats.prompt import TurnKind

TIME_FIELDS: Final = (
    "timestamp",
    "created_at",
    "createdAt",
    "create_time",
    "created",
    "time",
    "ts",
    "date",
    "datetime",
    "sent_at",
)
_FACTS: Final = ("title", "topic", "model", "source", "category")


def listed_turns(
    parts: Content,
    message: JsonObject,
    holder: Holder,
    *,
    conversation_id: str,
    role: Role,
    kind: TurnKind | None = None,
    native_id: str = "",
    speaker: str | None = None,
) -> Iterator[PromptTurn]:
    """Yield the turns of *message*; no turns when it has no text.  Without *kind*, its role decides."""
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(reasoning, str) and reasoning.strip():
        parts.thinking.insert(0, reasoning)
    facts: dict[str, Json] = {
        name: value for name in _FACTS if isinstance(value := holder.fields.get(name), str) and value.strip()
    }
    name = holder.fields.get("name")
    if isinstance(name, str) and name.strip():
        facts.setdefault("title", name)
    model = message.get("model")
    if isinstance(model, str) and model:
        facts["model"] = model
    instants = (instant_of(message[name]) for name in TIME_FIELDS if name in message)
    turns = content_turns(
        parts,
        conversation_id=conversation_id,
        role=role,
        kind=kind or ("tool_result" if role == "tool" else "typed"),
        native_id=native_id,
        timestamp=next((instant for instant in instants if instant is not None), None),
        metadata=facts,
    )
    for turn in turns:
        yield turn if speaker is None else evolve(turn, speaker=speaker)


def content_in(value: Json) -> Content:
    """Return the parts of a message's content: a text, blocks, or the object that some tools wrap around them."""
    if isinstance(value, dict) and not value.get("type"):
        inner = next((value[name] for name in ("parts", "text", "content", "value") if name in value), None)
        return content_in(inner if isinstance(inner, str | list) else None)
    parts = Content()
    if isinstance(value, list):
        for block in json_items(value):
            _add_block(parts, block)
    else:
        parts.add(value)
    return parts


def _add_block(parts: Content, block: Json) -> None:
    """Add a block; a block without a type is in Google's form."""
    part = json_object(block)
    if not part or part.get("type"):
        parts.add(block)
    elif part.get("thought") is True:
        parts.thinking.append(json_text(part.get("text")))
    else:
        parts.texts.append(json_text(part.get("text")))


def note_calls(parts: Content, message: JsonObject) -> None:
    """Add the tool calls of *message* in the forms of OpenAI and LangChain, except those that its content already holds."""
    known = [call.get("id") for call in parts.tool_calls]
    for call in json_objects(message.get("tool_calls")):
        function = json_object(call.get("function")) or call
        if call.get("id") not in known:
            parts.called(function.get("name"), call.get("id"))
    legacy = json_object(message.get("function_call"))
    if legacy:
        parts.called(legacy.get("name"))
