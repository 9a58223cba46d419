"""``survey``: a first pass over a transcript of Claude Code, for facts that the reader needs in advance.

It finds where each message ends, which records a rewind left behind, and the titles of sessions.  It searches the
bytes of each line for a few fields instead of decoding them, in a fraction of the time, and stores hashes.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, cast, final

from attrs import frozen

from chatmemory.input.json_value import Json, first_text, json_object, json_text
from chatmemory.pastchats.formats.history_format import HistoryReader
from chatmemory.pastchats.formats.reading.text_lines import byte_lines
from chatmemory.pastchats.formats.shapes.line_format import branches_off

_UUID: Final = re.compile(rb'"uuid"\s*:\s*"([^"]+)"')
_PARENT: Final = re.compile(rb'"parentUuid"\s*:\s*"([^"]+)"')
_LOGICAL_PARENT: Final = re.compile(rb'"logicalParentUuid"\s*:\s*"([^"]+)"')
_SESSION: Final = re.compile(rb'"session(?:Id|_id)"\s*:\s*"([^"]+)"')
_KIND: Final = re.compile(rb'"type"\s*:\s*"(user|assistant|progress)"')
_MESSAGE_ID: Final = re.compile(rb'"message"\s*:\s*\{[^{}\[\]]*?"id"\s*:\s*"([^"]+)"')
_SIDECHAIN: Final = re.compile(rb'"isSidechain"\s*:\s*(true|false)')
_TITLE: Final = re.compile(rb'"type"\s*:\s*"(?:custom-title|ai-title|summary)"')

_LONGEST_TITLE: Final = 4_096
"""The longest record of a title, in bytes; a longer line is something else."""

_SAME_LINE_AGAIN: Final = 50
"""A record that is repeated within this many lines was written again because it grew; a record that is repeated later
is a copy, made when the session was resumed."""


@final
@frozen
class ClaudeSurvey:
    """The facts about a transcript.

    Attributes:
        last_lines: by the id of a message with several lines, the number of its last line.
        main_sessions: sessions with records that belong to no subagent.
        left_behind: hashes of the ids of records on a branch that a rewind abandoned.
        titles: by session.
    """

    last_lines: Mapping[str, int]
    main_sessions: frozenset[str]
    left_behind: frozenset[int]
    titles: Mapping[str, str]

    def is_left_behind(self, uuid: str) -> bool:
        """Return whether the record *uuid* is on no path to the end of its session."""
        return bool(uuid) and mark_of(uuid) in self.left_behind


def mark_of(uuid: str) -> int:
    """Return the hash of *uuid*, which takes less memory when thousands are stored."""
    return hash(uuid.encode("utf-8", "surrogatepass"))


def survey(reader: HistoryReader) -> ClaudeSurvey:
    """Read *reader* once and return the facts about its transcript."""
    parents: dict[int, int] = {}  # of every record, by hash
    tips: dict[str, int] = {}
    first_lines: dict[str, int] = {}
    last_lines: dict[str, int] = {}
    titles: dict[str, dict[str, str]] = {"customTitle": {}, "aiTitle": {}, "summary": {}}
    session = ""
    for line, number, _, ending in byte_lines(reader):
        if ending == "too_long":
            continue
        if (found := _SESSION.search(line)) is not None:
            session = found[1].decode("utf-8", "replace")
        if len(line) < _LONGEST_TITLE and _TITLE.search(line):
            _note_title(line, titles)
        uuids = [hash(uuid) for uuid in _UUID.findall(line)]
        sidechain = _SIDECHAIN.search(line)
        is_aside = sidechain is not None and sidechain[1] == b"true"
        # A subagent is on no path of the session, and was not left behind for that.
        parent = None if is_aside else _PARENT.search(line) or _LOGICAL_PARENT.search(line)
        is_copy = bool(uuids) and uuids[-1] in parents
        for uuid in uuids:
            # A record may quote another one: the ids of both lead to the same parent, which only the real record
            # uses.
            parents.setdefault(uuid, hash(parent[1]) if parent is not None else 0)
        kind = _KIND.search(line)
        if kind is None or kind[1] == b"progress":
            continue
        if not is_aside:
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
        for leaf, title in titles["summary"].items()
        # A summary at the beginning of a file usually describes another session.
        if len(tips) == 1 and mark_of(leaf) in parents
    }
    return ClaudeSurvey(
        {message: last for message, last in last_lines.items() if last != first_lines[message]},
        frozenset(tips),
        frozenset(_left_behind(parents, tips)),
        named | titles["aiTitle"] | titles["customTitle"],
    )


def _note_title(line: bytes, titles: Mapping[str, dict[str, str]]) -> None:
    """Add the title in *line* to those of its kind, by the session or, for a summary, by the record that it ends with."""
    record = json_object(_decoded(line))
    for kind, found in titles.items():
        if title := json_text(record.get(kind)):
            of = (
                json_text(record.get("leafUuid"))
                if kind == "summary"
                else first_text(record, "sessionId", "session_id")
            )
            found[of] = title
            return


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
    """Return the hashes of records that branch off the path to a tip, without those whose ancestors are all unknown."""
    on_path: set[int] = set()
    for tip in tips.values():
        at = tip
        while at in parents and at not in on_path:
            on_path.add(at)
            at = parents[at]
    return branches_off(parents, on_path)
