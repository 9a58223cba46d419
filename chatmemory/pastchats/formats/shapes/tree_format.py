"""``TreeFormat``: a format of JSON documents in which each message names the one before it, said as a table.

A tool adds what its fields are called and what a message says; which files are damaged, which branch is the current one
and how many turns a message makes is the same for all.
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
from chatmemory.pastchats.formats.reading.json_values import value_at, without_blanks
from chatmemory.pastchats.formats.shapes.conversation_trees import Nesting, Outline, Place, placed_messages
from chatmemory.pastchats.formats.shapes.message_tree import Node, last_child_leaf
from chatmemory.pastchats.prompt import TurnKind


@final
@frozen
class Said:
    """What a message says, and who says it."""

    role: Role
    content: Content
    kind: TurnKind = "typed"


@final
@frozen(kw_only=True)
class TreeFormat:
    """A ``HistoryFormat`` by the places of its fields: of several places, the first that holds something counts.

    Attributes:
        claim: returns how sure it is of a head; ``conversations_in`` gives the conversations to look at.
        messages: where in a conversation its messages lie.
        identify: returns the id of a message, given its key and itself; "" for none.
        parent: returns the id of the message before, given a message and the id of the one before it in the file.
        written_at: where in a message its time is.
        said: returns what a message says; None for nothing, and an ``UnknownRecord`` for what no reader knows.
        facts: returns the metadata of a message beside its title, given its conversation and its role.
        conversation_id: where in a conversation its id is.
        title: where in a conversation its title is.
        project: where in a conversation the name of its project is.
        leaf: where in a conversation the id of its last message is; where no place is given, the last answer is taken
            at every fork.
        has_calls_apart: the call of a tool is a message of its own, and is told with the next answer.
        nesting: how messages lie within messages; None: they lie side by side.
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
        """Return what the path needs to know of *message*; *before* is the id of the one before it in the file."""
        said = self.said(message)
        at = instant_of(value_at(message, *self.written_at))
        turns = said.content.turn_count if isinstance(said, Said) else 0
        return Node(self.parent(message, before), at.timestamp() if at else 0.0, turns)

    def last(self, conversation: Outline, nodes: Mapping[str, Node]) -> str | None:
        """Return where the current path of *conversation* ends."""
        return conversation.text(*self.leaf) if self.leaf else last_child_leaf(nodes)

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the current path of each conversation, and what could not be read."""
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
