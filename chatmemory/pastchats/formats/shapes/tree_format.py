"""``TreeFormat``: a format of JSON documents in which each message names its parent, defined as a table.

A tool adds the names of its fields and a function that reads a message; damaged files, the choice of the current
branch and the number of turns of a message are handled in the same way for all tools.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import final

from attrs import frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryReader, KnownRoot
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_turns
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_walk import value_at, without_blanks
from chatmemory.pastchats.formats.shapes.conversation_trees import (
    Nesting,
    Node,
    Outline,
    Place,
    last_child_leaf,
    placed_messages,
)
from chatmemory.pastchats.prompt import TurnKind


@final
@frozen
class Said:
    """The content of a message, and its speaker."""

    role: Role
    content: Content
    kind: TurnKind = "typed"


@final
@frozen(kw_only=True)
class TreeFormat:
    """A ``HistoryFormat``, defined by the places of its fields: of several places, the first with a value counts.

    Attributes:
        claim: returns the claim for a head; ``conversations_in`` returns the conversations to examine.
        messages: the places of the messages in a conversation.
        identify: returns the id of a message, given its key and the message; "" for none.
        parent: returns the id of the parent, given a message and the id of the previous message in the file.
        written_at: the place of the time in a message.
        said: returns the content of a message; None for no content, and an ``UnknownRecord`` for an unknown type.
        facts: returns the metadata of a message apart from its title, given its conversation and its role.
        conversation_id: the places of the id in a conversation.
        title: the places of the title in a conversation.
        project: the places of the project's name in a conversation.
        leaf: the places of the id of the last message in a conversation; without a place, the last answer is taken at
            every fork.
        has_calls_apart: the call of a tool is a message of its own, and belongs to the turn of the next answer.
        nesting: the structure of messages inside messages; None: messages are not nested.
    """

    name: str
    claim: Callable[[Head], Claim | None]
    messages: tuple[Place, ...]
    identify: Callable[[str | int, JsonObject], str]
    parent: Callable[[JsonObject, str | None], str | None]
    written_at: Place
    said: Callable[[JsonObject], Said | UnknownRecord | None]
    facts: Callable[[JsonObject, Outline, Role], JsonObject]
    conversation_id: tuple[Place, ...]
    title: tuple[Place, ...]
    project: tuple[Place, ...] = ()
    leaf: tuple[Place, ...] = ()
    has_calls_apart: bool = False
    nesting: Nesting | None = None
    version: int = 1
    has_global_ids: bool = False
    known_roots: Sequence[KnownRoot] = ()

    def node(self, message: JsonObject, before: str | None) -> Node:
        """Return the node of *message* in the tree; *before* is the id of the previous message in the file."""
        said = self.said(message)
        at = instant_of(value_at(message, *self.written_at))
        turns = said.content.turn_count if isinstance(said, Said) else 0
        return Node(self.parent(message, before), at.timestamp() if at else 0.0, turns)

    def last(self, conversation: Outline, nodes: Mapping[str, Node]) -> str | None:
        """Return the id where the current path of *conversation* ends."""
        return conversation.text(*self.leaf) if self.leaf else last_child_leaf(nodes)

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the current path of each conversation, and an issue for each damage."""
        conversation: Outline | None = None
        conversation_id = title = project = ""
        calls: list[JsonObject] = []
        for found in placed_messages(reader, self):
            if isinstance(found, HistoryIssue):
                yield found
                continue
            if found.conversation is not conversation:
                conversation, calls = found.conversation, []
                conversation_id = f"{self.name}:{conversation.native_id(reader.path, *self.conversation_id)}"
                title, project = conversation.text(*self.title), conversation.text(*self.project)
            said = self.said(found.message)
            if isinstance(said, UnknownRecord):
                yield said
            if not isinstance(said, Said):
                continue
            if self.has_calls_apart and not said.content.turn_count:
                calls += said.content.tool_calls
                continue
            if said.role == "assistant" and said.kind == "typed":
                said.content.tool_calls[:0], calls = calls, []
            yield from content_turns(
                said.content,
                conversation_id=conversation_id,
                role=said.role,
                kind=said.kind,
                native_id=found.native_id,
                first_index=found.turn_index,
                timestamp=instant_of(value_at(found.message, *self.written_at)),
                project=project,
                metadata=without_blanks(
                    {"title": title, **self.facts(found.message, found.conversation, said.role)}
                ),
            )
