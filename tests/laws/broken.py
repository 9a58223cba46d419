"""Repositories that each break one promise, the way stores in the field have broken it."""

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import anyio
from anyio.lowlevel import checkpoint
from attrs import evolve

from chatmemory.access.namespace import UNOWNED
from chatmemory.access.principal import EVERY_ROLE, EVERYBODY, Principal, acting_as, principal
from chatmemory.conversation.changes import decide_removal
from chatmemory.conversation.history import History
from chatmemory.conversation.message_repository import (
    Append,
    Appended,
    ConversationListing,
    Fork,
    HistoryWork,
    PageQuery,
    Summary,
)
from chatmemory.conversation.messages import ChatMessage, ClearReport, Conversation, Forked, MessagePage
from chatmemory.effect import Delegating, Do, Effect, Failure, Outcome, Success
from chatmemory.errors import (
    AppendError,
    ForkRefusal,
    MessageConflictError,
    RemovalError,
    RepositoryError,
    VersionConflictError,
)
from chatmemory_layers.in_memory.message_repository import InMemoryMessageRepository
from tests.laws.breaking import Breaks

MANY = 10_000


def pattern_of(text: str) -> re.Pattern[str]:
    """Read *text* as LIKE would."""
    parts = ({"%": ".*", "_": "."}.get(character, re.escape(character)) for character in text)
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)


class Broken(Breaks, Delegating[InMemoryMessageRepository]):
    """Passes every call on to a sound repository; each subclass gets one of them wrong."""

    def history(self, conversation_id: str) -> History:
        return self.inner.kept.history(conversation_id)

    def put(self, conversation_id: str, history: History) -> None:
        self.inner.kept.histories[conversation_id] = history

    def version(self, conversation_id: str) -> int:
        return self.history(conversation_id).state.conversation.version


def joined(answers: Sequence[Appended]) -> Appended:
    return evolve(
        answers[-1],
        stored=tuple(message_id for answer in answers for message_id in answer.stored),
        duplicates=tuple(message_id for answer in answers for message_id in answer.duplicates),
    )


class ReadsOnlyThePresent(Broken, breaks="l27_past", by_long_program="L27"):
    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        return self.inner.page(evolve(query, as_of=None))


class HidesWhatIsCoveredSince(Broken, breaks="l27_past"):
    @Effect.gen
    async def page(self, do: Do[RepositoryError], query: PageQuery) -> MessagePage | None:
        page = await do(self.inner.page(query))
        kept = self.history(query.conversation_id).entries
        covered = {id_ for id_, entry in kept.items() if entry.message.covered_by is not None}
        if page is None or query.view == "full":
            return page
        return evolve(page, messages=tuple(message for message in page.messages if message.id not in covered))


class ForksOnlyTheEnd(Broken, breaks="l28_fork", by_long_program="L28"):
    def fork(self, fork: Fork, /) -> Effect[Forked, ForkRefusal | RepositoryError]:
        return self.inner.fork(evolve(fork, at=None))


class ForksTwice(Broken, breaks="l28_fork_is_guarded"):
    def fork(self, fork: Fork, /) -> Effect[Forked, ForkRefusal | RepositoryError]:
        return self.inner.fork(fork).map(lambda forked: evolve(forked, is_new=True))


class ForksForWhoeverAsks(Broken, breaks="l28_fork_and_owners"):
    @Effect.gen
    async def fork(self, do: Do[ForkRefusal | RepositoryError], fork: Fork, /) -> Forked:
        with acting_as(EVERYBODY):
            return await do(self.inner.fork(fork))


class ForksByName(Broken, breaks="l28_fork_and_its_siblings"):
    """A branch is another name of its parent, for those who read it."""

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        origin = self.history(query.conversation_id).state.conversation.forked_from
        return self.inner.page(
            query if origin is None else evolve(query, conversation_id=origin.conversation_id)
        )


class LooksAwayWhileItForks(Broken, breaks="l28_fork_at_once"):
    """Between the question whether a branch may be made and its making, others clear what it shares."""

    @Effect.gen
    async def fork(self, do: Do[ForkRefusal | RepositoryError], fork: Fork, /) -> Forked:
        forked = await do(self.inner.fork(fork))
        await checkpoint()
        if not self.history(fork.conversation_id).entries:
            self.put(fork.new_id, evolve(self.history(fork.new_id), entries={}))
        return forked


class ClearsBranchesToo(Broken, breaks="l28_fork_and_its_siblings"):
    @Effect.gen
    async def clear(self, do: Do[RemovalError], conversation_id: str, /, **how: Any) -> ClearReport | None:
        for key, history in self.inner.kept.histories.items():
            origin = history.state.conversation.forked_from
            if origin is not None and origin.conversation_id == conversation_id:
                self.put(key, History.new(key, how["now"]))
        return await do(self.inner.clear(conversation_id, **how))


class NamesEveryParent(Broken, breaks="l28_fork_and_owners"):
    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        kept = self.history(conversation_id).state.conversation
        return self.inner.conversation(conversation_id).map(
            lambda found: found and evolve(found, forked_from=kept.forked_from)
        )


class CommitsRowByRow(Broken, breaks=["l6_cancel", "l7_race"]):
    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        answers = []
        for draft in batch.drafts:
            answers.append(await do(self.inner.append(evolve(batch, drafts=(draft,)))))
            await checkpoint()
        return joined(answers)


class NeverRollsBack(Broken, breaks="l6_cancel"):
    """A cancelled append leaves its transaction open, and the next one commits both."""

    def __init__(self, inner: InMemoryMessageRepository) -> None:
        super().__init__(inner)
        self.open_transaction: tuple[Any, ...] = ()

    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        for draft in batch.drafts:
            self.open_transaction += (draft,)
            await checkpoint()
        drafts, self.open_transaction = self.open_transaction, ()
        return await do(self.inner.append(evolve(batch, drafts=drafts)))


class StaysLocked(Broken):
    """A cancelled append takes its lock with it."""

    def __init__(self, inner: InMemoryMessageRepository) -> None:
        super().__init__(inner)
        self.lock = anyio.Semaphore(1)

    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        await self.lock.acquire()
        await checkpoint()
        answer = await do(self.inner.append(batch))
        self.lock.release()
        return answer


class OrdersByTimestamp(Broken, breaks=["l1_append", "l14_coverage"], by_long_program="L1"):
    def page(self, query: PageQuery) -> Effect[MessagePage | None, Any]:
        def by_time(page: MessagePage | None) -> MessagePage | None:
            return page and evolve(
                page, messages=tuple(sorted(page.messages, key=lambda message: message.timestamp))
            )

        return self.inner.page(query).map(by_time)


class LetsTheLastWriteWin(Broken, breaks="l2_atomic_batch", by_long_program="L2"):
    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        outcome = await self.inner.append(batch)
        if isinstance(outcome, Failure) and isinstance(outcome.failure(), MessageConflictError):
            history = self.history(batch.conversation_id)
            entries = dict(history.entries)
            for draft in batch.drafts:
                if (kept := entries.get(draft.id)) is not None:
                    message = evolve(kept.message, content=draft.content, role=draft.role)
                    entries[draft.id] = evolve(kept, message=message, metadata=None)
            self.put(batch.conversation_id, evolve(history, entries=entries))
            return await do(self.inner.append(evolve(batch, drafts=())))
        return await do(Effect.from_result(outcome))


class SummarizesBeforeItDeletes(Broken, breaks="l14_coverage_is_whole"):
    """The summary is committed first; what it replaces is taken out of the view in a transaction of its own."""

    @Effect.gen
    async def summarize(self, do: Do[Any], summary: Summary) -> Conversation:
        history = self.history(summary.conversation_id)
        made = history.summarize(summary)
        if isinstance(made, History):
            early = {summary.draft.id: made.entries[summary.draft.id]}
            self.put(summary.conversation_id, evolve(history, entries={**history.entries, **early}))
            await checkpoint()
            self.put(summary.conversation_id, history)
        return await do(self.inner.summarize(summary))


class DeletesBeforeItSummarizes(Broken, breaks=["l14_coverage_in_a_race", "l14_coverage_is_whole"]):
    @Effect.gen
    async def summarize(self, do: Do[Any], summary: Summary) -> Conversation:
        history = self.history(summary.conversation_id)
        if isinstance(history.summarize(summary), History):
            left = {id_: entry for id_, entry in history.entries.items() if id_ not in summary.covers}
            self.put(summary.conversation_id, evolve(history, entries=left))
            await checkpoint()
            self.put(summary.conversation_id, history)
        return await do(self.inner.summarize(summary))


class SummarizesWhatItLikes(Broken, breaks="l14_coverage_is_guarded", by_long_program="L14"):
    """Nobody asks whether the history was rewritten since the summary was planned."""

    @Effect.gen
    async def summarize(self, do: Do[Any], summary: Summary) -> Conversation:
        version = self.version(summary.conversation_id)
        return await do(self.inner.summarize(evolve(summary, planned_at_version=version)))


class SwallowsDriverErrors(Broken):
    """Works over any repository: whatever goes wrong, the caller hears that all is well."""

    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        ids = tuple(draft.id for draft in batch.drafts)
        fine = Conversation(batch.conversation_id, 1, 1, 1, 1, 1, batch.now, batch.now)

        def swallow(error: AppendError) -> Effect[Appended, AppendError]:
            if isinstance(error, MessageConflictError | VersionConflictError):
                return Effect.fail(error)
            return Effect.succeed(Appended(ids, (), fine, work_is_due=False))

        return self.inner.append(batch).lash(swallow)


class LetsDriverErrorsEscape(Broken, breaks="l2_atomic_batch: L20"):
    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        def escape(error: AppendError) -> Effect[Appended, AppendError]:
            raise sqlite3.IntegrityError(str(error))

        return self.inner.append(batch).lash(escape)


class ClearsWithLike(Broken, breaks="l3_isolation", by_long_program="L3"):
    @Effect.gen
    async def clear(self, do: Do[RemovalError], conversation_id: str, /, **how: Any) -> ClearReport | None:
        pattern = pattern_of(conversation_id)
        report = await do(self.inner.clear(conversation_id, **how))
        for other in list(self.inner.kept.histories):
            if pattern.fullmatch(other):
                await do(self.inner.clear(other, **how))
        return report


class CountsDuplicates(Broken, by_program="L12"):
    def __init__(self, inner: InMemoryMessageRepository) -> None:
        super().__init__(inner)
        self.drift = Counter[str]()

    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        answer = await do(self.inner.append(batch))
        self.drift[batch.conversation_id] += len(answer.duplicates)
        return answer

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, Any]:
        drift = self.drift[conversation_id]
        return self.inner.conversation(conversation_id).map(
            lambda found: found and evolve(found, message_count=found.message_count + drift)
        )


class ForgetsDeletedIds(Broken, breaks="l12_retry"):
    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        history = self.history(batch.conversation_id)
        left = tuple(made for made in history.summaries if not made.messages_deleted)
        self.put(batch.conversation_id, evolve(history, summaries=left))
        return await do(self.inner.append(batch))


class RemovesTheLatestRow(Broken, breaks="l24_remove", by_long_program="L24"):
    """Takes the row that was written last for the newest message: a summary, and all that it stood for with it."""

    @Effect.gen
    async def remove_newest(self, do: Do[Any], conversation_id: str, /, **how: Any) -> ChatMessage | None:
        history = self.history(conversation_id)
        latest = next(reversed(history.entries.values()), None)
        made = None if latest is None else history.summarization(latest.message.id)
        if latest is None or made is None or made.messages_deleted:
            return await do(self.inner.remove_newest(conversation_id, **how))
        left = {id_: entry for id_, entry in history.entries.items() if entry is not latest}
        state = decide_removal(history.state, [latest.counted], [], freed=0, **how)
        self.put(conversation_id, evolve(history, state=state, entries=left))
        return latest.handed_out()


class HidesWhatADeletedSummaryCovers(Broken, breaks="l24_remove_a_summary_that_deleted_another"):
    """Leaves what a summary covers out of view, though the summary that deleted that one is gone."""

    @Effect.gen
    async def remove_newest(self, do: Do[Any], conversation_id: str, /, **how: Any) -> ChatMessage | None:
        before = self.history(conversation_id)
        removed = await do(self.inner.remove_newest(conversation_id, **how))
        after = self.history(conversation_id)
        hidden = {
            id_: entry
            for id_, entry in before.entries.items()
            if entry.message.covered_by not in {None, *before.entries}
        }
        self.put(conversation_id, evolve(after, entries={**after.entries, **hidden}))
        return removed


class CountsVersionsAnew(Broken, breaks="l4_clear"):
    @Effect.gen
    async def clear(self, do: Do[RemovalError], conversation_id: str, /, **how: Any) -> ClearReport | None:
        report = await do(self.inner.clear(conversation_id, **how))
        self.inner.kept.histories.pop(conversation_id, None)
        return report


class AcknowledgesBeforeItStores(Broken, breaks="l5_reopen", by_program="L5"):
    """Answers from memory; a batch reaches the disk with the next one, and the last one never does."""

    def __init__(self, disk: InMemoryMessageRepository) -> None:
        super().__init__(deepcopy(disk))
        self.disk = disk
        self.waiting: list[Append] = []

    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        while self.waiting:
            await do(self.disk.append(self.waiting.pop()))
        self.waiting.append(batch)
        return await do(self.inner.append(batch))


class CursorsIncludeTheirMessage(Broken, breaks=["l10_window", "l10_window_waits"], by_long_program="L10"):
    def page(self, query: PageQuery) -> Effect[MessagePage | None, Any]:
        if query.newer_than and query.as_of is None:
            query = evolve(query, newer_than=query.newer_than - 1)
        return self.inner.page(query)


class PagesByTimeAlone(Broken, breaks="l10_window_of_the_list"):
    """Takes a cursor for an instant, and what changed at that very instant for seen."""

    def conversations(self, listing: ConversationListing) -> Effect[tuple[Conversation, ...], Any]:
        if listing.order == "recent" and listing.after is not None:
            listing = evolve(listing, after=(listing.after[0], ""))
        return self.inner.conversations(listing)


class TakesPrefixesForPatterns(Broken, breaks="l10_window_of_the_list", by_long_program="L10"):
    def conversations(self, listing: ConversationListing) -> Effect[tuple[Conversation, ...], Any]:
        beginning = pattern_of(listing.prefix)

        def alike(known: tuple[Conversation, ...]) -> tuple[Conversation, ...]:
            found = [one for one in known if beginning.match(one.conversation_id)]
            return tuple(found[: listing.limit])

        everything = evolve(listing, prefix="", limit=MANY)
        return self.inner.conversations(everything).map(alike)


class ChecksTheVersionTooEarly(Broken, breaks="l7_race_for_a_version"):
    """Compares before its transaction begins, so that two writers may both be right."""

    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        version = self.version(batch.conversation_id)
        if batch.expected_version not in {None, version}:
            return await do(self.inner.append(batch))
        await checkpoint()
        return await do(self.inner.append(evolve(batch, expected_version=None)))


class RefusesItsOwnSuccess(Broken, breaks="l12_retry", by_long_program="L12"):
    """Compares versions though there is nothing to be done."""

    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        version = self.version(batch.conversation_id)
        appended = await do(self.inner.append(batch))
        if batch.expected_version not in {None, version}:
            do.fail(VersionConflictError(batch.conversation_id, batch.expected_version or 0, version))
        return appended


class ShowsWhatIsOthers(Broken, breaks=["l26_owner", "l26_owner_is_nobody"]):
    @Effect.coroutine
    async def page(self, query: PageQuery) -> Outcome[MessagePage | None, RepositoryError]:
        with acting_as(EVERYBODY):
            return await self.inner.page(query)


class ListsWhatIsOthers(Broken, breaks="l26_owner"):
    @Effect.coroutine
    async def conversations(
        self, listing: ConversationListing, /
    ) -> Outcome[tuple[Conversation, ...], RepositoryError]:
        with acting_as(EVERYBODY):
            return await self.inner.conversations(listing)


class LetsReadersClear(Broken, breaks="l26_owner_grants"):
    @Effect.coroutine
    async def clear(self, conversation_id: str, /, **how: Any) -> Outcome[ClearReport | None, RemovalError]:
        history = self.history(conversation_id)
        if not history.entries or not history.state.is_seen_by(principal()):
            return Success(None)
        with acting_as(EVERYBODY):
            return await self.inner.clear(conversation_id, **how)


class FreesWhatIsCleared(Broken, breaks="l26_owner_of_what_was_cleared"):
    @Effect.gen
    async def clear(self, do: Do[RemovalError], conversation_id: str, /, **how: Any) -> ClearReport | None:
        cleared = await do(self.inner.clear(conversation_id, **how))
        history = self.history(conversation_id)
        if not history.entries:
            self.put(conversation_id, evolve(history, state=evolve(history.state, owner=UNOWNED)))
        return cleared


class TakesAnyRole(Broken, breaks="l26_owner_and_roles"):
    @Effect.coroutine
    async def append(self, batch: Append) -> Outcome[Appended, AppendError]:
        with acting_as(evolve(principal(), roles=EVERY_ROLE)):
            return await self.inner.append(batch)


class ActsForWhoeverCameFirst(Broken, breaks="l26_owner_at_once"):
    """Takes a group of calls for those of one caller."""

    def __init__(self, inner: InMemoryMessageRepository) -> None:
        super().__init__(inner)
        self.acting: Principal | None = None

    @Effect.coroutine
    async def append(self, batch: Append) -> Outcome[Appended, AppendError]:
        self.acting = self.acting or principal()
        await checkpoint()
        with acting_as(self.acting):
            self.acting = None
            return await self.inner.append(batch)


class SharesMetadata(Broken, breaks="l1_append_copies"):
    def __init__(self, inner: InMemoryMessageRepository) -> None:
        super().__init__(inner)
        self.shared: dict[str, Any] = {}

    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        self.shared |= {draft.id: draft.metadata for draft in batch.drafts}
        return await do(self.inner.append(batch))

    def page(self, query: PageQuery) -> Effect[MessagePage | None, Any]:
        def with_shared(page: MessagePage | None) -> MessagePage | None:
            return page and evolve(
                page,
                messages=tuple(
                    evolve(message, metadata=self.shared[message.id]) for message in page.messages
                ),
            )

        return self.inner.page(query).map(with_shared)


class IgnoresLeases(Broken, breaks="w2_lease"):
    def claim_work(self, **claim: Any) -> Effect[HistoryWork | None, Any]:
        for conversation_id, history in self.inner.kept.histories.items():
            if history.work is not None:
                self.put(conversation_id, evolve(history, work=evolve(history.work, lease_until=None)))
        return self.inner.claim_work(**claim)


class QueuesNoWork(Broken, breaks="w1_outbox"):
    """The work is announced, and lost with the process that wanted to do it."""

    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        answer = await do(self.inner.append(batch))
        self.put(batch.conversation_id, evolve(self.history(batch.conversation_id), work=None))
        return answer


class RetriesAtOnce(Broken, breaks="w3_settle"):
    def settle_work(self, work: HistoryWork, **settlement: Any) -> Effect[None, Any]:
        if settlement.get("retry_at") is not None:
            settlement["retry_at"] = datetime.min.replace(tzinfo=UTC)
        return self.inner.settle_work(work, **settlement)


class CreatesWhatIsAskedFor(Broken, breaks="l11_empty"):
    def conversation(self, conversation_id: str) -> Effect[Conversation | None, Any]:
        now = datetime.min.replace(tzinfo=UTC)
        empty = Conversation(conversation_id, 0, 0, 0, 0, 0, now, now)
        return self.inner.conversation(conversation_id).map(lambda found: found or empty)
