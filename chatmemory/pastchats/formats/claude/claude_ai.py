"""``claude_ai``: the export of Claude.ai, ``conversations.json``, and one conversation as the web interface returns it.

Newer exports link each message to the previous one; then the path that ends at ``current_leaf_message_uuid``, or at
the latest message, is read, and edited branches are not.  Older exports are a list.
Memory holds the ids of one conversation, not its text.
"""

import re
from collections.abc import Mapping
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject, first_said, json_object, json_objects, json_text
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, Head
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_of
from chatmemory.pastchats.formats.shapes.tree_format import Said, TreeFormat, conversations_in, parent_of

# The text that the export writes in place of content that it cannot show.
_UNSHOWN: Final = re.compile(
    r"\s*```\s*\n(?:Viewing artifacts created via the Analysis Tool web feature preview isn.t yet supported on mobile\."
    r"|This block is not supported on your current device yet\.)\s*\n```\s*"
)

_ROLES: Final[Mapping[str, Role]] = {"human": "user", "user": "user", "assistant": "assistant"}

# Other files of the same export, and the keys that identify them.
_NO_TRANSCRIPTS: Final = (
    ({"uuid", "email_address", "full_name"}, "the account (users.json)"),
    ({"uuid", "prompt_template", "docs"}, "projects (projects.json)"),
    ({"account_uuid", "conversations_memory"}, "memories (memories.json)"),
)


def _claim(head: Head) -> Claim | None:
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


def _parent(message: JsonObject, before: str | None) -> str | None:
    """Return the parent of *message*; without a link, the previous message in the file."""
    link = json_text(message.get("parent_message_uuid"))
    return parent_of(link) if link else before


def _said(message: JsonObject) -> Said | UnknownRecord:
    role = _ROLES.get(json_text(message.get("sender")))
    return UnknownRecord(f"sender {message.get('sender')}") if role is None else Said(role, _content(message))


def _content(message: JsonObject) -> Content:
    """Return the blocks of *message*, or its plain ``text`` when they hold no text, and its attachments."""
    content = content_of(message.get("content"))
    if not content.text:
        content.texts.append(json_text(message.get("text")))
    content.texts = [_UNSHOWN.sub("\n\n", text) for text in content.texts]
    for attached in json_objects(message.get("attachments")):
        content.attach(
            attached.get("file_name"), attached.get("file_type"), attached.get("extracted_content")
        )
    for attached in json_objects(message.get("files")):
        name = first_said(attached.get("file_name"), json_object(attached.get("file")).get("name"))
        content.attach(name, attached.get("file_kind"))
    return content


claude_ai: Final = TreeFormat(
    name="claude_ai",
    version=2,
    claim=_claim,
    messages=(("chat_messages",),),
    identify=lambda _key, message: json_text(message.get("uuid")),
    parent=_parent,
    written_at=("created_at",),
    said=_said,
    facts=lambda _message, conversation, _role: {"model": conversation.text(("model",))},
    conversation_id=(("uuid",),),
    title=(("name",),),
    project=(("project", "name"),),
    leaf=(("current_leaf_message_uuid",),),
)
