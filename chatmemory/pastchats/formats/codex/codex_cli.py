"""Codex CLI: ``~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl``, of all its versions.

A rollout that was idle for a week is compressed to ``.jsonl.zst``, and is read in the same way.

Lines of ``{timestamp, type, payload}``.  A text is written up to three times: for the model (``response_item``) and
for the screen (``event_msg``, as messages and as items).  For each role, the first of these streams that holds words
of the role is read.  The oldest rollouts are flat lines, or one JSON document.
"""

from collections.abc import Iterator
from typing import Final, final

from attrs import frozen

from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.formats.codex.codex_rollout import CALLS, ENVELOPES, CodexRollout, streams
from chatmemory.pastchats.formats.histories import Parsed
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryReader, KnownRoot
from chatmemory.pastchats.formats.reading.json_walk import json_object, json_text
from chatmemory.pastchats.formats.shapes.listed_turns import Questions


@final
@frozen
class CodexCli:
    """The reader of rollout files; the docstring of this module describes them."""

    name: str = "codex_cli"
    version: int = 2
    has_global_ids: bool = True
    known_roots: tuple[KnownRoot, ...] = tuple(
        KnownRoot(f"{home}/{folder}", ("**/rollout-*.jsonl", "**/rollout-*.json", "**/rollout-*.jsonl.zst"))
        for home in ("$CODEX_HOME", "~/.codex")
        for folder in ("sessions", "archived_sessions")
    )

    def claim(self, head: Head, /) -> Claim | None:
        """Look for the envelope of current records, then for the shape of records without an envelope."""
        if head.shape == "json":
            document = json_object(head.document)
            is_rollout = "items" in document and "instructions" in json_object(document.get("session"))
            return Claim(92, "session with instructions, and items") if is_rollout else None
        claims = filter(None, (_claim_of_record(json_object(value)) for value in head.records))
        return max(claims, key=lambda claim: claim.confidence, default=None)

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the session."""
        said = streams(reader)
        asked = Questions.of(
            reader, "thread_rolled_back", lambda first: CodexRollout(reader, said, questions=first).parsed()
        )
        return CodexRollout(reader, said, questions=asked).parsed()


def _claim_of_record(record: JsonObject) -> Claim | None:
    kind = json_text(record.get("type"))
    if kind in ENVELOPES and "payload" in record:
        return Claim(97, f"a record of type {kind} with payload")
    if "record_type" in record or ("instructions" in record and "id" in record and "timestamp" in record):
        return Claim(91, "a rollout's first record, or its state")
    if set(record) == {"session_id", "ts", "text"}:
        return Claim(90, "the prompts that Codex keeps beside its sessions", is_transcript=False)
    # Thoughts are not a sign of Codex: other tools store the thoughts of OpenAI's models in the same form.
    is_item = kind == "message" or kind in CALLS | {"function_call_output", "function_result"}
    if is_item and ("role" in record or "call_id" in record) and "sessionId" not in record:
        return Claim(75, f"a flat record of type {kind}, as the Responses API has it")
    if (
        "created_at" in record
        and not {"role", "message", "function"}.isdisjoint(record)
        and "uuid" not in record
        and "object" not in record  # messages of the Assistants API, as Jan stores them
    ):
        return Claim(70, "a flat record with created_at")
    return None


codex_cli: Final = CodexCli()
"""The reader."""
