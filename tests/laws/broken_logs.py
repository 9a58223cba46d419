"""Repositories whose log of events breaks a promise."""

from datetime import datetime
from typing import Any

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import EVERYBODY, acting_as
from chatmemory.conversation.message_repository import Append, Appended, Summary
from chatmemory.conversation.messages import Conversation
from chatmemory.effect import Delegating, Do, Effect, Failure
from chatmemory.errors import AppendError
from chatmemory.events.event import Change
from chatmemory.events.event_log import ChangesPage
from chatmemory.longterm.changes import name_of
from chatmemory.longterm.memories import EarlierContent, ForgetReceipt, MemoryHistory, SaveOutcome, Skipped
from chatmemory.longterm.repository_values import Expiry, Forgetting, MemoryDraft, Use
from chatmemory_layers.in_memory.database import InMemoryEventLog
from chatmemory_layers.in_memory.memory_repository import InMemoryMemoryRepository
from tests.laws.broken import Broken
from tests.laws.broken_items import BrokenItems
from tests.laws.broken_memories import BrokenMemory


class LogsNoSummaries(Broken, breaks="n1_event"):
    @Effect.gen
    async def summarize(self, do: Do[Any], summary: Summary) -> Conversation:
        conversation = await do(self.inner.summarize(summary))
        self.inner.database.log.kept.pop()
        return conversation


class LogsWhatItRefuses(Broken, breaks="n2_no_event"):
    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        outcome = await self.inner.append(batch)
        if isinstance(outcome, Failure):
            state = self.history(batch.conversation_id).state
            self.inner.database.log.note([state.made_by("added")])
        return await do(Effect.from_result(outcome))


class LogsEachMessage(Broken, breaks="n1_event"):
    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        appended = await do(self.inner.append(batch))
        state = self.history(batch.conversation_id).state
        self.inner.database.log.note([state.made_by("added")] * (len(appended.stored) - 1))
        return appended


class TellsWhatWasSaid(Broken, breaks="n1_event"):
    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        appended = await do(self.inner.append(batch))
        kept = self.inner.database.log.kept
        kept[-1] = evolve(kept[-1], evidence=(batch.drafts[0].content,))
        return appended


class HasNoLog(Broken, breaks="n1_event"):
    log = None


class OtherLog(Delegating[InMemoryEventLog]): ...


class PassingByLog(OtherLog):
    """A page ends one event too late for its cursor, as where one was committed late."""

    def changes_page(self, since: str | None = None, *, limit: int) -> Effect[ChangesPage, Any]:
        def pass_by(page: ChangesPage) -> ChangesPage:
            return page if page.is_last else evolve(page, cursor=str(int(page.cursor) + 1))

        return self.inner.changes_page(since, limit=limit).map(pass_by)


class TellingAllLog(OtherLog):
    @Effect.gen
    async def changes_page(self, do: Do[Any], since: str | None = None, *, limit: int) -> ChangesPage:
        with acting_as(EVERYBODY):
            return await do(self.inner.changes_page(since, limit=limit))


class PassesEventsBy(Broken, breaks="n3_changes"):
    @property
    def log(self) -> PassingByLog:
        return PassingByLog(self.inner.log)


class TellsEverybody(Broken, breaks="n4_seen"):
    @property
    def log(self) -> TellingAllLog:
        return TellingAllLog(self.inner.log)


class ForgetsWithoutATrace(BrokenMemory, breaks="n1_event"):
    @Effect.gen
    async def forget(self, do: Do[Any], forgetting: Forgetting) -> ForgetReceipt:
        before = len(self.inner.database.log.kept)
        receipt = await do(self.inner.forget(forgetting))
        del self.inner.database.log.kept[before:]
        return receipt


class LogsUses(BrokenMemory, breaks="n2_no_event"):
    @Effect.gen
    async def record_use(self, do: Do[Any], use: Use) -> Any:
        report = await do(self.inner.record_use(use))
        self.inner.database.log.note(
            Change("changed", "memory", memory_id, use.namespace) for memory_id in use.memory_ids
        )
        return report


class TellsOtherUsers(BrokenMemory, breaks="n4_seen"):
    @property
    def log(self) -> TellingAllLog:
        return TellingAllLog(self.inner.log)


class TakesBackWhatWasForgotten(BrokenMemory, breaks="n5_tombstone"):
    @Effect.gen
    async def forget(self, do: Do[Any], forgetting: Forgetting) -> ForgetReceipt:
        receipt = await do(self.inner.forget(forgetting))
        self.table._forgotten_names.clear()
        return receipt


class TakesBackByMessage(BrokenMemory, breaks="n5_tombstone"):
    @Effect.gen
    async def forget(self, do: Do[Any], forgetting: Forgetting) -> ForgetReceipt:
        receipt = await do(self.inner.forget(forgetting))
        self.table._forgotten_sources.clear()
        return receipt


class RefusesWhatExpired(BrokenMemory, breaks="n5_tombstone_of_a_batch"):
    """Of what goes with its session it keeps the names, as of what was forgotten."""

    @Effect.gen
    async def expire(self, do: Do[Any], expiry: Expiry) -> int:
        before = set(self.table.rows)
        expired = await do(self.inner.expire(expiry))
        self.table._forgotten_names |= before - set(self.table.rows)
        return expired


class SkipsTheWholeBatch(BrokenMemory, breaks="n5_tombstone_of_a_batch"):
    """With what was forgotten it skips whatever came with it."""

    @Effect.gen
    async def store(self, do: Do[Any], drafts: tuple[MemoryDraft, ...]) -> tuple[SaveOutcome, ...]:
        if any(name_of(draft) in self.table._forgotten_names for draft in drafts):
            return (Skipped("forgotten"),) * len(drafts)
        return await do(self.inner.store(drafts))


class NeverLiftsATombstone(BrokenMemory, breaks="n5_tombstone_lifted"):
    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[Any, Any]:
        return self.inner.store(tuple(evolve(draft, again=False) for draft in drafts))


class KeepsWhatWasForgotten(BrokenMemory, breaks="n6_history"):
    """The table of earlier contents knows nothing of forgetting."""

    def __init__(self, inner: InMemoryMemoryRepository) -> None:
        super().__init__(inner)
        self.earlier: tuple[EarlierContent, ...] = ()

    @Effect.gen
    async def history(self, do: Do[Any], namespace: Namespace, memory_id: str) -> MemoryHistory:
        history = await do(self.inner.history(namespace, memory_id))
        if namespace.app == "工作":
            self.earlier = history.earlier or self.earlier
            return evolve(history, earlier=self.earlier)
        return history


class SweepsWithoutATrace(BrokenItems, breaks="n1_event"):
    @Effect.gen
    async def sweep(self, do: Do[Any], *, now: datetime) -> int:
        swept = await do(self.inner.sweep(now=now))
        del self.inner.database.log.kept[-swept:]
        return swept
