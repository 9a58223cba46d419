"""``deepseek``: the export of DeepSeek, ``conversations.json`` in a zip archive.

A conversation is a tree of nodes under ``mapping``, like ChatGPT's; a message holds ``fragments``: REQUEST of a
person, THINK and RESPONSE of the model.  The export names no leaf: at every fork the last answer is taken.  Built
from public readers of the export.
"""

from typing import Final

from chatmemory.input.json_value import JsonObject, json_object, json_objects, json_text, value_at
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, Head
from chatmemory.pastchats.formats.reading.content_blocks import Content
from chatmemory.pastchats.formats.shapes.tree_format import Said, TreeFormat, conversations_in, parent_of

_SILENT: Final = frozenset({"SEARCH", "READ_LINK", "TIP", "TEMPLATE_RESPONSE"})


def _claim(head: Head) -> Claim | None:
    """Claim documents with a ``mapping`` of nodes whose messages hold fragments."""
    for conversation in conversations_in(head):
        nodes = json_objects(list(json_object(conversation.get("mapping")).values()))
        if any("fragments" in json_object(node.get("message")) for node in nodes):
            return Claim(97, "conversations with a mapping of nodes, whose messages hold fragments")
    return None


def _said(node: JsonObject) -> Said | UnknownRecord | None:
    message = json_object(node.get("message"))
    content = Content()
    is_request = False
    for fragment in json_objects(message.get("fragments")):
        kind, text = json_text(fragment.get("type")), json_text(fragment.get("content"))
        if kind in {"REQUEST", "RESPONSE"}:
            is_request |= kind == "REQUEST"
            content.texts.append(text)
        elif kind == "THINK":
            content.thinking.append(text)
        elif kind not in _SILENT:
            content.unknown.append(kind or "(none)")
    for file in json_objects(message.get("files")):
        content.attach(file.get("file_name"), "file", file.get("content"))
    if not content.turn_count:
        return UnknownRecord(f"fragment {content.unknown[0]}") if content.unknown else None
    return Said("user" if is_request else "assistant", content)


deepseek: Final = TreeFormat(
    name="deepseek",
    claim=_claim,
    messages=(("mapping",),),
    identify=lambda key, _node: str(key),
    parent=lambda node, _before: parent_of(node.get("parent")),
    written_at=("message", "inserted_at"),
    said=_said,
    facts=lambda node, _conversation, role: {
        "model": value_at(node, "message", "model") if role == "assistant" else ""
    },
    conversation_id=(("id",),),
    title=(("title",),),
)
