"""``openwebui``: chats exported from Open WebUI: a list of them, one with its ``chat``, or the bare chat.

The messages form a tree; the path that ends at ``currentId`` is read.  Reasoning and tool calls, which are stored as
``<details>`` within the text, are taken out of it.  Memory holds the ids of one chat, not its text.
"""

import html
import re
from typing import Final

from chatmemory.input.json_value import JsonObject, first_said, json_object, json_objects, json_text, value_at
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, Head
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_of, plain_text
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES, kind_of
from chatmemory.pastchats.formats.shapes.tree_format import Said, TreeFormat, conversations_in, linked_by

# In an interrupted answer, the last element has no end.
_DETAILS: Final = re.compile(
    r'<details\s+type="(reasoning|tool_calls|code_interpreter)"([^>]*)>(.*?)(?:</details>\s*|\Z)', re.DOTALL
)
_SUMMARY: Final = re.compile(r"<summary>.*?</summary>\s*", re.DOTALL)
_QUOTE: Final = re.compile(r"^> ?", re.MULTILINE)
_ATTRIBUTE: Final = re.compile(r'(\w+)="([^"]*)"')


def _claim(head: Head) -> Claim | None:
    """Claim documents whose messages have ``parentId`` and ``childrenIds``, under a ``history`` or in a list."""
    for entry in conversations_in(head):
        chat = json_object(entry.get("chat")) or entry
        history = json_object(chat.get("history"))
        tree = list(json_objects(list(json_object(history.get("messages")).values())))
        if any(map(_is_linked, tree)):
            return Claim(97, "chats with a history of messages that name parentId and childrenIds")
        if any(map(_is_linked, json_objects(chat.get("messages")))):
            return Claim(90, "chats with messages that name parentId and childrenIds")
        if chat is not entry and "messages" in history:
            return Claim(80, "chats with a history")
    return None


def _is_linked(message: JsonObject) -> bool:
    return "role" in message and ("parentId" in message or "childrenIds" in message)


def _said(message: JsonObject) -> Said | UnknownRecord:
    role = PLAIN_ROLES.get(json_text(message.get("role")))
    if role is None:
        return UnknownRecord(f"role {message.get('role')}")
    return Said(role, _content(message), kind_of(role))


def _content(message: JsonObject) -> Content:
    content = content_of(message.get("content"))
    if not content.text:
        _add_output(content, message)
    written, content.texts = content.text, []
    content.texts.append(_DETAILS.sub(lambda match: _take(match, content), written))
    for attached in json_objects(message.get("files")):
        name = first_said(attached.get("name"), json_object(attached.get("file")).get("filename"))
        content.attach(name, attached.get("type"))
    return content


def _add_output(content: Content, message: JsonObject) -> None:
    """Add the items of an answer, because newer versions store only its words in the content."""
    for item in json_objects(message.get("output")):
        if item.get("type") == "message":
            content.add(item.get("content"))
        elif item.get("type") == "reasoning":
            content.thinking.append(plain_text(item.get("content")))
        else:
            content.add(dict(item))


def _take(details: re.Match[str], content: Content) -> str:
    """Move the content of *details* to the thinking or the results, and return "" as its replacement in the text."""
    kind, attributes, body = details.groups()
    named = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
    said = _QUOTE.sub("", html.unescape(_SUMMARY.sub("", body)))
    if kind == "reasoning":
        content.thinking.append(said)
    else:
        content.called(named.get("name", kind), named.get("id"))
        content.results.append(named.get("result") or named.get("output") or said)
    return ""


openwebui: Final = TreeFormat(
    name="openwebui",
    claim=_claim,
    messages=(
        ("chat", "history", "messages"),
        ("history", "messages"),
        # The same path once more, as a list; a chat without a tree has only this list.
        ("chat", "messages"),
        ("messages",),
    ),
    identify=lambda key, message: key if isinstance(key, str) else json_text(message.get("id")) or f"#{key}",
    # The oldest chats are a list without links.
    parent=linked_by("parentId"),
    written_at=("timestamp",),
    said=_said,
    facts=lambda message, _conversation, _role: {
        "model": message.get("model"),
        "error": first_said(value_at(message, "error", "content"), message.get("error")),
    },
    conversation_id=(("id",), ("chat", "id")),
    title=(("title",), ("chat", "title")),
    leaf=(("chat", "history", "currentId"), ("history", "currentId")),
)
