"""``LineFormat``: a format of one JSON record per line, defined as a table.

A tool adds functions that recognize and read its records; damaged lines, the records of an abandoned branch and the
number of turns of a message are handled in the same way for all tools.

``Questions`` counts the questions of a person, so that a tool can take back the last ones with all that follows them.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias, TypeVar, final

from attrs import define, evolve, field, frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject, json_object
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryReader, KnownRoot, surest
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_turns
from chatmemory.pastchats.formats.reading.json_lines import object_lines
from chatmemory.pastchats.formats.reading.text_lines import holds
from chatmemory.pastchats.prompt import TurnKind


@final
@define
class Session:
    """The facts about the whole file in the records so far; without *native_id*, the path is the id of the conversation."""

    native_id: str = ""
    project: str = ""
    facts: dict[str, Json] = field(factory=dict[str, Json])


@final
@frozen(kw_only=True)
class Line:
    """The content, speaker and time of a record."""

    role: Role
    content: Content
    kind: TurnKind = "typed"
    native_id: str = ""
    at: datetime | None = None
    facts: JsonObject = field(factory=dict[str, Json])


Read: TypeAlias = Line | UnknownRecord | None
Link: TypeAlias = tuple[str, str | None]
"""The id of a record, and the id of its parent."""

Id = TypeVar("Id")


@final
@define
class Questions:
    """The questions so far; the first pass over a file finds those that the second one marks.

    *undone* are the numbers of those that are taken back later, from 1.
    """

    undone: frozenset[int] = frozenset()
    _asked: int = 0
    _kept: list[int] = field(factory=list[int])

    def ask(self) -> None:
        """Count a question."""
        self._asked += 1
        self._kept.append(self._asked)

    def take_back(self, count: int) -> None:
        """Take back the last *count* questions."""
        del self._kept[max(len(self._kept) - max(count, 0), 0) :]

    @property
    def is_undone(self) -> bool:
        """Whether the present question is taken back later."""
        return self._asked in self.undone

    @classmethod
    def of(
        cls, reader: HistoryReader, sign: str, parse: "Callable[[Questions], Iterable[object]]"
    ) -> "Questions":
        """Return the questions with those that are taken back, if *sign*, which tells of it, is in the file."""
        first = cls()
        if holds(reader, sign.encode()):
            for _ in parse(first):
                pass
        return cls(frozenset(range(1, first._asked + 1)).difference(first._kept))


@final
@frozen(kw_only=True)
class LineFormat:
    """A ``HistoryFormat`` of lines.

    Attributes:
        claim_of: returns the claim for a record, given the path; the highest confidence in a head counts.
        read: returns the content of a record, None for no words, and stores facts about the whole file in the session.
        link: returns the position of a record in a tree, to mark abandoned branches.  None: the records are a list.
        begin: stores facts about the whole file, from its path or from files near it.
        undo: the type of a record that takes back questions, and the name of their number in it; None: there is none.
    """

    name: str
    claim_of: Callable[[JsonObject, str], Claim | None]
    read: Callable[[JsonObject, Session], Read]
    link: Callable[[JsonObject], Link | None] | None = None
    begin: Callable[[HistoryReader, Session], None] = lambda _reader, _session: None
    undo: tuple[str, str] | None = None
    version: int = 1
    has_global_ids: bool = False
    known_roots: Sequence[KnownRoot] = ()

    def claim(self, head: Head, /) -> Claim | None:
        """Return the claim with the highest confidence for a record of the head."""
        return surest(self.claim_of(json_object(value), head.path) for value in head.records)

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the file in their order, and an issue for each damage."""
        questions = Questions()
        if self.undo is not None:
            questions = Questions.of(reader, self.undo[0], lambda first: self._parsed(reader, first))
        yield from self._parsed(reader, questions)

    def _parsed(self, reader: HistoryReader, questions: Questions) -> Iterator[Parsed]:
        left = frozenset[str | None]() if self.link is None else _left_branches(reader, self.link)
        session = Session()
        self.begin(reader, session)
        calls: list[JsonObject] = []
        for found in object_lines(reader):
            if isinstance(found, HistoryIssue):
                yield found
                continue
            record, _ = found
            place = self.link(record) if self.link is not None else None
            read = self.read(record, session)
            if self.undo is not None and record.get("type") == self.undo[0]:
                count = record.get(self.undo[1])
                questions.take_back(count if isinstance(count, int) else 0)
            if isinstance(read, Line):
                if read.role == "user" and read.kind == "typed" and read.content.text:
                    questions.ask()
                if questions.is_undone or (place is not None and place[0] in left):
                    read = evolve(read, facts={**read.facts, "on_current_path": False})
            if isinstance(read, UnknownRecord):
                yield read
            elif read is not None:
                yield from _turns(read, session, f"{self.name}:{session.native_id or reader.path}", calls)


def _turns(read: Line, session: Session, conversation_id: str, calls: list[JsonObject]) -> Iterator[Parsed]:
    content = read.content
    if not content.turn_count:
        calls += content.tool_calls  # a call in a record of its own belongs to the next turn
        return
    if calls and read.role == "assistant":
        content = evolve(content, tool_calls=[*calls, *content.tool_calls])
    calls.clear()
    yield from content_turns(
        content,
        conversation_id=conversation_id,
        role=read.role,
        kind=read.kind,
        native_id=read.native_id,
        timestamp=read.at,
        project=session.project,
        metadata={**session.facts, **read.facts},
    )


def _left_branches(reader: HistoryReader, link: Callable[[JsonObject], Link | None]) -> frozenset[str | None]:
    """Return the ids of the records on another branch than the one that ends with the last record.

    A record whose link to the others is broken by damage is on no abandoned branch.
    """
    parents: dict[str | None, str | None] = {}
    last = ""
    for found in object_lines(reader):
        place = None if isinstance(found, HistoryIssue) else link(found[0])
        if place is not None:
            last, parents[place[0]] = place
    path: set[str | None] = set()
    at: str | None = last
    while at in parents and at not in path:
        path.add(at)
        at = parents[at]
    path.add(at)  # the beginning of the path: None, or a record that is missing
    return frozenset(branches_off(parents, path))


def branches_off(parents: Mapping[Id, Id], path: Container[Id]) -> Iterator[Id]:
    """Yield the records that branch off *path*; *parents* has the id of the parent by the id of each record."""
    is_off: dict[Id, bool] = {}
    for start in parents:
        chain: list[Id] = []
        at = start
        while at in parents and at not in path and at not in is_off:
            is_off[at] = False  # stops at a cycle
            chain.append(at)
            at = parents[at]
        if at in path or is_off.get(at):
            is_off.update(dict.fromkeys(chain, True))
            yield from chain
