"""Claude Code: ``~/.claude/projects/<folder>/<session>.jsonl``, and the transcripts of its subagents.

One record per line.  A message of the model has one line for each of its blocks, and is one turn.  The message of a
user often holds text that no person wrote: results of tools, commands and their output, reminders, summaries.
"""

from collections.abc import Iterator
from typing import Final

from chatmemory.input.json_value import EMPTY, JsonObject, first_text, json_object, json_objects, json_text
from chatmemory.pastchats.formats.claude.claude_survey import survey
from chatmemory.pastchats.formats.claude.claude_transcript import NO_TURNS, ClaudeTranscript
from chatmemory.pastchats.formats.histories import Parsed
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader, KnownRoot


def _claim(head: Head) -> Claim | None:
    """Look for records with the ids that only Claude Code writes."""
    if head.shape == "json":
        document = json_object(head.document)
        if head.path.endswith(".meta.json") and "agentType" in document:
            return Claim(90, "describes a subagent of Claude Code", is_transcript=False)
        entry = next(json_objects(document.get("entries")), EMPTY)
        if {"sessionId", "fullPath"} <= entry.keys():
            return Claim(90, "Claude Code's list of the sessions beside it", is_transcript=False)
        return None
    claims = filter(None, (_claim_of_record(json_object(value)) for value in head.records))
    return max(claims, key=lambda claim: claim.confidence, default=None)


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Yield the turns of the session, of its subagents, and of the sessions that it resumed."""
    return ClaudeTranscript(reader, survey(reader)).parsed()


def _claim_of_record(record: JsonObject) -> Claim | None:
    kind = json_text(record.get("type"))
    message = json_object(record.get("message"))
    has_session = bool(first_text(record, "sessionId"))
    if "parts" in message:
        return None  # Qwen Code's records, which have the same field names
    if kind in {"user", "assistant"} and "content" in message:
        if has_session or "parentUuid" in record:
            return Claim(96, f"a record of type {kind} with message and sessionId or parentUuid")
        if first_text(record, "session_id", "uuid"):
            return Claim(90, f"a record of type {kind} with message and uuid or session_id")
    if kind in {"started", "result"} and {"key", "agentId"} <= record.keys():
        return Claim(
            90, "the journal of a workflow, whose agents have files of their own", is_transcript=False
        )
    if kind in NO_TURNS | {"system", "attachment"} and "systemPayload" not in record:
        for sign in ("sessionId", "leafUuid", "parentUuid", "messageId", "snapshot"):
            if sign in record:
                return Claim(92, f"a record of type {kind} with {sign}")
        if "session_id" in record and "toolName" not in record and "finalText" not in record:
            return Claim(80, f"a record of type {kind} with session_id")
    return None


claude_code: Final = FileFormat(
    "claude_code",
    _claim,
    _parse,
    version=2,
    has_global_ids=True,
    known_roots=(
        KnownRoot("$CLAUDE_CONFIG_DIR/projects", ("**/*.jsonl",)),
        KnownRoot("~/.claude/projects", ("**/*.jsonl",)),
        KnownRoot("~/.config/claude/projects", ("**/*.jsonl",)),
        # Cowork uses folders of its own inside the data of the desktop application
        *(
            KnownRoot(f"{data}/Claude/local-agent-mode-sessions", ("**/.claude/projects/**/*.jsonl",))
            for data in ("~/Library/Application Support", "$APPDATA", "~/.config")
        ),
    ),
)
