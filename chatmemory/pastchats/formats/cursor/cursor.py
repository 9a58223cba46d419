"""Cursor: the transcripts of its agents (``~/.cursor/projects/*/agent-transcripts``), and chats exported as Markdown.

Neither has ids.  Newer transcripts hold the time of a query within its text.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final, final

from attrs import frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.formats.claude.claude_text import BETWEEN_BLOCKS, ClaudeParts, parts_of
from chatmemory.pastchats.formats.cursor.cursor_text import (
    EXPORTED,
    HIDDEN,
    is_transcript,
    query_of,
    turns_of_export,
    turns_of_transcript,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryReader, KnownRoot
from chatmemory.pastchats.formats.reading.envelopes import HARNESS
from chatmemory.pastchats.formats.reading.history_head import read_head
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import json_lines
from chatmemory.pastchats.formats.reading.json_walk import json_object, json_text, without_blanks
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES
from chatmemory.pastchats.prompt import TurnKind

_SILENT: Final = frozenset({"turn_ended", "turn_started", "session_started", "session_ended", "metadata"})
_UUID: Final = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.\w+", re.IGNORECASE)
_PROJECT: Final = re.compile(r"[/\\]projects[/\\]([^/\\]+)[/\\]agent-transcripts[/\\]")
_PARENT: Final = re.compile(r"[/\\]([^/\\]+)[/\\]subagents[/\\][^/\\]+$")
_NO_PROJECT: Final = "empty-window"
_HEAD_LINES: Final = 20


@final
@frozen
class Cursor:
    """The reader of transcripts and exports; the docstring of this module describes them."""

    name: str = "cursor"
    version: int = 1
    has_global_ids: bool = False
    known_roots: tuple[KnownRoot, ...] = tuple(
        KnownRoot(f"{home}/projects/*/agent-transcripts", ("**/*.jsonl", "**/*.txt"))
        for home in ("$CURSOR_CONFIG_DIR", "~/.cursor")
    )

    def claim(self, head: Head, /) -> Claim | None:
        """Look for messages with a role and no type, for a query within tags, or for the line of an export."""
        if head.shape == "text":
            if any(EXPORTED.fullmatch(line) for line in head.text.split("\n", _HEAD_LINES)[:_HEAD_LINES]):
                return Claim(97, "a line _Exported on ... from Cursor_")
            return Claim(88, "user: and <user_query>") if is_transcript(head.text) else None
        for value in head.records:
            record = json_object(value)
            message = json_object(record.get("message"))
            if (
                "type" in record
                or json_text(record.get("role")) not in PLAIN_ROLES
                or "content" not in message
            ):
                continue
            if "<user_query>" in head.text:
                return Claim(92, "a record with role and message, and <user_query>")
            return Claim(82, "a record with role and message, and no type")
        return None

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the transcript, or of the exported chats."""
        found = _UUID.fullmatch(reader.name)
        conversation = found[1] if found is not None else reader.path
        folder = _PROJECT.search(reader.path)
        project = folder[1] if folder is not None and folder[1] != _NO_PROJECT else ""
        head = read_head(reader)
        if head.shape != "text":
            return _lines(reader, conversation, project)
        if is_transcript(head.text):
            return turns_of_transcript(reader, conversation, project)
        return turns_of_export(reader, conversation)


def _lines(reader: HistoryReader, conversation: str, project: str) -> Iterator[Parsed]:
    parent = _PARENT.search(reader.path)
    asked_at: datetime | None = None
    shared = without_blanks({"parent_session": parent[1] if parent is not None else ""})
    for read in json_lines(reader):
        if isinstance(read, HistoryIssue):
            yield read
            continue
        record = json_object(read.value)
        role = PLAIN_ROLES.get(json_text(record.get("role")))
        if role is None:
            kind = json_text(record.get("type"))
            if kind not in _SILENT:
                yield UnknownRecord(kind or "(none)")
            continue
        parts = parts_of(json_object(record.get("message")).get("content"))
        query, notes, at = query_of(BETWEEN_BLOCKS.join((*parts.asides, *parts.words)))
        asked_at = instant_of(record.get("timestamp")) or (at if role == "user" else None) or asked_at
        for speaker, turn_kind, text, metadata in _spoken(role, parts, query, notes):
            if text.strip():
                yield PromptTurn(
                    conversation_id=f"cursor:{conversation}",
                    role=speaker,
                    content=text,
                    kind=turn_kind,
                    timestamp=asked_at,
                    project=project,
                    metadata=without_blanks({**shared, **metadata}),
                )


def _spoken(
    role: Role, parts: ClaudeParts, query: str, notes: str
) -> Iterator[tuple[Role, TurnKind, str, JsonObject]]:
    yield role, "thinking", BETWEEN_BLOCKS.join(parts.thoughts), {}
    yield "tool", "tool_result", BETWEEN_BLOCKS.join(parts.tool_results), {}
    if role == "user":
        yield role, "harness", notes, {}
        yield role, "harness" if HARNESS.match(query) else "typed", query, {}
    else:
        words = HIDDEN.sub("", BETWEEN_BLOCKS.join((*parts.asides, *parts.words))).strip()
        yield (
            role,
            "typed" if role == "assistant" else "harness",
            words,
            {"tool_calls": tuple(parts.tool_calls)},
        )


cursor: Final = Cursor()
"""The reader."""
