"""``librechat``: conversations exported from LibreChat, flat or with each answer inside its question; and Chatbot UI's.

LibreChat does not store which branch was shown last, so the last answer is taken at every fork.  Memory holds the ids
of one conversation, not its text, at any depth of nesting.
"""

import re
from typing import Final, final

from attrs import define, field

from chatmemory.input.json_value import Json, JsonObject, first_said, json_objects, json_text
from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryReader
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_of
from chatmemory.pastchats.formats.reading.json_walk import ANY, END, End, WalkPath
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES, kind_of
from chatmemory.pastchats.formats.reading.text_lines import holds
from chatmemory.pastchats.formats.shapes.tree_format import (
    Nesting,
    Said,
    TreeFormat,
    Walks,
    conversations_in,
    linked_by,
    parted,
)

_MAX_DEPTH: Final = 3000  # of answers within answers; the longest known chats have hundreds
_THINKING: Final = re.compile(r":::thinking\s*\n(.*?)\n:::\s*", re.DOTALL)


def _claim(head: Head) -> Claim | None:
    """Claim conversations with ``conversationId`` and messages with ``isCreatedByUser``, or Chatbot UI's file."""
    for entry in conversations_in(head):
        messages = list(json_objects(entry.get("messages")))
        if any("messageId" in message and "isCreatedByUser" in message for message in messages):
            return Claim(97, "messages with messageId and isCreatedByUser")
        if "conversationId" in entry and {"exportAt", "recursive"} & entry.keys():
            return Claim(92, "a conversationId with exportAt and recursive")
        is_chatbot_ui = {"id", "name", "messages", "folderId"} <= entry.keys()
        if is_chatbot_ui and any("role" in message for message in messages):
            return Claim(90, "a history of Chatbot UI: id, name, messages and folderId")
    return None


@final
@define
class _Open:
    """A message that is being read."""

    fields: dict[str, Json] = field(factory=dict[str, Json])
    is_given: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether the message can be yielded: its id and its text are read, and it was not yielded before."""
        return (
            not self.is_given
            and "messageId" in self.fields
            and bool({"text", "content"} & self.fields.keys())
        )


def _flattened(source: str, walked: Walks) -> Walks:
    """Move messages inside their parents to one list, each as soon as it is complete, without its children."""
    opened: list[_Open] = []
    given = 0
    for found in walked:
        if isinstance(found, HistoryIssue):
            yield found
            continue
        path, value = found
        root, within = parted(path)
        if within[:1] != ("messages",) or not _is_of_lists(within):
            yield found
            continue
        depth = len(within) // 2
        if 0 < len(opened) == depth - 1 and opened[-1].is_complete:
            given += 1
            yield _give(root, given, opened)
        opened.extend(_Open() for _ in range(depth - len(opened)))
        name = within[-1]
        if isinstance(name, str):
            if name == "children" and isinstance(value, list) and value:
                yield HistoryIssue("malformed_record", source, f"messages nested more than {_MAX_DEPTH} deep")
            if not opened[-1].is_given and not isinstance(value, End):
                opened[-1].fields[name] = value
            continue
        if value is not END:
            yield (*root, "messages", "?"), value
        elif not opened[-1].is_given:
            given += 1
            yield _give(root, given, opened)
        opened.pop()


def _is_of_lists(within: WalkPath) -> bool:
    """Return whether *within* leads to a message or to a member of a message, through lists only."""
    return len(within) > 1 and str not in set(map(type, within[1::2]))


def _give(root: WalkPath, number: int, opened: list[_Open]) -> tuple[WalkPath, Json]:
    """Return the innermost message with a number of its own, and keep only its id."""
    one = opened[-1]
    message, one.is_given = one.fields, True
    one.fields = {"messageId": message.get("messageId", f"#{number}")}
    above = opened[-2].fields.get("messageId") if opened[:-1] else None
    if above is not None:
        message["parentMessageId"] = above
    return (*root, "messages", number), message


def _nesting(reader: HistoryReader) -> Nesting | None:
    # To look for answers in messages takes a fiftieth of the time of a nested read.
    return (
        (("messages", ANY) + ("children", ANY) * _MAX_DEPTH, _flattened)
        if holds(reader, b'"children"')
        else None
    )


def _said(message: JsonObject) -> Said:
    is_user = message.get("isCreatedByUser") or json_text(message.get("sender")).lower() == "user"
    role = PLAIN_ROLES.get(json_text(message.get("role"))) or ("user" if is_user else "assistant")
    return Said(role, _content(message), kind_of(role))


def _content(message: JsonObject) -> Content:
    content = content_of(message.get("content"))
    text = json_text(message.get("text"))
    if text.strip():
        content.thinking.extend(_THINKING.findall(text))
        content.texts = [_THINKING.sub("", text)]
    for attached in json_objects(message.get("files")):
        content.attach(attached.get("filename"), attached.get("type"))
    return content


librechat: Final = TreeFormat(
    name="librechat",
    claim=_claim,
    messages=(("messages",),),
    nesting=_nesting,
    identify=lambda _key, message: first_said(message.get("messageId")),
    parent=linked_by("parentMessageId"),
    written_at=("createdAt",),
    said=_said,
    facts=lambda message, _conversation, role: {
        "model": message.get("model"),
        "sender": "" if role == "user" else message.get("sender"),
        "is_error": True if message.get("error") else None,
    },
    conversation_id=(("conversationId",), ("id",)),
    title=(("title",), ("name",)),
)
