"""``gemini_takeout``: the chats of Gemini's app in Google Takeout, ``My Activity/Gemini Apps/MyActivity.json``.

A list of activities, newest first: the title is a verb and the text that a person typed, and ``safeHtmlItem`` is the
answer as HTML.  There are no ids: each day is a conversation, and the time of a turn identifies it.  Built from
public readers of the export.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from html.parser import HTMLParser
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject, json_items, json_object, json_objects, json_text
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_walk import json_members

_HEADERS: Final = frozenset({"Gemini Apps", "Gemini", "Bard"})
_VERB: Final = re.compile(
    r"(?:Prompted(?: with:)?|Asked(?: Gemini:| Bard:)?|Said|Branched|Answered)\s+", re.IGNORECASE
)
_ATTACHED: Final = re.compile(r"\s*Attached \d+ files?\.\s*\Z")
_BLOCKS: Final = frozenset(
    {"p", "div", "br", "li", "ul", "ol", "pre", "tr", "table", "h1", "h2", "h3", "h4", "h5"}
)


def _claim(head: Head) -> Claim | None:
    """Claim a list of activities whose header is Gemini's."""
    for entry in json_objects(head.document):
        if {"header", "title", "time"} <= entry.keys() and json_text(entry.get("header")) in _HEADERS:
            return Claim(96, "activities of Gemini Apps, with title and time")
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Yield the questions and the answers, each with its position in the day."""
    for found in json_members(reader, ()):
        if isinstance(found, HistoryIssue):
            yield found
        elif isinstance(found[1], Mapping):
            yield from _turns(found[1])
        else:
            yield UnknownRecord("no activity")


def _turns(activity: JsonObject) -> Iterator[Parsed]:
    title = json_text(activity.get("title"))
    verb = _VERB.match(title)
    shown = activity.get("safeHtmlItem")  # a list of items, or a single one
    answer = "\n\n".join(filter(None, (_text(json_object(item)) for item in json_items(shown) or (shown,))))
    at = instant_of(activity.get("time"))
    if at is None or (verb is None and not answer):
        yield UnknownRecord(f"activity {' '.join(title.split()[:2]) or '(none)'}")
        return
    asked = _ATTACHED.sub("", title[verb.end() if verb else 0 :]).strip()
    said: tuple[tuple[Role, str], ...] = (("user", asked), ("assistant", answer))
    for place, (role, words) in enumerate(said):
        if words:
            yield PromptTurn(
                conversation_id=f"gemini_takeout:{at.date().isoformat()}",
                role=role,
                content=words,
                native_id=f"{at.isoformat()}#{role}",
                turn_index=_place(at) + place,
                timestamp=at,
            )


def _place(at: datetime) -> int:
    """Return the position of an activity in its day, computed from its time, because the file is sorted newest first."""
    return ((at.hour * 60 + at.minute) * 60 + at.second) * 2_000 + at.microsecond // 1_000 * 2


def _text(item: JsonObject) -> str:
    written = json_text(item.get("html")) or json_text(item.get("htmlValue"))
    shown = _Shown()
    shown.feed(written)
    shown.close()
    return re.sub(r"\n{3,}", "\n\n", "".join(shown.parts)).strip()


class _Shown(HTMLParser):
    """The text that a page shows."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag in _BLOCKS:
            self.parts.append("\n- " if tag == "li" else "\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


gemini_takeout: Final = FileFormat("gemini_takeout", _claim, _parse)
