"""A first look over a transcript of Claude Code, for what a reader must know before it comes to it.

Where each message ends, which records were left behind when somebody went back, what a session is called.  It looks
for a few fields in the bytes of each line rather than decoding them, at a fraction of the time, and keeps hashes.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, cast, final

from attrs import field, frozen

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.history_format import HistoryReader
from chatmemory.pastchats.formats.reading.byte_lines import byte_lines
from chatmemory.pastchats.formats.reading.json_values import first_text, json_object, json_text

_UUID: Final = re.compile(rb'"uuid"\s*:\s*"([^"]+)"')
_PARENT: Final = re.compile(rb'"parentUuid"\s*:\s*"([^"]+)"')
_LOGICAL_PARENT: Final = re.compile(rb'"logicalParentUuid"\s*:\s*"([^"]+)"')
_SESSION: Final = re.compile(rb'"session(?:Id|_id)"\s*:\s*"([^"]+)"')
_KIND: Final = re.compile(rb'"type"\s*:\s*"(user|assistant|progress)"')
_MESSAGE_ID: Final = re.compile(rb'"message"\s*:\s*\{[^{}\[\]]*?"id"\s*:\s*"([^"]+)"')
_SIDECHAIN: Final = re.compile(rb'"isSidechain"\s*:\s*(true|false)')
_TITLE: Final = re.compile(rb'"type"\s*:\s*"(?:custom-title|ai-title|summary)"')

_LONGEST_TITLE: Final = 4_096
"""Bytes of a record that is a title; a longer line is something else."""

_SAME_LINE_AGAIN: Final = 50
"""A record that is repeated within so many lines was written again because it grew; one that is repeated further on is
a copy, made when the session was taken up again."""


@final
@frozen
class ClaudeSurvey:
    """What is known of a transcript.

    Attributes:
        last_lines: of each message that has several lines, the number of the last.
        main_sessions: sessions with records that belong to no subagent.
        left_behind: hashes of the ids of records on a branch that somebody went back from.
        titles: by session.
    """

    last_lines: Mapping[str, int]
    main_sessions: frozenset[str]
    left_behind: frozenset[int]
    titles: Mapping[str, str]

    def is_left_behind(self, uuid: str) -> bool:
        """Tell whether the record *uuid* is on no path to the end of its session."""
        return bool(uuid) and mark_of(uuid) in self.left_behind


def mark_of(uuid: str) -> int:
    """Return what stands for *uuid* where thousands are remembered."""
    return hash(uuid.encode("utf-8", "surrogatepass"))


@final
@frozen
class _Titles:
    custom: dict[str, str] = field(factory=dict[str, str])
    written: dict[str, str] = field(factory=dict[str, str])
    summaries: dict[str, str] = field(factory=dict[str, str])
    """By the id of the record that the summary ends at, which may lie in another file."""

    def note(self, line: bytes) -> None:
        record = json_object(_decoded(line))
        session = first_text(record, "sessionId", "session_id")
        if title := json_text(record.get("customTitle")):
            self.custom[session] = title
        elif title := json_text(record.get("aiTitle")):
            self.written[session] = title
        elif title := json_text(record.get("summary")):
            self.summaries[json_text(record.get("leafUuid"))] = title


def survey(reader: HistoryReader) -> ClaudeSurvey:
    """Look over *reader*.

    Raises:
        UnreadableHistoryError: the file cannot be read.
    """
    parents: dict[int, int] = {}  # of every record, by hash
    tips: dict[str, int] = {}
    first_lines: dict[str, int] = {}
    last_lines: dict[str, int] = {}
    titles = _Titles()
    session = ""
    for line, number, _, ending in byte_lines(reader):
        if ending == "too_long":
            continue
        if (found := _SESSION.search(line)) is not None:
            session = found[1].decode("utf-8", "replace")
        if len(line) < _LONGEST_TITLE and _TITLE.search(line):
            titles.note(line)
        uuids = [hash(uuid) for uuid in _UUID.findall(line)]
        parent = _PARENT.search(line) or _LOGICAL_PARENT.search(line)
        is_copy = bool(uuids) and uuids[-1] in parents
        for uuid in uuids:
            # A record may quote another one: the ids of both lead to the same parent, which only the true one uses.
            parents.setdefault(uuid, hash(parent[1]) if parent is not None else 0)
        kind = _KIND.search(line)
        if kind is None or kind[1] == b"progress":
            continue
        if (sidechain := _SIDECHAIN.search(line)) is None or sidechain[1] == b"false":
            if uuids:
                tips[session] = uuids[-1]
            else:
                tips.setdefault(session, 0)
        if message := _message_id(line, is_answer=kind[1] == b"assistant"):
            first_lines.setdefault(message, number)
            last = last_lines.get(message, first_lines[message])
            if not is_copy or number - last <= _SAME_LINE_AGAIN:
                last_lines[message] = number
    named = {
        session: title
        for session in tips
        for leaf, title in titles.summaries.items()
        # A summary at the beginning of a file describes another session as a rule.
        if len(tips) == 1 and mark_of(leaf) in parents
    }
    return ClaudeSurvey(
        {message: last for message, last in last_lines.items() if last != first_lines[message]},
        frozenset(tips),
        frozenset(_left_behind(parents, tips)),
        named | titles.written | titles.custom,
    )


def _message_id(line: bytes, *, is_answer: bool) -> str:
    if (found := _MESSAGE_ID.search(line)) is not None:
        return found[1].decode("utf-8", "replace")
    if not is_answer:
        return ""
    message = json_object(json_object(_decoded(line)).get("message"))
    return json_text(message.get("id"))


def _decoded(line: bytes) -> Json:
    try:
        return cast("Json", json.loads(line))
    except (ValueError, RecursionError):
        return None


def _left_behind(parents: Mapping[int, int], tips: Mapping[str, int]) -> Iterator[int]:
    """Yield the records that branch off the path to a tip; those that hang on nothing known are not among them."""
    on_path: set[int] = set()
    for tip in tips.values():
        at = tip
        while at in parents and at not in on_path:
            on_path.add(at)
            at = parents[at]
    is_off: dict[int, bool] = {}
    for record in parents:
        chain: list[int] = []
        at = record
        while at in parents and at not in on_path and at not in is_off:
            is_off[at] = False  # a circle ends here
            chain.append(at)
            at = parents[at]
        verdict = at in on_path or is_off.get(at, False)
        for link in chain:
            is_off[link] = verdict
    return (record for record, verdict in is_off.items() if verdict)
