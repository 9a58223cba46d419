"""``~/.claude/history.jsonl``: the prompts that a person typed into Claude Code, kept after the transcripts are deleted."""

import re
from collections.abc import Iterator
from typing import Final

from chatmemory.input.json_value import JsonObject, first_text, json_object, json_text
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader, roots_in
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import json_lines

_PLACEHOLDER: Final = re.compile(r"\[Pasted text #(\d+)[^\]]*\]")


def _claim(head: Head) -> Claim | None:
    """Look for a prompt as it was displayed, with its pasted texts and its project."""
    for record in map(json_object, head.records):
        if "display" in record and "pastedContents" in record and "timestamp" in record:
            return Claim(95, "a record with display, pastedContents and timestamp")
        if "display" in record and "project" in record and "timestamp" in record:
            return Claim(90, "a record with display, project and timestamp")
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Yield a turn for each prompt, with the pasted texts in place of their placeholders."""
    for read in json_lines(reader):
        if isinstance(read, HistoryIssue):
            yield read
            continue
        record = json_object(read.value)
        if "display" not in record:
            yield UnknownRecord(json_text(record.get("type")) or "(none)")
            continue
        text = _with_pasted_text(record)
        if not text.strip():
            continue
        project = json_text(record.get("project"))
        session = first_text(record, "sessionId", "session_id")
        yield PromptTurn(
            conversation_id=f"claude_prompts:{session or f'{reader.path}#{project}'}",
            role="user",
            content=text,
            kind="command" if text.startswith("/") else "typed",
            timestamp=instant_of(record.get("timestamp")),
            project=project,
        )


def _with_pasted_text(record: JsonObject) -> str:
    pasted = json_object(record.get("pastedContents"))

    def original(placeholder: re.Match[str]) -> str:
        # Newer versions store long pastes elsewhere, under a hash: then the placeholder stays.
        return json_text(json_object(pasted.get(placeholder[1])).get("content")) or placeholder[0]

    return _PLACEHOLDER.sub(original, json_text(record.get("display")))


claude_prompts: Final = FileFormat(
    "claude_prompts",
    _claim,
    _parse,
    known_roots=roots_in("$CLAUDE_CONFIG_DIR", "~/.claude", files=("history.jsonl",)),
)
"""The reader: one conversation for each session, or for each project when an old version wrote no session."""
