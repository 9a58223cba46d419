"""``TreeFormat``: a format of JSON documents in which each message names its parent, defined as a table.

A tool adds the names of its fields and a function that reads a message; damaged files, the choice of the current
branch and the number of turns of a message are handled in the same way for all tools.

The conversations are in a list, or one per line.  The document is walked twice, side by side: the first walk learns
the tree of ids of a conversation, the second one yields its messages.  So they come in the order of the file, each
with its position on the path.

``current_path`` follows only links to parents: every edit and every retry in a chat leaves a branch.  Lists of children are
redundant, and some exports leave them out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, final

from attrs import define, evolve, field, frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import (
    Json,
    JsonObject,
    first_said,
    json_items,
    json_objects,
    value_at,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryReader, KnownRoot
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_turns
from chatmemory.pastchats.formats.reading.history_head import read_head
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_walk import ANY, END, End, Walked, WalkPath, walk
from chatmemory.pastchats.formats.reading.text_lines import MAX_RECORD_BYTES, TextReader, byte_lines
from chatmemory.pastchats.prompt import TurnKind

NO_PARENTS: Final = frozenset(
    {"", "00000000-0000-0000-0000-000000000000", "00000000-0000-4000-8000-000000000000"}
)
"""The values that tools write when a message has no parent."""

WRAPPERS: Final = ("conversations", "chats", "items", "data", "history")
"""The names under which an object holds a list of conversations."""

_HEADER_CHARACTERS: Final = 4096  # a longer value is neither a title nor an id

Place: TypeAlias = tuple[str, ...]
"""The keys that lead to the messages in a conversation."""

Walks: TypeAlias = Iterator[Walked | HistoryIssue]

Nesting: TypeAlias = tuple[Place, Callable[[str, Walks], Walks]]
"""The place of messages inside messages, and a function that moves them to their usual place, given the path of the file."""


@final
@frozen
class Node:
    """A message, reduced to what the path needs: the id of the message before it, and its number of turns.

    *at* is its time in unix seconds; 0: unknown.
    """

    parent: str | None
    at: float = 0.0
    turns: int = 0


@final
@define
class Outline:
    """A conversation without its messages.

    Attributes:
        root: the path of the conversation in the document.
        fields: its plain members by their path within, such as ``("chat", "title")``.
        places: by the path of each list of messages, its messages, until their order is known.
        calls: the tool calls that belong to the next answer.
        order: by the id of each message on the current path, the index of its first turn.
        place: the path of the list that holds these messages.
        is_wrapper: the outline is the document around the conversations.
        conversation_id, title, project: what its turns have in common, once they are read.
    """

    root: WalkPath
    fields: dict[WalkPath, Json] = field(factory=dict[WalkPath, Json])
    places: dict[WalkPath, dict[str, Node]] = field(factory=dict[WalkPath, dict[str, Node]])
    calls: list[JsonObject] = field(factory=list[JsonObject])
    order: dict[str, int] = field(factory=dict[str, int])
    place: WalkPath | None = None
    is_wrapper: bool = False
    conversation_id: str = ""
    title: str = ""
    project: str = ""

    def text(self, *places: Place) -> str:
        """Return the first text at one of *places* that is not blank; "" for none."""
        return first_said(*(self.fields.get(place) for place in places))


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
        conversation_id, title, project: the places of the id, the title and the project's name in a conversation.
        leaf: the places of the id of its last message; without a place, the last answer is taken at every fork.
        has_calls_apart: the call of a tool is a message of its own, and belongs to the turn of the next answer.
        nesting: returns whether, and where, the messages of a file are inside one another.
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
    nesting: Callable[[HistoryReader], Nesting | None] = lambda _reader: None
    version: int = 1
    has_global_ids: bool = False
    known_roots: Sequence[KnownRoot] = ()

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the current path of each conversation, and an issue for each damage."""
        nesting = self.nesting(reader)
        ahead = _outlines(_walked(reader, self, nesting), self)
        outline: Outline | None = None
        for found in _walked(reader, self, nesting):
            if isinstance(found, HistoryIssue):
                yield found
                continue
            path, value = found
            root, within = parted(path)
            is_message = within[:-1] in self.messages
            if not is_message and within:
                continue
            if not is_message and value is not End.END:
                yield _malformed(reader, path, "no conversation")
                continue
            if outline is None or outline.root != root:
                # Both walks meet the same conversations, unless the file changed in between: then it is read again.
                outline = next((one for one in ahead if one.root == root), Outline(root))
                # Without an id, the number of the conversation in the file.
                place = f"{reader.path}#{root[-1]}" if root else reader.path
                outline.conversation_id = f"{self.name}:{outline.text(*self.conversation_id) or place}"
                outline.title, outline.project = outline.text(*self.title), outline.text(*self.project)
            if not is_message:
                if not outline.places and not outline.is_wrapper:
                    name = ".".join(self.messages[0])
                    yield _malformed(reader, root, f"a conversation without {name!r}")
            elif within[:-1] == outline.place:
                if isinstance(value, Mapping):
                    yield from self._turns(value, within[-1], outline)
                else:
                    yield _malformed(reader, path, "a message that is no object")

    def _turns(self, message: JsonObject, key: str | int, conversation: Outline) -> Iterator[Parsed]:
        """Yield the turns of *message*, if it is on the current path of *conversation*."""
        native_id = self.identify(key, message)
        turn_index = conversation.order.get(native_id or f"#{key}")
        said = None if turn_index is None else self.said(message)
        if isinstance(said, UnknownRecord):
            yield said
        if not isinstance(said, Said):
            return
        if self.has_calls_apart and not said.content.turn_count:
            conversation.calls += said.content.tool_calls
            return
        if said.role == "assistant" and said.kind == "typed":
            said.content.tool_calls[:0], conversation.calls = conversation.calls, []
        yield from content_turns(
            said.content,
            conversation_id=conversation.conversation_id,
            role=said.role,
            kind=said.kind,
            native_id=native_id,
            first_index=turn_index,
            timestamp=instant_of(value_at(message, *self.written_at)),
            project=conversation.project,
            metadata={"title": conversation.title, **self.facts(message, conversation, said.role)},
        )


def _outlines(walked: Walks, shape: TreeFormat) -> Iterator[Outline]:
    """Yield the outline of each conversation at its end."""
    document = Outline(())
    outline = document
    for found in walked:
        if isinstance(found, HistoryIssue):
            continue
        path, value = found
        root, within = parted(path)
        if outline.root != root:
            outline = Outline(root) if root else document
            document.is_wrapper = True
        if not within:
            if isinstance(value, End):
                yield _ordered(outline, shape)
        elif isinstance(value, End):
            if within in shape.messages:
                outline.places.setdefault(within, {})
        elif within[:-1] not in shape.messages:
            if not isinstance(value, str) or len(value) <= _HEADER_CHARACTERS:
                outline.fields[within] = value if isinstance(value, str | int | float | None) else None
        elif isinstance(value, Mapping):
            nodes = outline.places.setdefault(within[:-1], {})
            said, at = shape.said(value), instant_of(value_at(value, *shape.written_at))
            nodes[shape.identify(within[-1], value) or f"#{within[-1]}"] = Node(
                shape.parent(value, next(reversed(nodes), None)),
                at.timestamp() if at else 0.0,
                said.content.turn_count if isinstance(said, Said) else 0,
            )


def _ordered(outline: Outline, shape: TreeFormat) -> Outline:
    """Return *outline* with the order of the messages on its path, and without its other messages."""
    outline.place = next((place for place in shape.messages if outline.places.get(place)), None)
    if outline.place is not None:
        nodes = outline.places[outline.place]
        turns = 0
        leaf = outline.text(*shape.leaf) if shape.leaf else last_child_leaf(nodes)
        for native_id in current_path(nodes, leaf):
            outline.order[native_id] = turns
            turns += nodes[native_id].turns
    outline.places = {place: {} for place in outline.places}
    return outline


def _malformed(reader: HistoryReader, path: WalkPath, detail: str) -> HistoryIssue:
    where = ".".join(map(str, path))
    return HistoryIssue("malformed_record", reader.path, f"{detail}, at {where}" if where else detail)


def _walked(reader: HistoryReader, shape: TreeFormat, nesting: Nesting | None) -> Walks:
    roots: tuple[Place, ...] = ((), (ANY,), *((wrapper, ANY) for wrapper in WRAPPERS))
    places = shape.messages if nesting is None else (nesting[0],)
    if read_head(reader).is_only_lines:
        walked = _walked_lines(reader, places)
    else:
        walked = walk(reader, *(root + place for root in roots for place in places))
    return walked if nesting is None else nesting[1](reader.path, walked)


def _walked_lines(reader: HistoryReader, places: tuple[Place, ...]) -> Walks:
    """Walk over the conversations in lines as if they were the members of a list."""
    for line, number, offset, ending in byte_lines(reader):
        if ending == "too_long":
            limit = f"a record of more than {MAX_RECORD_BYTES // 1024**2} MiB"
            yield HistoryIssue("too_large", reader.path, limit, number, offset)
        elif line.strip():
            for found in walk(TextReader(reader.path, {reader.path: line}), *places):
                if isinstance(found, HistoryIssue):
                    code = "malformed_record" if ending == "newline" else found.code
                    yield evolve(found, code=code, line=number, offset=offset)
                else:
                    yield (number - 1, *found[0]), found[1]
    yield (), END


def conversations_in(head: Head) -> list[JsonObject]:
    """Return the objects that may be conversations: in a list, a wrapped list, one per line, or a single one."""
    document = head.document
    if head.is_only_lines:
        return list(json_objects(list(head.records)))
    if isinstance(document, Mapping):
        for wrapper in WRAPPERS:
            if json_items(document.get(wrapper)):
                return list(json_objects(document.get(wrapper)))
        return [document]
    return list(json_objects(document))


def parted(path: WalkPath) -> tuple[WalkPath, WalkPath]:
    """Split *path* into the path of the conversation in the document and the path within the conversation."""
    if path and isinstance(path[0], int):
        return path[:1], path[1:]
    if len(path) > 1 and path[0] in WRAPPERS and isinstance(path[1], int):
        return path[:2], path[2:]
    return (), path


def parent_of(value: object) -> str | None:
    """Return the id in a field that names the parent; None for no parent."""
    return value if isinstance(value, str) and value not in NO_PARENTS else None


def linked_by(name: str) -> Callable[[JsonObject, str | None], str | None]:
    """Return a function that finds the parent of a message in its field *name*; without the field, it is the previous message."""

    def parent(message: JsonObject, before: str | None) -> str | None:
        return parent_of(message[name]) if name in message else before

    return parent


def latest_leaf(nodes: Mapping[str, Node]) -> str | None:
    """Return the latest message without an answer; among equals the last in the file.

    When links form cycles, every message has an answer: then all messages are compared.
    """
    answered = {node.parent for node in nodes.values()}
    leaves = [native_id for native_id in nodes if native_id not in answered] or list(nodes)
    return max(reversed(leaves), key=lambda native_id: nodes[native_id].at, default=None)


def last_child_leaf(nodes: Mapping[str, Node]) -> str | None:
    """Return the leaf that is reached by taking the last answer at each fork, beginning with the last root."""
    last: dict[str | None, str] = {}
    for native_id, node in nodes.items():
        last[node.parent if node.parent in nodes else None] = native_id
    at, seen = last.get(None), set[str]()
    while at is not None and at in last and at not in seen:
        seen.add(at)
        at = last[at]
    return at or latest_leaf(nodes)


def current_path(nodes: Mapping[str, Node], leaf: str | None) -> list[str]:
    """Return the messages from the root to *leaf*, or to the latest leaf when *leaf* does not exist.

    When a parent is missing because its record is damaged, the path continues with the latest leaf before the gap, so
    that a damaged message costs no other message.
    """
    path: list[str] = []
    seen: set[str] = set()
    at = leaf if leaf in nodes else latest_leaf(nodes)
    while at is not None:
        while at is not None and at in nodes and at not in seen:
            seen.add(at)
            path.append(at)
            at = nodes[at].parent
        at = _before_the_gap(nodes, path[-1], at, seen) if at is not None and at not in seen else None
    return path[::-1]


def _before_the_gap(nodes: Mapping[str, Node], after: str, gap: str, seen: set[str]) -> str | None:
    """Return the latest leaf before *after* in the file and in time, without messages below the same *gap*: they are siblings."""
    earlier: dict[str, Node] = {}
    for native_id, node in nodes.items():
        if native_id == after:
            break
        if native_id not in seen and node.at <= nodes[after].at:
            earlier[native_id] = node
    siblings = {gap}
    for native_id, node in earlier.items():
        if node.parent in siblings:
            siblings.add(native_id)
    return latest_leaf({native_id: node for native_id, node in earlier.items() if native_id not in siblings})
