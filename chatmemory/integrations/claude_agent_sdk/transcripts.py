"""A transcript of the Claude Agent SDK as items, and the changes of it, each in one transaction.

claudeAgentSdk / PROJECT / session             by session: the number of entries in its transcript, and the SDK's summary
claudeAgentSdk / PROJECT / subpath / SESSION   by subpath: the number of entries in the transcript of a subagent
claudeAgentSdk / PROJECT / entry / SESSION / main             the entries, by their uuid
claudeAgentSdk / PROJECT / entry / SESSION / sub / SUBPATH    the entries of a subagent
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, final

from attrs import evolve, frozen
from claude_agent_sdk import SessionKey, SessionStoreEntry, SessionSummaryEntry, fold_session_summary

from chatmemory.integrations.labels import label_of
from chatmemory.items.item_repository import ItemChange, ItemName, ItemPut, ItemSearch, Labels, StoredItem

OWNER: Final = "claudeAgentSdk"
"""The first label, see ``Labels``."""

ALL: Final = sys.maxsize

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND: Final = timedelta(milliseconds=1)


@final
@frozen
class Transcript:
    """The names of the items of a transcript, of a session or of one of its subagents.

    Attributes:
        subpath: the subagent; None: the transcript of the session itself.
    """

    project: str
    session: str
    subpath: str | None

    @staticmethod
    def of(key: SessionKey) -> Transcript:
        """Return the transcript that *key* names."""
        return Transcript(key["project_key"], key["session_id"], key.get("subpath"))

    @property
    def head(self) -> ItemName:
        """The name of the item with its head."""
        if self.subpath is None:
            return ItemName(session_labels(self.project), label_of(self.session))
        return ItemName(subpath_labels(self.project, self.session), label_of(self.subpath))

    @property
    def entries(self) -> Labels:
        """The namespace of its entries."""
        below = ("main",) if self.subpath is None else ("sub", label_of(self.subpath))
        return (OWNER, label_of(self.project), "entry", label_of(self.session), *below)

    def entry(self, uuid: str) -> ItemName:
        """Return the name of the entry with this *uuid*."""
        return ItemName(self.entries, f"uuid {label_of(uuid)}")

    def nameless(self, number: int) -> ItemName:
        """Return the name of an entry without a uuid."""
        return ItemName(self.entries, f"number {number}")


def session_labels(project: str) -> Labels:
    """Return the namespace of the sessions of a project."""
    return (OWNER, label_of(project), "session")


def subpath_labels(project: str, session: str) -> Labels:
    """Return the namespace of the subagents of a session.

    Args:
        project: the project of the session.
        session: the session.
    """
    return (OWNER, label_of(project), "subpath", label_of(session))


@final
@frozen
class Head:
    """The facts about a transcript.

    Attributes:
        count: the number of its entries.
        summary: the SDK's own summary, which only the SDK reads; only for a session.
    """

    count: int = 0
    summary: dict[str, Any] | None = None

    def text(self) -> str:
        """Return the head as JSON."""
        return json.dumps([self.count, self.summary])

    @staticmethod
    def of(item: StoredItem | None) -> Head:
        """Return the head in *item*; an empty one for None."""
        return Head() if item is None else Head(*json.loads(item.value))


def appended(key: SessionKey, entries: Sequence[SessionStoreEntry]) -> ItemChange[None]:
    """Append the *entries* that are not in the transcript yet, compared by uuid.

    Args:
        key: the transcript.
        entries: the entries to append, in order.
    """
    transcript = Transcript.of(key)
    uuids = dict.fromkeys([uuid for entry in entries if (uuid := entry.get("uuid"))])
    item, *known = yield (transcript.head, *map(transcript.entry, uuids))
    there = {uuid for uuid, found in zip(uuids, known, strict=True) if found is not None}
    head, new = Head.of(item), list[SessionStoreEntry]()
    puts: list[ItemPut] = []
    for entry in entries:
        if (uuid := entry.get("uuid")) in there:
            continue
        number = head.count + len(new)
        name = transcript.entry(uuid) if uuid else transcript.nameless(number)
        puts.append(ItemPut(name, json.dumps([number, entry])))
        new.append(entry)
        if uuid:
            there.add(uuid)
    if not new:
        return (), None
    summary = head.summary
    if transcript.subpath is None:
        before: SessionSummaryEntry | None = None
        if summary is not None:
            before = {"session_id": transcript.session, "mtime": 0, "data": summary}
        summary = fold_session_summary(before, key, new)["data"]
    after = evolve(head, count=head.count + len(new), summary=summary)
    return (*puts, ItemPut(transcript.head, after.text())), None


def deleted(key: SessionKey) -> ItemChange[None]:
    """Remove a transcript, and with a session the transcripts of its subagents."""
    transcript = Transcript.of(key)
    searched = [transcript.entries]
    if transcript.subpath is None:
        searched = [transcript.entries[:-1], subpath_labels(transcript.project, transcript.session)]
    puts = [ItemPut(transcript.head, None)]
    for labels in searched:
        found = yield ItemSearch(labels, ALL)
        puts += [ItemPut(item.name, None) for item in found if item is not None]
    return tuple(puts), None


def entries_of(items: Sequence[StoredItem]) -> list[SessionStoreEntry] | None:
    """Return the entries in order; None when there are none."""
    numbered = [json.loads(item.value) for item in items]
    return [entry for _, entry in sorted(numbered, key=lambda each: each[0])] or None


def written_ms(item: StoredItem) -> int:
    """Return the time of the last write of a transcript, in milliseconds since 1970."""
    return (item.updated_at - EPOCH) // MILLISECOND
