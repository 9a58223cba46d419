"""``claude_ai``: the export of Claude.ai, ``conversations.json``, and one conversation as the web interface gives it.

Newer exports link each message to the one before it; then the path that ends at ``current_leaf_message_uuid``, or at the
latest message, is read, and branches that were edited away are not.  Older ones are a list.
Memory holds the ids of one conversation, not its text.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryReader, KnownRoot
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_of, content_turns
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_values import (
    first_said,
    json_object,
    json_objects,
    json_text,
    without_blanks,
)
from chatmemory.pastchats.formats.shapes.conversation_trees import (
    Outline,
    PlacedMessage,
    TreeShape,
    conversations_in,
    placed_messages,
)
from chatmemory.pastchats.formats.shapes.message_tree import NO_PARENTS, Node

_ROLES: Final[Mapping[str, Role]] = {"human": "user", "user": "user", "assistant": "assistant"}

# Other files of the same export, and the keys that tell them.
_NO_TRANSCRIPTS: Final = (
    ({"uuid", "email_address", "full_name"}, "the account (users.json)"),
    ({"uuid", "prompt_template", "docs"}, "projects (projects.json)"),
    ({"account_uuid", "conversations_memory"}, "memories (memories.json)"),
)


@final
class ClaudeAi:
    """Reads Claude.ai's export."""

    name = "claude_ai"
    version = 1
    has_global_ids = False
    known_roots: Sequence[KnownRoot] = ()

    def claim(self, head: Head, /) -> Claim | None:
        """Claim documents with conversations that have a ``uuid`` and ``chat_messages``."""
        entries = conversations_in(head)
        for conversation in entries:
            messages = list(json_objects(conversation.get("chat_messages")))
            if any("sender" in message and "uuid" in message for message in messages):
                return Claim(97, "conversations with chat_messages, each with sender and uuid")
        for entry in entries:
            if {"uuid", "chat_messages"} <= entry.keys():
                return Claim(92, "conversations with uuid and chat_messages")
            for keys, what in _NO_TRANSCRIPTS:
                if keys <= entry.keys():
                    return Claim(80, f"{what} of a Claude.ai export", is_transcript=False)
        return None

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of each conversation."""
        for found in placed_messages(reader, _SHAPE):
            if isinstance(found, HistoryIssue):
                yield found
            elif json_text(found.message.get("sender")) not in _ROLES:
                yield UnknownRecord(f"sender {found.message.get('sender')}")
            else:
                yield from _turns(reader, found)


def _identify(key: str | int, message: JsonObject) -> str:
    return json_text(message.get("uuid")) or f"#{key}"


def _node(message: JsonObject, before: str | None) -> Node:
    parent = message.get("parent_message_uuid")
    # Where nothing links a message, it follows the one before it.
    is_linked = isinstance(parent, str) and parent != ""
    at = instant_of(message.get("created_at"))
    turns = 0 if json_text(message.get("sender")) not in _ROLES else _content(message).turn_count
    return Node(
        before if not is_linked else None if parent in NO_PARENTS else json_text(parent),
        at.timestamp() if at else 0.0,
        turns,
    )


def _leaf(conversation: Outline, _nodes: Mapping[str, Node]) -> str | None:
    return json_text(conversation.get("current_leaf_message_uuid"))


_SHAPE: Final = TreeShape((("chat_messages",),), _identify, _node, _leaf)


def _turns(reader: HistoryReader, found: PlacedMessage) -> Iterator[PromptTurn]:
    message, conversation = found.message, found.conversation
    return content_turns(
        _content(message),
        conversation_id=f"claude_ai:{conversation.native_id(reader.path, ('uuid',))}",
        role=_ROLES[json_text(message.get("sender"))],
        native_id=json_text(message.get("uuid")) or None,
        first_index=found.turn_index,
        timestamp=instant_of(message.get("created_at")),
        project=json_text(conversation.get("project", "name")),
        metadata=without_blanks({"title": conversation.get("name"), "model": conversation.get("model")}),
    )


def _content(message: JsonObject) -> Content:
    """Return the blocks of *message*; where they hold no text, its plain ``text``; and what was attached."""
    content = content_of(message.get("content"))
    if not content.text:
        content.texts.append(json_text(message.get("text")))
    for attached in json_objects(message.get("attachments")):
        content.attachments.append(
            without_blanks({"name": attached.get("file_name"), "type": attached.get("file_type")})
        )
        content.attached.append(json_text(attached.get("extracted_content")))
    for attached in json_objects(message.get("files")):
        name = first_said(attached.get("file_name"), json_object(attached.get("file")).get("name"))
        content.attachments.append(without_blanks({"name": name, "type": attached.get("file_kind")}))
    return content


claude_ai = ClaudeAi()
