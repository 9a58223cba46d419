"""The memory service: events are stored as long-term memories, and items record which events are known.

Items alone would not do, because a search of items reads all of them.  Among 10,000 events it takes twenty times as long
as a recall, and always finds ten, even unrelated ones; ``preload_memory`` would show a model all ten.  Items record only
which events are known, by a hash.  So an event that is forgotten, here or by another client of the store, does not come
back when its session is added again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from google.adk.errors.input_validation_error import InputValidationError
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect, EffectFailed, Runner, catch
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import (
    DataValidationError,
    MemoryChangeError,
    MemoryConflictError,
    MemoryNotFoundError,
    Problem,
    RecallError,
    RepositoryError,
)
from chatmemory.input.rules import clean_text, id_problem
from chatmemory.integrations.google_adk.entries import (
    EventMemory,
    corrected,
    entry_of,
    event_of,
    memories_of_entries,
    memories_of_events,
    memory_id_of,
)
from chatmemory.integrations.raising import Raising, to_its_end
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import Memory, MemoryChanges
from chatmemory.longterm.memory_rules import namespace_problems

Needs: TypeAlias = LongTermMemoryService | ItemRepositoryTag
ServiceError: TypeAlias = MemoryChangeError | MemoryConflictError | RepositoryError

KNOWN: Final = ("googleAdk", "known")
"""The namespace of the items that record known events."""

RAISING: Final = Raising(refused=InputValidationError, failed=RuntimeError, closed=RuntimeError)

MOST_FOUND: Final = 10  # as InMemoryMemoryService: an agent passes all of them to its model
PAGE: Final = 1000


class ChatMemoryMemoryService(BaseMemoryService):
    """Stores the texts of sessions, and recalls them in later sessions; users and apps are separate.

    *runtime* provides ``LongTermMemoryService`` and ``ItemRepositoryTag``, as every stack does: a ``ThreadRuntime``
    works with any event loop and thread, a ``ManagedRuntime`` with its own loop, faster.  This class does not close
    it.

    An id names one event or entry of a user in an app; of two with the same id the later one counts.  Events without
    words (a call of a tool, a thought, a picture) are neither searched nor stored.  Input that chatmemory refuses
    raises ``InputValidationError``, a ``ValueError``; any other failure raises ``RuntimeError``, each with
    chatmemory's own message; ``__cause__.error`` is the failure as a value.  A cancelled write either completes or
    changes nothing.
    """

    def __init__(self, runtime: Runner[Needs]) -> None:
        """Store the runtime; nothing is opened yet."""
        self._runtime = runtime

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the current texts of *session*; texts that it no longer has since the last call are forgotten."""
        namespace = _namespace(session.app_name, session.user_id)
        said = memories_of_events(namespace, session.events, session.id)
        await to_its_end(RAISING.run(self._runtime, _kept_session(namespace, session.id, said)))

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store *events* too; *custom_metadata* is returned with each of them."""
        namespace = _namespace(app_name, user_id)
        said = memories_of_events(namespace, events, session_id or None, custom_metadata)
        await to_its_end(RAISING.run(self._runtime, _kept(namespace, said)))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store *memories*, even those that were deleted before; a repeated one is stored once.

        An entry without an id gets one; the metadata of an entry takes precedence over *custom_metadata*.
        """
        namespace = _namespace(app_name, user_id)
        said = memories_of_entries(namespace, memories, custom_metadata)
        await to_its_end(RAISING.run(self._runtime, _kept(namespace, said, even_if_forgotten=True)))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the memories that answer *query* best, at most ten, best first."""
        namespace = _namespace(app_name, user_id)
        asked = clean_text(query)
        if not asked.strip():
            return SearchMemoryResponse()
        found = await RAISING.run(self._runtime, _found(namespace, asked))
        return SearchMemoryResponse(memories=[entry_of(memory) for memory in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget the memory, which no later ingestion brings back; an unknown memory is not a failure."""
        namespace = _namespace(app_name, user_id)
        if memory_id:
            await to_its_end(RAISING.run(self._runtime, _deleted(namespace, memory_id)))

    async def forget_session(self, *, app_name: str, user_id: str, session_id: str) -> int:
        """Forget all memories of a session, and return their number.

        Call it where the session itself is deleted, because no memory service is notified of that.
        """
        namespace = _namespace(app_name, user_id)
        forgetting = LongTermMemoryService.use(
            lambda memory: memory.forget_where(namespace, session_id=session_id)
        )
        return (await to_its_end(RAISING.run(self._runtime, forgetting))).memories


# --- Effects ---


@Effect.gen
async def _found(
    do: Do[RecallError, LongTermMemoryService], namespace: Namespace, query: str
) -> Sequence[Memory]:
    """Recall the memories for *query* and count their use, because a model is shown them; ADK names no session."""
    memory = do.service(LongTermMemoryService)
    recall = await do(memory.recall(namespace, query, limit=MOST_FOUND))
    found = [hit.memory for hit in recall.telling]
    await do(memory.record_use(namespace, [one.id for one in found]))
    return found


@Effect.gen
async def _kept_session(
    do: Do[ServiceError, Needs], namespace: Namespace, session_id: str, said: Sequence[EventMemory]
) -> None:
    """Store the texts of a session, then forget those that it no longer has; a crash in between is repaired the next time."""
    there = await do(_remembered_of(namespace, session_id))
    await do(_kept(namespace, said, there=there))
    given = {one.memory_id for one in said}
    gone = [memory_id for memory_id in there if memory_id not in given]
    if gone:  # and unmarked, so that it can come back with its session
        await do(_marked(*[ItemPut(_mark(memory_id), None) for memory_id in gone]))
    for memory_id in gone:
        await do(_forgotten(namespace, memory_id))


@Effect.gen
async def _remembered_of(
    do: Do[ServiceError, Needs], namespace: Namespace, session_id: str
) -> dict[str, Memory]:
    """Return the memories of the session's events by their ids, without other memories of the session."""
    memory = do.service(LongTermMemoryService)
    found: list[Memory] = []
    after: str | None = None
    while True:
        page = await do(memory.list(namespace, session_id=session_id, limit=PAGE, after=after))
        found += page.memories
        after = page.next
        if after is None:
            break
    return {one.id: one for one in found if event_of(one) is not None}


@Effect.gen
async def _kept(
    do: Do[ServiceError, Needs],
    namespace: Namespace,
    said: Sequence[EventMemory],
    *,
    there: Mapping[str, Memory] | None = None,
    even_if_forgotten: bool = False,
) -> None:
    """Store new memories, all or none, and correct those whose text has changed.

    *there* is the stored memories of the session; None: known ones are looked up.
    """
    items, now = do.service(ItemRepositoryTag), do.service(ClockTag).now()
    stored = dict(there or {})
    unseen = [one for one in said if one.memory_id not in stored]
    marks = await do(items.read(tuple([_mark(one.memory_id) for one in unseen]), now=now)) if unseen else ()
    fresh: list[EventMemory] = []
    for one, mark in zip(unseen, marks, strict=True):
        found = await do(_looked_up(namespace, one.memory_id)) if mark is not None and there is None else None
        if found is not None:
            stored[one.memory_id] = found
        elif mark is None or even_if_forgotten:
            fresh.append(one)
    for memory_id in await do(_stored(namespace, fresh)):
        found = await do(_looked_up(namespace, memory_id))
        stored |= {} if found is None else {memory_id: found}
    for one in said:
        if (changes := corrected(stored.get(one.memory_id), one)) is not None:
            await do(_changed(namespace, one.memory_id, changes))
    if fresh:
        await do(_marked(*[ItemPut(_mark(one.memory_id), "{}") for one in fresh]))


@Effect.gen
async def _stored(
    do: Do[ServiceError, Needs], namespace: Namespace, fresh: Sequence[EventMemory]
) -> Sequence[str]:
    """Store the missing memories in one transaction; return the ids of stored ones with another content."""
    taken: set[str] = set()
    while waiting := [one.memory for one in fresh if one.memory_id not in taken]:
        storing = do.service(LongTermMemoryService).remember(namespace, waiting, dedup="none")
        conflicting = await do(catch(MemoryConflictError, _ids_of)(storing.map(lambda _: None)))
        if conflicting is None:
            break
        taken.update(conflicting)
    return sorted(taken)


@Effect.gen
async def _deleted(do: Do[ServiceError, Needs], namespace: Namespace, given_id: str) -> None:
    memory_id = memory_id_of(namespace, given_id)
    if await do(_forgotten(namespace, memory_id)):
        await do(_marked(ItemPut(_mark(memory_id), "{}")))
    elif not id_problem(given_id):  # a memory with another origin has its own id
        await do(_forgotten(namespace, given_id))


@Effect.gen
async def _marked(do: Do[ServiceError, Needs], *puts: ItemPut) -> None:
    await do(do.service(ItemRepositoryTag).write(puts, now=do.service(ClockTag).now()))


@Effect.gen
async def _forgotten(do: Do[ServiceError, Needs], namespace: Namespace, memory_id: str) -> bool:
    """Forget the memory; return False when it does not exist."""
    forgetting = do.service(LongTermMemoryService).forget(namespace, memory_id)
    return await do(catch(MemoryNotFoundError, _not_there)(forgetting)) is not None


@Effect.gen
async def _looked_up(do: Do[ServiceError, Needs], namespace: Namespace, memory_id: str) -> Memory | None:
    looking = do.service(LongTermMemoryService).get(namespace, memory_id)
    return await do(catch(MemoryNotFoundError, _not_there)(looking))


@Effect.gen
async def _changed(
    do: Do[ServiceError, Needs], namespace: Namespace, memory_id: str, changes: MemoryChanges
) -> None:
    """Correct the memory, unless it has been forgotten meanwhile."""
    changing = do.service(LongTermMemoryService).update(namespace, memory_id, changes)
    await do(catch(MemoryNotFoundError, _not_there)(changing))


def _not_there(_: MemoryNotFoundError) -> Effect[None]:
    return Effect.succeed(None)


def _ids_of(conflict: MemoryConflictError) -> Effect[tuple[str, ...]]:
    return Effect.succeed(conflict.memory_ids)


def _mark(memory_id: str) -> ItemName:
    return ItemName(KNOWN, memory_id)


# --- Arguments ---


def _namespace(app_name: str, user_id: str) -> Namespace:
    namespace = Namespace(user_id, app_name)
    problems = namespace_problems(namespace)
    if app_name == "":
        problems.append(
            Problem("$.namespace.app", "an app has a name: without one, all apps would be searched")
        )
    if problems:
        refused = DataValidationError(tuple(problems))
        raise InputValidationError(str(refused)) from EffectFailed(refused)
    return namespace
