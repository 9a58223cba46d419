"""``ChatMemorySessionStore``: the store of transcripts that the Claude Agent SDK appends to, loads and lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from claude_agent_sdk import (
    ClaudeSDKError,
    SessionKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)
from claude_agent_sdk.types import SessionListSubkeysKey

from chatmemory.effect import Do, Effect, Runner
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import RepositoryError
from chatmemory.integrations.claude_agent_sdk.transcripts import (
    ALL,
    Head,
    Transcript,
    appended,
    deleted,
    entries_of,
    session_labels,
    subpath_labels,
    written_ms,
)
from chatmemory.integrations.labels import text_of
from chatmemory.integrations.raising import Raising, to_its_end
from chatmemory.items.item_repository import ItemChange, ItemRepositoryTag, ItemSearch, Labels, StoredItem

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
                "data": Head.of(item).summary or {},
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
        await to_its_end(RAISING.run(self._runtime, _done(steps)))


@Effect.gen
async def _searched(do: Do[RepositoryError, ItemRepositoryTag], labels: Labels) -> Sequence[StoredItem]:
    items, now = do.service(ItemRepositoryTag), do.service(ClockTag).now()
    return await do(items.search(ItemSearch(labels, ALL), now=now))


@Effect.gen
async def _done(do: Do[RepositoryError, ItemRepositoryTag], steps: Callable[[], ItemChange[None]]) -> None:
    items, now = do.service(ItemRepositoryTag), do.service(ClockTag).now()
    await do(items.change(steps, now=now))
