"""``openwebui``: chats exported from Open WebUI: a list of them, one with its ``chat``, or the bare chat.

The messages form a tree; what is read is the path that ends at ``currentId``.  Reasoning and tool calls, which it keeps
as ``<details>`` within the text, are taken out of it.  Memory holds the ids of one chat, not its text.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, final

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryReader, KnownRoot
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_of, content_turns, plain_text
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_values import (
    first_said,
    json_object,
    json_objects,
    json_text,
    without_blanks,
)
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES
from chatmemory.pastchats.formats.shapes.conversation_trees import (
    Outline,
    TreeShape,
    conversations_in,
    placed_messages,
)
from chatmemory.pastchats.formats.shapes.message_tree import Node, parent_of

# An answer that was broken off leaves the last one open.
_DETAILS: Final = re.compile(
    r'<details\s+type="(reasoning|tool_calls|code_interpreter)"([^>]*)>(.*?)(?:</details>\s*|\Z)', re.DOTALL
)
_SUMMARY: Final = re.compile(r"<summary>.*?</summary>\s*", re.DOTALL)
_QUOTE: Final = re.compile(r"^> ?", re.MULTILINE)
_ATTRIBUTE: Final = re.compile(r'(\w+)="([^"]*)"')


@final
class OpenWebUi:
    """Reads Open WebUI's exports."""

    name = "openwebui"
    version = 1
    has_global_ids = False
    known_roots: Sequence[KnownRoot] = ()

    def claim(self, head: Head, /) -> Claim | None:
        """Claim documents whose messages name ``parentId`` and ``childrenIds``, under a ``history`` or in a list."""
        for entry in conversations_in(head):
            chat = json_object(entry.get("chat")) or entry
            history = json_object(chat.get("history"))
            tree = list(json_objects(list(json_object(history.get("messages")).values())))
            if any("role" in message and _is_linked(message) for message in tree):
                return Claim(97, "chats with a history of messages that name parentId and childrenIds")
            if any(
                "role" in message and _is_linked(message) for message in json_objects(chat.get("messages"))
            ):
                return Claim(90, "chats with messages that name parentId and childrenIds")
            if chat is not entry and "messages" in history:
                return Claim(80, "chats with a history")
        return None

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the current path of each chat."""
        for found in placed_messages(reader, _SHAPE):
            if isinstance(found, HistoryIssue):
                yield found
            elif json_text(found.message.get("role")) not in PLAIN_ROLES:
                yield UnknownRecord(f"role {found.message.get('role')}")
            else:
                conversation = found.conversation
                native_id = conversation.native_id(reader.path, ("id",), ("chat", "id"))
                title = first_said(conversation.get("title"), conversation.get("chat", "title"))
                yield from _turns(
                    found.message,
                    f"openwebui:{native_id}",
                    native_id=found.native_id,
                    first_index=found.turn_index,
                    title=title,
                )


def _is_linked(message: JsonObject) -> bool:
    return "parentId" in message or "childrenIds" in message


def _identify(key: str | int, message: JsonObject) -> str:
    return key if isinstance(key, str) else json_text(message.get("id")) or f"#{key}"


def _node(message: JsonObject, before: str | None) -> Node:
    # The oldest chats are a list without links.
    parent = parent_of(message.get("parentId")) if "parentId" in message else before
    at = instant_of(message.get("timestamp"))
    turns = _content(message).turn_count if json_text(message.get("role")) in PLAIN_ROLES else 0
    return Node(parent, at.timestamp() if at else 0.0, turns)


def _leaf(conversation: Outline, _nodes: Mapping[str, Node]) -> str | None:
    return first_said(
        conversation.get("chat", "history", "currentId"), conversation.get("history", "currentId")
    )


_SHAPE: Final = TreeShape(
    (
        ("chat", "history", "messages"),
        ("history", "messages"),
        # The same path once more, as a list; where a chat has no tree, all there is.
        ("chat", "messages"),
        ("messages",),
    ),
    _identify,
    _node,
    _leaf,
)


def _turns(
    message: JsonObject,
    conversation_id: str,
    *,
    native_id: str | None,
    first_index: int,
    title: str,
) -> Iterator[PromptTurn]:
    role = PLAIN_ROLES[json_text(message.get("role"))]
    return content_turns(
        _content(message),
        conversation_id=conversation_id,
        role=role,
        kind="harness" if role == "system" else "tool_result" if role == "tool" else "typed",
        native_id=native_id,
        first_index=first_index,
        timestamp=instant_of(message.get("timestamp")),
        metadata=without_blanks({"title": title, "model": message.get("model"), "error": _error(message)}),
    )


def _content(message: JsonObject) -> Content:
    content = content_of(message.get("content"))
    if not content.text:
        _add_output(content, message)
    written, content.texts = content.text, []
    content.texts.append(_DETAILS.sub(lambda match: _take(match, content), written))
    for attached in json_objects(message.get("files")):
        name = first_said(attached.get("name"), json_object(attached.get("file")).get("filename"))
        content.attachments.append(without_blanks({"name": name, "type": attached.get("type")}))
    return content


def _add_output(content: Content, message: JsonObject) -> None:
    """Add the items of an answer, where newer versions keep its words alone."""
    for item in json_objects(message.get("output")):
        if item.get("type") == "message":
            content.add(item.get("content"))
        elif item.get("type") == "reasoning":
            content.thinking.append(plain_text(item.get("content")))
        else:
            content.add(dict(item))


def _take(details: re.Match[str], content: Content) -> str:
    """Put what *details* fold away where it belongs; nothing of it stays in the text."""
    kind, attributes, body = details.groups()
    named = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
    said = _QUOTE.sub("", html.unescape(_SUMMARY.sub("", body)))
    if kind == "reasoning":
        content.thinking.append(said)
    else:
        content.called(named.get("name", kind), named.get("id"))
        content.results.append(named.get("result") or named.get("output") or said)
    return ""


def _error(message: JsonObject) -> Json:
    error = message.get("error")
    return first_said(json_object(error).get("content"), error)


openwebui = OpenWebUi()
