"""``chatgpt``: the export of ChatGPT, ``conversations.json`` or, since 2026, many ``conversations-000.json``.

A conversation is a tree of nodes under ``mapping``; the path that ends at ``current_node`` is read.  A single
downloaded conversation is read too.  Memory holds the ids of one conversation, not its text.
"""

import re
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import (
    Json,
    JsonObject,
    first_said,
    json_items,
    json_object,
    json_objects,
    json_text,
    value_at,
    without_blanks,
)
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, Head
from chatmemory.pastchats.formats.reading.content_blocks import Content, joined
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES
from chatmemory.pastchats.formats.shapes.tree_format import (
    Outline,
    Said,
    TreeFormat,
    conversations_in,
    parent_of,
)

# Marks of the private use area: "\ue200cite\ue202turn0search1\ue201" is a link, "\ue200entity\ue202[...]\ue201" a
# name.
_MARK: Final = re.compile("\ue200([^\ue200\ue201\ue202]*)(?:\ue202([^\ue200\ue201]*))?\ue201")
_LOOSE_MARKS: Final = re.compile("[\ue200-\ue206]")
_ENTITY_NAME: Final = re.compile(r'\[\s*"[^"]*"\s*,\s*"([^"]*)"')

# Other files of the same export, and the keys that identify them.
_NO_TRANSCRIPTS: Final = (
    ({"chatgpt_plus_user", "email"}, "the account (user.json)"),
    ({"conversation_id", "rating"}, "ratings (message_feedback.json)"),
    ({"conversation_id", "is_anonymous"}, "links (shared_conversations.json)"),
    ({"export_id", "files"}, "the list of the files (export_manifest.json)"),
)


def _claim(head: Head) -> Claim | None:
    """Claim documents with a ``mapping`` of nodes that hold messages and name their parents."""
    for conversation in conversations_in(head):
        nodes = list(json_objects(list(json_object(conversation.get("mapping")).values())))
        # DeepSeek's messages hold fragments instead, and no author.
        is_deepseek = any("fragments" in json_object(node.get("message")) for node in nodes)
        is_linked = any("message" in node and ("parent" in node or "children" in node) for node in nodes)
        if is_linked and not is_deepseek:
            return Claim(97, "conversations with a mapping of nodes, each with message and parent")
    for entry in conversations_in(head) if head.document is not None else ():
        for keys, what in _NO_TRANSCRIPTS:
            if keys <= entry.keys():
                return Claim(80, f"{what} of a ChatGPT export", is_transcript=False)
    return None


def _facts(node: JsonObject, conversation: Outline, role: Role) -> JsonObject:
    model = first_said(
        value_at(node, "message", "metadata", "model_slug"), conversation.text(("default_model_slug",))
    )
    return {
        "model": model if role == "assistant" else "",
        "tool": value_at(node, "message", "author", "name") if role == "tool" else "",
        "gizmo_id": conversation.text(("gizmo_id",)),
        "attachments": _attachments(json_object(node.get("message"))),
    }


def _said(node: JsonObject) -> Said | UnknownRecord | None:
    """Return the speaker and the text, or the called tool; None when there is no text."""
    message = json_object(node.get("message"))
    content = json_object(message.get("content"))
    content_type = json_text(content.get("content_type"))
    details = json_object(message.get("metadata"))
    author = value_at(message, "author", "role")
    role = PLAIN_ROLES.get(json_text(author))
    if role is None:
        return UnknownRecord(f"author {author}") if content else None
    text = _text(content)
    if text is None:
        return UnknownRecord(f"content {content_type}")
    recipient = json_text(message.get("recipient")) or "all"
    if role == "assistant" and recipient != "all":
        return Said("assistant", Content(tool_calls=[{"name": recipient, "id": json_text(node.get("id"))}]))
    if not text:
        return None
    said = Content(texts=[text])
    if details.get("is_visually_hidden_from_conversation") or role == "system" or content_type in _CONTEXT:
        return Said(role, said, "harness")
    if role == "tool" or content_type in _RESULTS:
        return Said("tool", said, "tool_result")
    return Said(role, said, "thinking" if content_type in _THINKING else "typed")


_CONTEXT: Final = frozenset({"user_editable_context", "model_editable_context"})
_RESULTS: Final = frozenset(
    {"tether_browsing_display", "tether_quote", "execution_output", "system_error", "sonic_webpage"}
)
_THINKING: Final = frozenset({"thoughts", "reasoning_recap"})
_PARTS: Final = frozenset({"text", "multimodal_text", "code"})


def _text(content: JsonObject) -> str | None:
    """Return the text of *content*, "" for none; None when its type is unknown."""
    content_type = json_text(content.get("content_type"))
    if content_type in _PARTS:
        parts = [_part(part) for part in json_items(content.get("parts"))] or [json_text(content.get("text"))]
        text = joined(parts)
        return _LOOSE_MARKS.sub("", _MARK.sub(_shown, text)) if "\ue200" in text else text
    if content_type in _RESULTS:
        return joined([first_said(content.get("result"), content.get("text"))])
    if content_type in _CONTEXT:
        names = ("user_profile", "user_instructions", "model_set_context")
        return joined([json_text(content.get(name)) for name in names])
    if content_type in _THINKING:
        thoughts = [
            first_said(one.get("content"), one.get("summary"))
            for one in json_objects(content.get("thoughts"))
        ]
        return joined([*thoughts, json_text(content.get("content"))])
    return None if content_type else ""


def _part(part: Json) -> str:
    if isinstance(part, str):
        return part
    # The transcript of spoken words.
    is_spoken = json_object(part).get("content_type") == "audio_transcription"
    return json_text(json_object(part).get("text")) if is_spoken else ""


def _attachments(message: JsonObject) -> list[JsonObject]:
    content = json_object(message.get("content"))
    named: list[JsonObject] = [
        without_blanks(
            {"name": one.get("name"), "type": first_said(one.get("mime_type"), one.get("mimeType"))}
        )
        for one in json_objects(json_object(message.get("metadata")).get("attachments"))
    ]
    if named:
        return named
    types = [json_text(part.get("content_type")) for part in json_objects(content.get("parts"))]
    return [{"type": one.removesuffix("_asset_pointer")} for one in types if one.endswith("_asset_pointer")]


def _shown(mark: re.Match[str]) -> str:
    """Return the text that a person sees instead of *mark*: the name of an entity; "" for a link."""
    name = _ENTITY_NAME.match(mark[2] or "") if mark[1] == "entity" else None
    return name[1] if name else ""


chatgpt: Final = TreeFormat(
    name="chatgpt",
    claim=_claim,
    messages=(("mapping",),),
    identify=lambda key, _node: str(key),
    parent=lambda node, _before: parent_of(node.get("parent")),
    written_at=("message", "create_time"),
    said=_said,
    facts=_facts,
    conversation_id=(("conversation_id",), ("id",)),
    title=(("title",),),
    leaf=(("current_node",),),
    has_calls_apart=True,
)
