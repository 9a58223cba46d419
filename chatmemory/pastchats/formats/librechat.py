"""``librechat``: conversations exported from LibreChat, flat or with each answer within its question; and Chatbot UI's.

LibreChat does not say which branch was shown last, so the last answer is taken at every fork.  Memory holds the ids of
one conversation, not its text, however deep its messages are nested.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, final

from attrs import define

from chatmemory.contracts.history_format import Claim, Head, HistoryReader, KnownRoot
from chatmemory.messages import Json, JsonObject, Role
from chatmemory.pastchats.formats.content_blocks import Content, content_of, content_turns
from chatmemory.pastchats.formats.conversation_trees import (
    Outline,
    TreeShape,
    Walks,
    conversations_of,
    parted,
    placed_messages,
)
from chatmemory.pastchats.formats.instants import instant_of
from chatmemory.pastchats.formats.json_values import first_said, json_objects, json_text, without_blanks
from chatmemory.pastchats.formats.json_walk import ANY, END, End, WalkPath
from chatmemory.pastchats.formats.message_tree import Node, last_child_leaf, parent_of
from chatmemory.prompts import HistoryIssue, Parsed, PromptTurn

_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
}

_MAX_DEPTH: Final = 3000  # of answers within answers; the longest chats that were seen have hundreds
_THINKING: Final = re.compile(r":::thinking\s*\n(.*?)\n:::\s*", re.DOTALL)


@final
class LibreChat:
    """Reads LibreChat's exports."""

    name = "librechat"
    version = 1
    has_global_ids = False
    known_roots: Sequence[KnownRoot] = ()

    def claim(self, head: Head, /) -> Claim | None:
        """Claim conversations with ``conversationId`` and messages that say ``isCreatedByUser``, or Chatbot UI's file."""
        for entry in conversations_of(head.document):
            messages = list(json_objects(entry.get("messages")))
            if any("messageId" in message and "isCreatedByUser" in message for message in messages):
                return Claim(97, "messages with messageId and isCreatedByUser")
            if "conversationId" in entry and {"exportAt", "recursive"} & entry.keys():
                return Claim(92, "a conversationId with exportAt and recursive")
            is_chatbot_ui = {"id", "name", "messages", "folderId"} <= entry.keys()
            if is_chatbot_ui and any("role" in message for message in messages):
                return Claim(90, "a history of Chatbot UI: id, name, messages and folderId")
        return None

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of each conversation along its last answers."""
        for found in placed_messages(reader, _SHAPE):
            if isinstance(found, HistoryIssue):
                yield found
                continue
            conversation = found.conversation
            native_id = conversation.native_id(reader.path, ("conversationId",), ("id",))
            yield from _turns(
                found.message,
                f"librechat:{native_id}",
                native_id=first_said(found.message.get("messageId")) or None,
                first_index=found.turn_index,
                title=first_said(conversation.get("title"), conversation.get("name")),
            )


def _identify(key: str | int, message: JsonObject, before: str | None) -> tuple[str, Node]:
    parent = parent_of(message.get("parentMessageId")) if "parentMessageId" in message else before
    turns = sum(1 for _ in _turns(message, ""))
    return first_said(message.get("messageId")) or f"#{key}", Node(parent, turns=turns)


def _leaf(_conversation: Outline, nodes: Mapping[str, Node]) -> str | None:
    return last_child_leaf(nodes)


@final
@define
class _Open:
    """A message that is being read."""

    fields: dict[str, Json]
    is_given: bool = False


def _flattened(source: str, walked: Walks) -> Walks:
    """Bring messages that lie within their parents to one list, each as soon as it is known, without its children."""
    opened: list[_Open] = []
    given = 0
    for found in walked:
        if isinstance(found, HistoryIssue):
            yield found
            continue
        path, value = found
        root, within = parted(path)
        if within[:1] != ("messages",) or len(within) == 1:
            yield found
            continue
        is_member = isinstance(within[-1], str)
        depth = (len(within) - is_member) // 2
        is_new = len(opened) < depth
        if is_new and depth > 1 and not opened[depth - 2].is_given and _is_known(opened[depth - 2].fields):
            given += 1
            yield _give(root, given, opened, depth - 1)
        if is_new:
            opened.append(_Open({}))
        name = within[-1]
        if isinstance(name, str):
            if isinstance(value, End):
                continue
            if name == "children" and value:
                yield HistoryIssue("malformed_record", source, f"messages nested more than {_MAX_DEPTH} deep")
            if not opened[depth - 1].is_given:
                opened[depth - 1].fields[name] = value
        elif value is not END:
            opened.pop()
            yield path, value
        else:
            if not opened[depth - 1].is_given:
                given += 1
                yield _give(root, given, opened, depth)
            del opened[depth - 1 :]


def _is_known(fields: JsonObject) -> bool:
    return "messageId" in fields and ("text" in fields or "content" in fields)


def _give(root: WalkPath, number: int, opened: list[_Open], depth: int) -> tuple[WalkPath, Json]:
    """Return the message at *depth* with a number of its own, and forget all but its id."""
    one = opened[depth - 1]
    message, one.is_given = one.fields, True
    one.fields = {"messageId": message.get("messageId", f"#{number}")}
    if depth > 1:
        message["parentMessageId"] = opened[depth - 2].fields.get("messageId")
    return (*root, "messages", number), message


_SHAPE: Final = TreeShape(
    (("messages",),),
    _identify,
    _leaf,
    nested=(("messages", ANY) + ("children", ANY) * _MAX_DEPTH,),
    flatten=_flattened,
)


def _turns(
    message: JsonObject,
    conversation_id: str,
    *,
    native_id: str | None = None,
    first_index: int | None = None,
    title: str = "",
) -> Iterator[PromptTurn]:
    is_user = message.get("isCreatedByUser") or json_text(message.get("sender")).lower() == "user"
    role = _ROLES.get(json_text(message.get("role"))) or ("user" if is_user else "assistant")
    return content_turns(
        _content(message),
        conversation_id=conversation_id,
        role=role,
        kind="harness" if role == "system" else "tool_result" if role == "tool" else "typed",
        native_id=native_id,
        first_index=first_index,
        timestamp=instant_of(message.get("createdAt")),
        metadata=without_blanks(
            {
                "title": title,
                "model": message.get("model"),
                "sender": "" if role == "user" else message.get("sender"),
                "is_error": True if message.get("error") else None,
            }
        ),
    )


def _content(message: JsonObject) -> Content:
    content = content_of(message.get("content"))
    text = json_text(message.get("text"))
    if text.strip():
        content.thinking.extend(_THINKING.findall(text))
        content.texts = [_THINKING.sub("", text)]
    for attached in json_objects(message.get("files")):
        fields: JsonObject = {"name": attached.get("filename"), "type": attached.get("type")}
        content.attachments.append(without_blanks(fields))
    return content


librechat = LibreChat()
