"""The memory service: events as long-term memories, and which of them are known as items.

Why memories, and not items alone: a search of items reads all of them, which takes twenty times as long as a recall among
10,000 events, and finds ten however little they have to do with the question; ``preload_memory`` would show a model all
ten.  Items keep only which events are known, by a hash: one that is forgotten, here or by any other client of the store,
does not come back when its session is added again.
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
    Said,
    corrected,
    entry_of,
    event_of,
    memory_id_of,
    said_by,
    said_in,
)
from chatmemory.integrations.raising import Raising, to_its_end
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import Memory, MemoryChanges
from chatmemory.longterm.memory_rules import namespace_problems

Needs: TypeAlias = LongTermMemoryService | ItemRepositoryTag
ServiceError: TypeAlias = MemoryChangeError | MemoryConflictError | RepositoryError

KNOWN: Final = ("googleAdk", "known")
"""The namespace of the items that say which events are known."""

RAISING: Final = Raising(refused=InputValidationError, failed=RuntimeError, closed=RuntimeError)

MOST_FOUND: Final = 10  # as InMemoryMemoryService: an agent puts all of them before its model
PAGE: Final = 1000


class ChatMemoryMemoryService(BaseMemoryService):
    """What was said in sessions, recalled in later ones; each user's in each app apart.

    *runtime* gives ``LongTermMemoryService`` and ``ItemRepositoryTag``, as every stack does: a ``ThreadRuntime`` serves
    any event loop and thread, a ``ManagedRuntime`` its own loop, faster.  It belongs to whoever made it.

    An id names one event or entry of a user in an app; of two with the same id the later one counts.  What says nothing
    in words (a call of a tool, a thought, a picture) is not searched for and not kept.  What chatmemory refuses raises
    ``InputValidationError``, a ``ValueError``; what fails beneath it ``RuntimeError``, each with chatmemory's own words;
    ``__cause__.error`` is the failure as a value.  A write that is cancelled has a known end.
    """

    def __init__(self, runtime: Runner[Needs]) -> None:
        """Open nothing yet."""
        self._runtime = runtime

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember what *session* says now: what it no longer says since the last time is forgotten."""
        namespace = _namespace(session.app_name, session.user_id)
        said = said_by(namespace, session.events, session.id)
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
        """Remember *events* as well; *custom_metadata* is found with each of them."""
        namespace = _namespace(app_name, user_id)
        said = said_by(namespace, events, session_id or None, custom_metadata)
        await to_its_end(RAISING.run(self._runtime, _kept(namespace, said)))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember *memories*, even those that were deleted before; the same again is remembered once.

        One without an id gets one; of *custom_metadata*, an entry's own comes first.
        """
        namespace = _namespace(app_name, user_id)
        said = said_in(namespace, memories, custom_metadata)
        await to_its_end(RAISING.run(self._runtime, _kept(namespace, said, even_if_forgotten=True)))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the memories that answer *query* best, at most ten, the best first."""
        namespace = _namespace(app_name, user_id)
        asked = clean_text(query)
        if not asked.strip():
            return SearchMemoryResponse()
        found = await RAISING.run(self._runtime, _found(namespace, asked))
        return SearchMemoryResponse(memories=[entry_of(memory) for memory in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget the memory, which no later ingestion brings back; one that is not there is no failure."""
        namespace = _namespace(app_name, user_id)
        if memory_id:
            await to_its_end(RAISING.run(self._runtime, _deleted(namespace, memory_id)))

    async def forget_session(self, *, app_name: str, user_id: str, session_id: str) -> int:
        """Forget all that was remembered of a session, and return how many memories that were.

        Call it where the session itself is deleted, which tells no memory service.
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
    """Recall the memories for *query*, which a model is shown next, and count their use; ADK names no session."""
    memory = do.service(LongTermMemoryService)
    recall = await do(memory.recall(namespace, query, limit=MOST_FOUND))
    found = [hit.memory for hit in recall.hits]
    await do(memory.record_use(namespace, [one.id for one in found]))
    return found


@Effect.gen
async def _kept_session(
    do: Do[ServiceError, Needs], namespace: Namespace, session_id: str, said: Sequence[Said]
) -> None:
    """Keep what a session says, then forget what it no longer says: who dies in between begins anew with the next time."""
    there = await do(_remembered_of(namespace, session_id))
    await do(_kept(namespace, said, there=there))
    given = {one.memory_id for one in said}
    gone = [memory_id for memory_id in there if memory_id not in given]
    if gone:  # and unknown, so that it can come back with its session
        await do(_marked(*[ItemPut(_mark(memory_id), None) for memory_id in gone]))
    for memory_id in gone:
        await do(_forgotten(namespace, memory_id))


@Effect.gen
async def _remembered_of(
    do: Do[ServiceError, Needs], namespace: Namespace, session_id: str
) -> dict[str, Memory]:
    """Return the memories of the session's events by their ids; what else is remembered of it is not theirs."""
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
    said: Sequence[Said],
    *,
    there: Mapping[str, Memory] | None = None,
    even_if_forgotten: bool = False,
) -> None:
    """Store what is new, all or none, and correct what says something else by now.

    *there* is what is remembered of the session; None: what is known is looked up.
    """
    items, now = do.service(ItemRepositoryTag), do.service(ClockTag).now()
    stored = dict(there or {})
    unseen = [one for one in said if one.memory_id not in stored]
    marks = await do(items.read(tuple([_mark(one.memory_id) for one in unseen]), now=now)) if unseen else ()
    fresh: list[Said] = []
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
async def _stored(do: Do[ServiceError, Needs], namespace: Namespace, fresh: Sequence[Said]) -> Sequence[str]:
    """Store in one transaction what is not there; return the ids of what is there and says something else."""
    taken: set[str] = set()
    while waiting := [one.memory for one in fresh if one.memory_id not in taken]:
        storing = do.service(LongTermMemoryService).remember(namespace, waiting, dedup="none").map(_nothing)
        conflicting = await do(catch(MemoryConflictError, _ids_of)(storing))
        if conflicting is None:
            break
        taken.update(conflicting)
    return sorted(taken)


@Effect.gen
async def _deleted(do: Do[ServiceError, Needs], namespace: Namespace, given_id: str) -> None:
    memory_id = memory_id_of(namespace, given_id)
    if await do(_forgotten(namespace, memory_id)):
        await do(_marked(ItemPut(_mark(memory_id), "{}")))
    elif not id_problem(given_id):  # of a memory that came another way, its own id is told
        await do(_forgotten(namespace, given_id))


@Effect.gen
async def _marked(do: Do[ServiceError, Needs], *puts: ItemPut) -> None:
    await do(do.service(ItemRepositoryTag).write(puts, now=do.service(ClockTag).now()))


@Effect.gen
async def _forgotten(do: Do[ServiceError, Needs], namespace: Namespace, memory_id: str) -> bool:
    """Forget the memory; False when it is not there."""
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
    """Correct the memory, unless somebody has forgotten it meanwhile."""
    changing = do.service(LongTermMemoryService).update(namespace, memory_id, changes)
    await do(catch(MemoryNotFoundError, _not_there)(changing))


def _nothing(_: object) -> None:
    return None


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
