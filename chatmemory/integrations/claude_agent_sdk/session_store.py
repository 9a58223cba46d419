"""``ChatMemorySessionStore``: the store of transcripts that the Claude Agent SDK appends to, loads and lists.

A transcript is stored as items:

claudeAgentSdk / PROJECT / session             by session: the number of entries in its transcript, and the SDK's summary
claudeAgentSdk / PROJECT / subpath / SESSION   by subpath: the number of entries in the transcript of a subagent
claudeAgentSdk / PROJECT / entry / SESSION / main             the entries, by their uuid
claudeAgentSdk / PROJECT / entry / SESSION / sub / SUBPATH    the entries of a subagent
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, final

from attrs import evolve, frozen
from claude_agent_sdk import (
    ClaudeSDKError,
    SessionKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
    fold_session_summary,
)
from claude_agent_sdk.types import SessionListSubkeysKey

from chatmemory.effect import Do, Effect, Runner
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import RepositoryError
from chatmemory.integrations.labels import label_of, text_of
from chatmemory.integrations.raising import Raising, to_its_end
from chatmemory.items.item_repository import (
    ALL,
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
    StoredItem,
    changed_items,
    removals_below,
)

OWNER: Final = "claudeAgentSdk"
"""The first label, see ``Labels``."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND: Final = timedelta(milliseconds=1)
RAISING: Final = Raising(refused=ValueError, failed=ClaudeSDKError, closed=ClaudeSDKError)


class ChatMemorySessionStore(SessionStore):
    """Transcripts by project and session, for ``ClaudeAgentOptions(session_store=...)``.

    *runtime* provides the store of chatmemory: a ``ThreadRuntime`` works with any event loop, a ``ManagedRuntime``
    with its own, faster.  This class does not close it.

    A batch is appended whole or not at all, in one transaction with the summary of the session.  An entry whose uuid
    is already in the transcript is left out, so a batch may be repeated.  A failure of the store raises
    ``ClaudeSDKError`` with chatmemory's own message (``__cause__.error`` is the failure as a value).
    """

    def __init__(self, runtime: Runner[ItemRepositoryTag]) -> None:
        """Store the runtime; nothing is opened yet."""
        self._runtime = runtime

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Append entries to a transcript.

        Args:
            key: the transcript; the first entry creates it.
            entries: lines of the transcript, in order.
        """
        if entries:
            await self._changed(partial(appended, key, entries))

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return the entries of a transcript in order; None when it does not exist."""
        return entries_of(await self._found(Transcript.of(key).entries))

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the sessions of a project, most recently written first."""
        found = await self._found(session_labels(project_key))
        return [{"session_id": text_of(item.name.key), "mtime": written_ms(item)} for item in found]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return the summaries of the sessions of a project, as the SDK made them."""
        found = await self._found(session_labels(project_key))
        return [
            {
                "session_id": text_of(item.name.key),
                "mtime": written_ms(item),
                "data": TranscriptHead.of(item).summary or {},
            }
            for item in found
        ]

    async def delete(self, key: SessionKey) -> None:
        """Delete a transcript, and with a session the transcripts of its subagents, in one transaction."""
        await self._changed(partial(deleted, key))

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the subpaths of the subagents of a session that have transcripts."""
        found = await self._found(subpath_labels(key["project_key"], key["session_id"]))
        return [text_of(item.name.key) for item in found]

    async def _found(self, labels: Labels) -> Sequence[StoredItem]:
        return await RAISING.run(self._runtime, _searched(labels))

    async def _changed(self, steps: Callable[[], ItemChange[None]]) -> None:
        await to_its_end(RAISING.run(self._runtime, changed_items(steps)))


@Effect.gen
async def _searched(do: Do[RepositoryError, ItemRepositoryTag], labels: Labels) -> Sequence[StoredItem]:
    items, now = do.service(ItemRepositoryTag), do.service(ClockTag).now()
    return await do(items.search(ItemSearch(labels, ALL), now=now))


def appended(key: SessionKey, entries: Sequence[SessionStoreEntry]) -> ItemChange[None]:
    """Append the *entries* that are not in the transcript yet, compared by uuid."""
    transcript = Transcript.of(key)
    uuids = dict.fromkeys([uuid for entry in entries if (uuid := entry.get("uuid"))])
    item, *known = yield (transcript.head, *map(transcript.entry, uuids))
    there = {uuid for uuid, found in zip(uuids, known, strict=True) if found is not None}
    head, new = TranscriptHead.of(item), list[SessionStoreEntry]()
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
        puts += yield from removals_below(labels)
    return tuple(puts), None


def entries_of(items: Sequence[StoredItem]) -> list[SessionStoreEntry] | None:
    """Return the entries in order; None when there are none."""
    numbered = [json.loads(item.value) for item in items]
    return [entry for _, entry in sorted(numbered, key=lambda each: each[0])] or None


def written_ms(item: StoredItem) -> int:
    """Return the time of the last write of a transcript, in milliseconds since 1970."""
    return (item.updated_at - EPOCH) // MILLISECOND


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
    """Return the namespace of the subagents of a session."""
    return (OWNER, label_of(project), "subpath", label_of(session))


@final
@frozen
class TranscriptHead:
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
    def of(item: StoredItem | None) -> TranscriptHead:
        """Return the head in *item*; an empty one for None."""
        return TranscriptHead() if item is None else TranscriptHead(*json.loads(item.value))
