"""LoCoMo: long conversations of two friends in sessions, the format of benchmarks for long-term memory.

``session_1`` ... are lists of ``{speaker, dia_id, text}``, ``session_1_date_time`` is the time of each session; at
the top level, under ``conversation``, or in a list of samples.  Questions, summaries and observations are left out.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, final

from attrs import define, field

from chatmemory.input.json_value import JsonObject, first_text, json_items, json_object, json_text
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_walk import ANY, END, WalkPath, walk
from chatmemory.pastchats.formats.reading.text_lines import beginning

_SESSION: Final = re.compile(r"session_\d+")
_DATE: Final = re.compile(r"(session_\d+)_date_time")
_SPOKEN_DATE: Final = re.compile(
    r"(\d{1,2}):(\d\d)\s*([ap])\.?m\.?,?\s+on\s+(\d{1,2})\s+([a-z]{3})[a-z]*\.?,?\s+(\d{4})", re.IGNORECASE
)
_DOTTED_DATE: Final = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}),?\s+(\d{1,2}):(\d\d)(?::(\d\d))?")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NOON_HOURS: Final = 12


def _claim(head: Head) -> Claim | None:
    """Claim a document with a session, and turns of a speaker with dialogue ids."""
    document = head.document if head.shape == "json" else None
    for sample in (document, *json_items(document)[:1]):
        for holder in (json_object(sample), json_object(json_object(sample).get("conversation"))):
            sessions = [value for name, value in holder.items() if _SESSION.fullmatch(name)]
            turns = [json_object(turn) for session in sessions for turn in json_items(session)]
            if any("speaker" in turn and "dia_id" in turn for turn in turns):
                return Claim(95, "sessions of turns with «speaker» and «dia_id»")
            if any("speaker" in turn and "text" in turn for turn in turns):
                return Claim(80, "sessions of turns with «speaker» and «text»")
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Read names and dates first, which may be after the turns, then yield the turns."""
    patterns = _patterns(reader)
    samples: dict[WalkPath, _Sample] = {}
    for walked in walk(reader, *patterns):
        if not isinstance(walked, HistoryIssue):
            _note(*walked, samples)
    for walked in walk(reader, *patterns):
        if isinstance(walked, HistoryIssue):
            yield walked
            continue
        path, value = walked
        if value is END:
            continue
        if len(path) > 1 and _SESSION.fullmatch(str(path[-2])) and isinstance(path[-1], int):
            sample = samples.get(_sample_path(path), _Sample())
            place = "".join(f"#{step + 1}" for step in path[:1] if isinstance(step, int))
            conversation_id = f"locomo:{sample.native_id or reader.path + place}"
            yield _turn(json_object(value), str(path[-2]), sample, conversation_id)


@final
@define
class _Sample:
    """The facts about a conversation apart from its turns."""

    native_id: str = ""
    dates: dict[str, datetime] = field(factory=dict[str, datetime])


def _patterns(reader: HistoryReader) -> tuple[tuple[str, ...], ...]:
    """Return the patterns that reach each single turn: in a list of samples, sessions are one level deeper."""
    if beginning(reader).lstrip().startswith(b"["):
        return (), (ANY,), (ANY, ANY), (ANY, "conversation", ANY)
    return (), (ANY,), ("conversation", ANY)


def _sample_path(path: WalkPath) -> WalkPath:
    return path[:1] if isinstance(path[0], int) else ()


def _note(path: WalkPath, value: object, samples: dict[WalkPath, _Sample]) -> None:
    if not path or value is END or not isinstance(value, str):
        return
    date = _DATE.fullmatch(str(path[-1]))
    if date is not None:
        instant = _instant(value)
        if instant is not None:
            samples.setdefault(_sample_path(path), _Sample()).dates[date.group(1)] = instant
    elif path[-1] == "sample_id":
        samples.setdefault(_sample_path(path), _Sample()).native_id = value


def _turn(turn: JsonObject, session: str, sample: _Sample, conversation_id: str) -> Parsed:
    text = first_text(turn, "text", "clean_text")
    captions = turn.get("blip_caption")
    caption = captions if isinstance(captions, str) else " ".join(map(json_text, json_items(captions)))
    said = " ".join(filter(None, (text, f"[shares {caption}]" if caption.strip() else "")))
    if not said.strip():
        return UnknownRecord("turn without text")
    own = turn.get("date_time")
    return PromptTurn(
        conversation_id=conversation_id,
        role="user",
        content=said,
        native_id=json_text(turn.get("dia_id")) or None,
        timestamp=(_instant(own) if isinstance(own, str) else None) or sample.dates.get(session),
        session=session,
        speaker=json_text(turn.get("speaker")) or None,
    )


def _instant(text: str) -> datetime | None:
    """Return the instant of «1:56 pm on 8 May, 2023» or «29.12.2023, 16:44:55», taken as UTC."""
    try:
        spoken = _SPOKEN_DATE.search(text)
        if spoken is not None:
            hour, minute, half, day, month, year = spoken.groups()
            hours = int(hour) % _NOON_HOURS + (_NOON_HOURS if half.lower() == "p" else 0)
            return datetime(
                int(year), _MONTHS.index(month.lower()) + 1, int(day), hours, int(minute), tzinfo=UTC
            )
        dotted = _DOTTED_DATE.search(text)
        if dotted is not None:
            days, months, years, hours, minutes, seconds = (int(part or 0) for part in dotted.groups())
            return datetime(years, months, days, hours, minutes, seconds, tzinfo=UTC)
    except ValueError:  # the 31st of June, a month of another language
        return None
    return instant_of(text)


locomo: Final = FileFormat("locomo", _claim, _parse)
