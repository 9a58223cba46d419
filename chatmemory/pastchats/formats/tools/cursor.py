"""``cursor``: transcripts of Cursor's agents (``~/.cursor/projects/*/agent-transcripts``), and chats exported as Markdown.

Neither has ids.  Newer transcripts hold the time of a query within its text.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, final

from attrs import define, field, frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject, json_object, json_text, without_blanks
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import BETWEEN_BLOCKS, Content, parts_of
from chatmemory.pastchats.formats.reading.envelopes import HARNESS, words_and_notes
from chatmemory.pastchats.formats.reading.history_head import read_head
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import json_lines
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES
from chatmemory.pastchats.formats.reading.text_lines import text_lines
from chatmemory.pastchats.prompt import TurnKind

EXPORTED: Final = re.compile(r"_Exported on .+ from Cursor\b.*_\s*")
"""The date is in the person's local format, and is not read."""

_SPEAKERS: Final[dict[str, Role]] = {"**User**": "user", "**Cursor**": "assistant"}
_RULE: Final = re.compile(r"-{3,}\s*")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_TRANSCRIPT_SPEAKERS: Final[dict[str, Role]] = {"user:": "user", "assistant:": "assistant", "A:": "assistant"}
_BRACKETED: Final = re.compile(r"\[(Thinking|Tool call|Tool result)\]\s?(.*)")
_QUERY: Final = "user_query>"
_QUERIES: Final = re.compile(r"<user_query>[\s\S]*</user_query>")
HIDDEN: Final = re.compile(r"(?:\A|\n)[ \t]*\[REDACTED\][ \t]*(?=\n|\Z)")
"""What stands in an answer for hidden thoughts."""

_TIME: Final = re.compile(
    r"<timestamp>\s*(?:[A-Za-z]+,\s*)?([A-Za-z]{3})[a-z]*\.? (\d{1,2}), (\d{4}),?(?: at)? (\d{1,2}):(\d\d)(?::\d\d)?"
    r"(?:\s*([AP]M))?(?:\s*\(?(?:UTC|GMT)(?:([+-]\d{1,2})(?::?(\d\d))?)?\)?)?\s*</timestamp>"
)
_NOTED: Final = re.compile(r"<timestamp>([^<]*)</timestamp>\s*")
_HEADING: Final = re.compile(r"# (.*)")
_SILENT: Final = frozenset({"turn_ended", "turn_started", "session_started", "session_ended", "metadata"})
_UUID: Final = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.\w+", re.IGNORECASE)
_PROJECT: Final = re.compile(r"[/\\]projects[/\\]([^/\\]+)[/\\]agent-transcripts[/\\]")
_PARENT: Final = re.compile(r"[/\\]([^/\\]+)[/\\]subagents[/\\][^/\\]+$")
_NO_PROJECT: Final = "empty-window"
_HEAD_LINES: Final = 20


def _claim(head: Head) -> Claim | None:
    """Look for messages with a role and no type, for a query within tags, or for the line of an export."""
    if head.shape == "text":
        if any(EXPORTED.fullmatch(line) for line in head.text.split("\n", _HEAD_LINES)[:_HEAD_LINES]):
            return Claim(97, "a line _Exported on ... from Cursor_")
        return Claim(88, "user: and <user_query>") if is_transcript(head.text) else None
    for record in map(json_object, head.records):
        message = json_object(record.get("message"))
        if "type" in record or json_text(record.get("role")) not in PLAIN_ROLES or "content" not in message:
            continue
        if "<user_query>" in head.text:
            return Claim(92, "a record with role and message, and <user_query>")
        return Claim(82, "a record with role and message, and no type")
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
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


cursor: Final = FileFormat(
    "cursor",
    _claim,
    _parse,
    known_roots=roots_in(
        "$CURSOR_CONFIG_DIR/projects/*/agent-transcripts",
        "~/.cursor/projects/*/agent-transcripts",
        files=("**/*.jsonl", "**/*.txt"),
    ),
)


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
        query, notes, at = query_of(BETWEEN_BLOCKS.join((*parts.attached, *parts.texts)))
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
    role: Role, parts: Content, query: str, notes: str
) -> Iterator[tuple[Role, TurnKind, str, JsonObject]]:
    yield role, "thinking", BETWEEN_BLOCKS.join(parts.thinking), {}
    yield "tool", "tool_result", BETWEEN_BLOCKS.join(parts.results), {}
    if role == "user":
        yield role, "harness", notes, {}
        yield role, "harness" if HARNESS.match(query) else "typed", query, {}
    else:
        words = HIDDEN.sub("", BETWEEN_BLOCKS.join((*parts.attached, *parts.texts))).strip()
        yield (
            role,
            "typed" if role == "assistant" else "harness",
            words,
            {"tool_calls": tuple(parts.tool_calls)},
        )


def turns_of_export(reader: HistoryReader, conversation: str) -> Iterator[PromptTurn]:
    """Yield the turns of the chats in a Markdown file, which may hold several exports."""
    speakers = _places_of_speakers(reader)
    body = _Body()
    chats = 0
    title = ""

    def turn() -> Iterator[PromptTurn]:
        if body.role is not None and (text := body.text()):
            metadata: dict[str, Json] = {"title": title} if title else {}
            conversation_id = f"cursor:{conversation}" + (f"#{chats}" if chats > 1 else "")
            yield PromptTurn(conversation_id=conversation_id, role=body.role, content=text, metadata=metadata)

    for line in text_lines(reader):
        if line.line in speakers:
            body.drop_at_end(_RULE)
            yield from turn()
            body = _Body(_SPEAKERS[line.text.strip()])
        elif EXPORTED.fullmatch(line.text):
            next_title = body.drop_at_end(_HEADING).removeprefix("# ").strip()
            body.drop_at_end(_RULE)
            yield from turn()
            body = _Body()
            chats += 1
            title = next_title
        else:
            body.lines.append(line.text)
    yield from turn()


def _places_of_speakers(reader: HistoryReader) -> frozenset[int]:
    """Return the numbers of the lines where a speaker begins.

    Inside a fenced block, such a line is a quotation.  A block that is never closed hides no line: after the line,
    the next fence opens another block, or there is no fence.
    """
    marks = list(_marks(reader))
    next_fences: list[_Mark | None] = [None]
    for mark in reversed(marks):
        next_fences.append(mark if mark.kind == "fence" else next_fences[-1])
    found: set[int] = set()
    fence = ""
    for mark, next_fence in zip(marks, reversed(next_fences), strict=False):
        if mark.kind == "export":
            fence = ""
        elif mark.kind == "speaker":
            if fence and next_fence is not None and _closes(next_fence, fence):
                continue
            fence = ""
            found.add(mark.line)
        elif not fence:
            fence = mark.fence
        elif _closes(mark, fence):
            fence = ""
    return frozenset(found)


@final
@frozen
class _Mark:
    kind: Literal["fence", "speaker", "export"]
    line: int
    fence: str = ""
    has_info: bool = False


def _closes(mark: _Mark, fence: str) -> bool:
    return mark.fence.startswith(fence) and not mark.has_info


def _marks(reader: HistoryReader) -> Iterator[_Mark]:
    has_rules: bool | None = None  # unknown until the first line of the chat
    last = ""
    for line in text_lines(reader):
        text = line.text.strip()
        if not text:
            continue
        if EXPORTED.fullmatch(line.text):
            has_rules = None
            yield _Mark("export", line.line)
        elif text in _SPEAKERS:
            if has_rules is None:
                has_rules = _RULE.fullmatch(last) is not None
            if not has_rules or _RULE.fullmatch(last):
                yield _Mark("speaker", line.line)
        elif (fence := _FENCE.fullmatch(line.text)) is not None and "`" not in fence[2]:
            yield _Mark("fence", line.line, fence[1], bool(fence[2].strip()))
        last = text


def is_transcript(text: str) -> bool:
    """Return whether *text* begins like the transcript of an agent: with ``user:`` and the query within tags."""
    start, _, rest = text.lstrip().partition("\n")
    return start.strip() == "user:" and f"<{_QUERY}" in rest


def turns_of_transcript(reader: HistoryReader, conversation: str, project: str) -> Iterator[PromptTurn]:
    """Yield the turns of a transcript in text, without the arguments of tools."""
    body = _Body()
    is_in_query = is_in_tool = False
    asked_at: datetime | None = None

    def turn() -> Iterator[PromptTurn]:
        nonlocal asked_at
        text = body.text()
        if body.role == "user":
            text, _, at = query_of(text)
            asked_at = at or asked_at
        if body.role is not None and (said := HIDDEN.sub("", text).strip()):
            yield PromptTurn(
                conversation_id=f"cursor:{conversation}",
                role=body.role,
                content=said,
                timestamp=asked_at,
                project=project,
            )

    for line in text_lines(reader):
        if f"<{_QUERY}" in line.text or f"</{_QUERY}" in line.text:
            is_in_query = line.text.rfind(f"<{_QUERY}") > line.text.rfind(f"</{_QUERY}")
        role = None if is_in_query else _TRANSCRIPT_SPEAKERS.get(line.text.rstrip())
        bracketed = _BRACKETED.fullmatch(line.text) if body.role == "assistant" else None
        if role is not None:
            yield from turn()
            body = _Body(role)
            is_in_tool = False
        elif bracketed is not None:
            is_in_tool = bracketed[1] != "Thinking"
        elif not (is_in_tool and line.text[:1] in {"", " ", "\t"}):
            # The arguments of a tool are indented.
            is_in_tool = False
            body.lines.append(line.text)
    yield from turn()


@final
@define
class _Body:
    """The text of a turn, line by line."""

    role: Role | None = None
    lines: list[str] = field(factory=list[str])

    def drop_at_end(self, pattern: re.Pattern[str]) -> str:
        """Remove the last line that is not blank, if it matches *pattern*, and return it; else return ""."""
        while self.lines and not self.lines[-1].strip():
            self.lines.pop()
        return self.lines.pop() if self.lines and pattern.fullmatch(self.lines[-1]) else ""

    def text(self) -> str:
        return "\n".join(self.lines).strip()


def query_of(text: str) -> tuple[str, str, datetime | None]:
    """Return the query in the *text* of a person, what the tool wrote around it, and the time that it says."""
    at = _instant_of(text)
    rest = _NOTED.sub("", text, count=1)
    found = _QUERIES.search(rest)
    if found is None:
        return *words_and_notes(rest), at
    return found[0], (rest[: found.start()] + rest[found.end() :]).strip(), at


def _instant_of(text: str) -> datetime | None:
    """Return the time of a query; one without a zone is in that of this machine."""
    if (found := _TIME.search(text)) is None:
        return instant_of(noted[1]) if (noted := _NOTED.search(text)) is not None else None
    month, day, year, hour, minute, half, hours, minutes = found.groups()
    try:
        told = datetime.strptime(f"{month} {day} {year}", "%b %d %Y")  # noqa: DTZ007  the zone follows
        hour_of_day = int(hour) % 12 + 12 * (half == "PM") if half else int(hour)
        local = told.replace(hour=hour_of_day, minute=int(minute))
    except ValueError:
        return None
    if "UTC" not in found[0] and "GMT" not in found[0]:
        return local.astimezone(UTC)
    sign = -1 if (hours or "").startswith("-") else 1
    shift = timedelta(hours=int(hours or 0), minutes=sign * int(minutes or 0))
    return (local - shift).replace(tzinfo=UTC)
