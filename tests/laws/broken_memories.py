"""Memory repositories that each break one promise, the way stores in the field have broken it."""

from copy import deepcopy
from datetime import datetime
from typing import Any

import numpy as np
from anyio.lowlevel import checkpoint
from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Delegating, Do, Effect, Failure
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryConflictError, MemoryStoreError
from chatmemory.laws.kit.samples import DAY, START
from chatmemory.longterm.changes import MemoryName, name_of
from chatmemory.longterm.kept_memories import KeptMemories
from chatmemory.longterm.kept_memory import KeptMemory, kept
from chatmemory.longterm.memories import (
    Duplicate,
    ForgetReceipt,
    Memory,
    MemoryHistory,
    SaveOutcome,
    Stored,
    UseReport,
)
from chatmemory.longterm.repository_values import (
    Attachment,
    Candidate,
    Candidates,
    Expiry,
    Forgetting,
    Mark,
    MemoryDraft,
    MemoryListing,
    MemorySearch,
    Use,
)
from chatmemory_layers.in_memory.memory_repository import InMemoryMemoryRepository
from tests.laws.breaking import Breaks
from tests.laws.broken import pattern_of

Outcomes = tuple[SaveOutcome, ...]


class BrokenMemory(Breaks, Delegating[InMemoryMemoryRepository]):
    """Passes every call on to a sound repository; each subclass gets one of them wrong."""

    @property
    def table(self) -> KeptMemories:
        return self.inner.kept

    def change(self, memory_id: str, **changes: Any) -> None:
        """Change what has the id, whoever's it is."""
        for name, row in self.of_id(memory_id).items():
            self.table.rows[name] = evolve(row, memory=evolve(row.memory, **changes))

    def of_id(self, memory_id: str) -> dict[MemoryName, KeptMemory]:
        return {name: row for name, row in self.table.rows.items() if row.id == memory_id}


# --- Attributes --------------------------------------------------------------------------------------------------


class LosesTheAttribute(BrokenMemory, breaks="t4_attribute"):
    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[Outcomes, MemoryStoreError]:
        return self.inner.store(tuple(evolve(draft, attribute=None) for draft in drafts))


class EndsWhateverHasTheAttribute(BrokenMemory):
    """UPDATE ... WHERE user_key = ? AND attribute = ?, with one more condition left out by each subclass."""

    def is_ended(self, draft: MemoryDraft, memory: Memory) -> bool:
        raise NotImplementedError

    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        before = [*self.table.rows.values()]
        outcomes = await do(self.inner.store(drafts))
        for draft in drafts:
            for row in before:
                if (
                    draft.attribute is not None
                    and row.memory.attribute == draft.attribute
                    and row.memory.namespace.user == draft.namespace.user
                    and row.is_true()
                    and self.is_ended(draft, row.memory)
                ):
                    self.change(row.id, superseded_at=draft.created_at, superseded_by=draft.id)
        return outcomes


class EndsAcrossApps(EndsWhateverHasTheAttribute, breaks="t4_attribute"):
    def is_ended(self, draft: MemoryDraft, memory: Memory) -> bool:
        return memory.is_stated and not memory.pinned and memory.attribute != "pet"


class EndsWhatIsPinned(EndsWhateverHasTheAttribute, breaks="t4_attribute"):
    def is_ended(self, draft: MemoryDraft, memory: Memory) -> bool:
        return memory.pinned and draft.is_stated and draft.namespace == memory.namespace


class EndsWhatOthersSaid(EndsWhateverHasTheAttribute, breaks="t4_attribute"):
    def is_ended(self, draft: MemoryDraft, memory: Memory) -> bool:
        return not memory.is_stated and draft.is_stated and draft.namespace == memory.namespace


class EndsByTheWordsOfATool(EndsWhateverHasTheAttribute, breaks="t4_attribute"):
    def is_ended(self, draft: MemoryDraft, memory: Memory) -> bool:
        return draft.role == "tool" and memory.is_stated and draft.namespace == memory.namespace


class EndsSeveralValued(EndsWhateverHasTheAttribute, breaks="t4_attribute"):
    def is_ended(self, draft: MemoryDraft, memory: Memory) -> bool:
        return memory.attribute == "pet" and draft.namespace == memory.namespace


class EndsBeforeItStores(BrokenMemory, breaks="t4_attribute"):
    """Ends in a transaction of its own, before the one that stores."""

    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        for draft in drafts:
            for row in [*self.table.rows.values()]:
                memory = row.memory
                if (
                    (memory.attribute, memory.namespace) == ("residence", draft.namespace)
                    and row.is_true()
                    and memory.is_stated
                    and not memory.pinned
                    and memory.created_at < draft.created_at
                ):
                    self.change(row.id, superseded_at=draft.created_at, superseded_by=draft.id)
        return await do(self.inner.store(drafts))


class EndsInSilence(BrokenMemory, breaks="t4_attribute"):
    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[Outcomes, MemoryStoreError]:
        return self.inner.store(drafts).map(
            lambda outcomes: tuple(
                evolve(outcome, retired=()) if isinstance(outcome, Stored) else outcome
                for outcome in outcomes
            )
        )


class BelievesWhatComesLast(BrokenMemory, breaks="t5_late"):
    """The order of arrival decides, not the instants."""

    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        outcomes = await do(self.inner.store(drafts))
        for outcome in outcomes:
            if isinstance(outcome, Stored) and outcome.superseded_by is not None:
                self.change(outcome.superseded_by, superseded_at=START + DAY, superseded_by=outcome.id)
                self.change(outcome.id, superseded_at=None, superseded_by=None)
        return outcomes


class RestoresBesideTheSuccessor(BrokenMemory, breaks="t6_restore", in_service="u1_undo"):
    def restore(self, namespace: Namespace, memory_id: str, **how: Any) -> Effect[Memory, Any]:
        return self.inner.restore(namespace, memory_id, now=how["now"])


class RestoresWhateverItSees(BrokenMemory, breaks="t6_restore"):
    def restore(self, namespace: Namespace, memory_id: str, **how: Any) -> Effect[Memory, Any]:
        for user, _ in self.of_id(memory_id):
            return self.inner.restore(Namespace(user), memory_id, **how)
        return self.inner.restore(namespace, memory_id, **how)


# --- Storing -----------------------------------------------------------------------------------------------------


class HasOneIdForAll(BrokenMemory, breaks="l3_isolation_of_ids"):
    """A primary key of ids alone: what one user has taken is refused to every other."""

    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        others = [
            draft.id
            for draft in drafts
            if any(user != draft.namespace.user for user, _ in self.of_id(draft.id))
        ]
        if others:
            await do(Effect.fail(MemoryConflictError(tuple(others))))
        return await do(self.inner.store(drafts))


class EndsByIdAlone(BrokenMemory, breaks="l3_isolation_of_ids"):
    """UPDATE ... WHERE memory_id = ?, whoever's it is."""

    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        outcomes = await do(self.inner.store(drafts))
        for draft, outcome in zip(drafts, outcomes, strict=True):
            for memory_id in outcome.superseded if isinstance(outcome, Stored) else ():
                self.change(memory_id, superseded_at=draft.created_at, superseded_by=draft.id)
        return outcomes


class MarksByIdAlone(BrokenMemory, breaks="l3_isolation_of_ids"):
    def mark(self, mark: Mark) -> Effect[Memory | None, Any]:
        marks = {"memory_type": mark.memory_type, "pinned": mark.pinned}
        self.change(mark.memory_id, **{name: value for name, value in marks.items() if value is not None})
        return self.inner.mark(mark)


class SharesValues(BrokenMemory, breaks="l1_remember_copies"):
    def __init__(self, inner: InMemoryMemoryRepository) -> None:
        super().__init__(inner)
        self.shared: dict[str, Any] = {}

    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[Outcomes, MemoryStoreError]:
        self.shared |= {draft.id: draft.value for draft in drafts}
        return self.inner.store(drafts)

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory | None, Any]:
        def shared(memory: Memory | None) -> Memory | None:
            return memory and evolve(memory, value=self.shared[memory_id])

        return self.inner.get(namespace, memory_id).map(shared)


class KeepsWholeSeconds(BrokenMemory, breaks="l1_remember", by_long_program="L1"):
    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[Outcomes, MemoryStoreError]:
        return self.inner.store(
            tuple(evolve(draft, created_at=draft.created_at.replace(microsecond=0)) for draft in drafts)
        )


class StoresWhatItCan(BrokenMemory, breaks="l2_atomic_batch", by_long_program="L2"):
    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        outcome = await self.inner.store(drafts)
        if isinstance(outcome, Failure):
            for draft in drafts:
                _ = (await self.inner.store((draft,))).value_or(None)
        return await do(Effect.from_result(outcome))


class OverwritesById(BrokenMemory, breaks=["l2_atomic_batch", "l12_retry"]):
    """INSERT OR REPLACE, and nobody hears of it."""

    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        outcome = await self.inner.store(drafts)
        if isinstance(outcome, Failure) and isinstance(outcome.failure(), MemoryConflictError):
            self.table.rows |= {name_of(draft): kept(draft) for draft in drafts}
            return tuple(Stored(draft.id) for draft in drafts)
        return await do(Effect.from_result(outcome))


class ReportsDuplicatesAsStored(BrokenMemory, breaks="l13_dedup", by_program="L13"):
    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[Outcomes, MemoryStoreError]:
        def as_stored(outcomes: Outcomes) -> Outcomes:
            return tuple(
                outcome if isinstance(outcome, Stored) else Stored(draft.id)
                for draft, outcome in zip(drafts, outcomes, strict=True)
            )

        return self.inner.store(drafts).map(as_stored)


class DeduplicatesAcrossApps(BrokenMemory, breaks="l13_dedup"):
    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        outcomes: Outcomes = ()
        for draft in drafts:
            twins = [
                row.id
                for row in self.table.rows.values()
                if draft.dedup_key is not None
                and (row.memory.namespace.user, row.dedup_key) == (draft.namespace.user, draft.dedup_key)
            ]
            outcomes += (Duplicate(twins[0]),) if twins else await do(self.inner.store((draft,)))
        return outcomes


class StoresRowByRow(BrokenMemory, breaks=["l6_cancel", "l7_race"]):
    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        outcomes: Outcomes = ()
        for draft in drafts:
            outcomes += await do(self.inner.store((draft,)))
            await checkpoint()
        return outcomes


class LooksForDuplicatesTooEarly(BrokenMemory, breaks="l7_race_for_a_dedup_key"):
    """Looks before its transaction begins, and the store has no unique index to say otherwise."""

    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        holders = [self.table._holder(draft.namespace, draft.dedup_key) for draft in drafts]
        await checkpoint()
        if any(holders):
            return await do(self.inner.store(drafts))
        return await do(self.inner.store(tuple(evolve(draft, dedup_key=None) for draft in drafts)))


class LooksForTheKeyTooEarly(BrokenMemory, breaks="l7_race_for_a_key"):
    """Whether a key has a value is looked up before the transaction begins."""

    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        asked = {draft.value_key for draft in drafts}
        is_taken = any(row.memory.value_key in asked for row in self.table.rows.values())
        await checkpoint()
        if is_taken:
            return await do(self.inner.store(drafts))
        return await do(self.inner.store(tuple(evolve(draft, role="user") for draft in drafts)))


class RestoresBesideTheValue(BrokenMemory, breaks="t4_one_value", in_service="u1_undo_of_values"):
    def restore(self, namespace: Namespace, memory_id: str, **_: Any) -> Effect[Memory | None, Any]:
        self.change(memory_id, superseded_at=None, superseded_by=None)
        return self.inner.get(namespace, memory_id)


class ReplacesWhatIsGone(BrokenMemory, breaks="l7_race_for_a_place"):
    """The memory that is to be replaced is looked up too early."""

    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        replaced = [
            self.table.seen(draft.namespace, draft.replaces) for draft in drafts if draft.replaces is not None
        ]
        await checkpoint()
        if not any(row is not None and row.is_true() for row in replaced):
            return await do(self.inner.store(drafts))
        return await do(self.inner.store(tuple(evolve(draft, replaces=None) for draft in drafts)))


class AcknowledgesBeforeItStores(BrokenMemory, breaks="l5_reopen", by_program="L5"):
    """Answers from memory; nothing ever reaches the disk."""

    def __init__(self, disk: InMemoryMemoryRepository) -> None:
        super().__init__(deepcopy(disk))


class SwallowsConflicts(BrokenMemory, breaks="l2_atomic_batch"):
    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[Outcomes, MemoryStoreError]:
        fine: Outcomes = tuple(Stored(draft.id) for draft in drafts)
        return self.inner.store(drafts).lash(lambda _: Effect.succeed(fine))


# --- Truth -------------------------------------------------------------------------------------------------------


class ForgetsWhatSuperseded(BrokenMemory, breaks="t1_truth"):
    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        outcomes = await do(self.inner.store(drafts))
        for outcome in outcomes:
            for memory_id in outcome.superseded if isinstance(outcome, Stored) else ():
                self.change(memory_id, superseded_by=None)
        return outcomes


class DeletesWhatIsSuperseded(BrokenMemory, breaks="t1_truth", by_long_program="T1 or L13"):
    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        outcomes = await do(self.inner.store(drafts))
        for outcome in outcomes:
            for memory_id in outcome.superseded if isinstance(outcome, Stored) else ():
                for name in self.of_id(memory_id):
                    del self.table.rows[name]
        return outcomes


class SearchesThePastInThePresent(BrokenMemory, breaks="t2_time_travel", by_long_program="L8"):
    def search(self, search: MemorySearch) -> Effect[Candidates, Any]:
        return self.inner.search(evolve(search, as_of=None))


class CorrectsWithoutAsking(BrokenMemory, breaks="t3_correct", by_long_program="T3"):
    def rewrite(self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False) -> Any:
        row = self.table.rows.get(name_of(draft))
        version = expected_version if row is None else row.memory.version
        return self.inner.rewrite(draft, expected_version=version, keep_vector=keep_vector)


class KeepsTheWordsOfTheOldContent(BrokenMemory, breaks="t3_correct"):
    def rewrite(self, draft: MemoryDraft, **how: Any) -> Any:
        row = self.table.rows.get(name_of(draft))
        return self.inner.rewrite(draft if row is None else evolve(draft, terms=row.terms), **how)


# --- Reading -----------------------------------------------------------------------------------------------------


class PagesByInstantAlone(BrokenMemory, breaks="l10_window", by_long_program="L10"):
    def list(self, listing: MemoryListing) -> Effect[tuple[Memory, ...], Any]:
        after = None if listing.after is None else (listing.after[0], "")
        return self.inner.list(evolve(listing, after=after))


class ListsByPattern(BrokenMemory, breaks="l10_window_on_a_text"):
    """LIKE, with nothing escaped."""

    @Effect.gen
    async def list(self, do: Do[Any], listing: MemoryListing) -> tuple[Memory, ...]:
        if listing.containing is None:
            return await do(self.inner.list(listing))
        pattern = pattern_of(listing.containing)
        found = await do(self.inner.list(evolve(listing, containing=None)))
        texts = {memory.id: (memory.content, memory.key or "", str(memory.value)) for memory in found}
        return tuple(memory for memory in found if any(map(pattern.search, texts[memory.id])))


class ListsWhateverItContains(BrokenMemory, breaks="l10_window_on_a_text", by_long_program="L10"):
    def list(self, listing: MemoryListing) -> Effect[tuple[Memory, ...], Any]:
        return self.inner.list(evolve(listing, containing=None))


class ListsByContentAlone(BrokenMemory, breaks="l10_window_on_a_text"):
    def list(self, listing: MemoryListing) -> Effect[tuple[Memory, ...], Any]:
        def with_content(memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
            text = (listing.containing or "").lower()
            return tuple(memory for memory in memories if text in memory.content.lower())

        return self.inner.list(listing).map(with_content)


class IgnoresTheApp(BrokenMemory, breaks="l16_filter", in_service="l16_filter"):
    def search(self, search: MemorySearch) -> Effect[Candidates, Any]:
        return self.inner.search(evolve(search, namespace=Namespace(search.namespace.user)))


class FindsShortTermMemories(
    BrokenMemory, breaks=["l16_filter", "l16_filter_promote"], in_service="l16_filter"
):
    @Effect.gen
    async def search(self, do: Do[Any], search: MemorySearch) -> Candidates:
        found = await do(self.inner.search(search))
        short = [
            Candidate(row.handed_out(), row.terms, None)
            for row in self.table.rows.values()
            if row.memory.memory_type == "short_term" and search.namespace.sees(row.memory.namespace)
        ]
        return evolve(found, found=(*found.found, *short))


class CreatesWhatIsAskedFor(BrokenMemory, breaks="l11_empty"):
    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> Effect[bool, Any]:
        return self.inner.retire(namespace, key, now=now).map(lambda _: True)


# --- Searching ---------------------------------------------------------------------------------------------------


class LeavesOutWhatStandsBeside(BrokenMemory, breaks="l8_beside"):
    """Finds what has a word of the query, and not the answer behind it."""

    def search(self, search: MemorySearch) -> Effect[Candidates, Any]:
        def alone(found: Candidates) -> Candidates:
            sharing = [one for one in found.found if set(search.terms) & set(one.terms.split())]
            return evolve(found, found=tuple(sharing))

        return self.inner.search(search).map(alone)


class FindsMoreThanAsked(BrokenMemory, breaks="l8_candidates"):
    def search(self, search: MemorySearch) -> Effect[Candidates, Any]:
        return self.inner.search(evolve(search, limit=search.limit + 1))


class ReadsTheTextAsAPattern(BrokenMemory, breaks="l8_candidates_by_text"):
    """LIKE: wildcards, and no difference between upper and lower case."""

    @Effect.gen
    async def search(self, do: Do[Any], search: MemorySearch) -> Candidates:
        found = await do(self.inner.search(search))
        pattern = pattern_of(search.text)
        if found.found and not found.matched_text:
            return found
        alike = [
            Candidate(row.handed_out(), row.terms, None)
            for row in self.table.rows.values()
            if row.is_recallable(search.namespace) and pattern.search(row.memory.content)
        ]
        return evolve(found, found=tuple(alike), matched_text=bool(alike))


class ComparesSignsOnly(BrokenMemory, breaks="l9_self"):
    """One bit per dimension, and nobody rescores."""

    def search(self, search: MemorySearch) -> Effect[Candidates, Any]:
        sound = deepcopy(self.inner)
        for key, row in self.table.rows.items():
            if row.vector is not None:
                sign = np.sign(row.vector)
                sound.kept.rows[key] = evolve(row, vector=sign / np.sqrt(sign @ sign))
        return sound.search(search)


class MixesSpaces(BrokenMemory, breaks="v1_vectors"):
    """Whatever has the right length is compared."""

    def search(self, search: MemorySearch) -> Effect[Candidates, Any]:
        sound = deepcopy(self.inner)
        for key, row in self.table.rows.items():
            if row.vector is not None and search.space is not None and row.vector.size == search.space.dim:
                sound.kept.rows[key] = evolve(row, memory=evolve(row.memory, embedding=search.space))
        return sound.search(search)


class AttachesToWhatHasChanged(BrokenMemory, by_long_program="V1"):
    def attach(
        self, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]
    ) -> Effect[int, Any]:
        rows = self.table.rows
        return self.inner.attach(
            namespace,
            space,
            tuple(
                evolve(one, version=rows[namespace.user, one.memory_id].memory.version)
                if (namespace.user, one.memory_id) in rows
                else one
                for one in attachments
            ),
        )


# --- Using -------------------------------------------------------------------------------------------------------


class CountsFindingAsUse(BrokenMemory, breaks=["l8_candidates", "l17_access_peeks"], in_service="l17_access"):
    @Effect.gen
    async def search(self, do: Do[Any], search: MemorySearch) -> Candidates:
        found = await do(self.inner.search(search))
        for candidate in found.found:
            self.change(candidate.memory.id, access_count=candidate.memory.access_count + 1)
        return found


class CountsRepeatedUses(BrokenMemory, breaks="l17_access", by_long_program="L17", in_service="l17_access"):
    def record_use(self, use: Use) -> Any:
        for memory_id in use.memory_ids:
            for name, row in self.of_id(memory_id).items():
                self.table.rows[name] = evolve(row, last_use_id=None)
        return self.inner.record_use(use)


class LosesConcurrentUses(BrokenMemory, breaks="l17_access_at_once"):
    """Reads the count, and writes it back a moment later."""

    @Effect.gen
    async def record_use(self, do: Do[Any], use: Use) -> UseReport:
        before = [self.of_id(memory_id) for memory_id in use.memory_ids]
        await checkpoint()
        for rows in before:
            self.table.rows.update(rows)
        return await do(self.inner.record_use(use))


class PromotesInSilence(BrokenMemory, in_service="l17_hits"):
    @Effect.gen
    async def record_use(self, do: Do[Any], use: Use) -> UseReport:
        report = await do(self.inner.record_use(use))
        return evolve(report, promoted=())


class ListsEveryType(BrokenMemory, in_service="l17_hits"):
    def list(self, listing: MemoryListing) -> Effect[tuple[Memory, ...], Any]:
        return self.inner.list(evolve(listing, memory_type=None))


class ListsNoSessions(BrokenMemory, in_service="l17_hits"):
    def list(self, listing: MemoryListing) -> Effect[tuple[Memory, ...], Any]:
        listed = self.inner.list(listing)
        return listed.map(lambda memories: tuple(evolve(memory, session_id=None) for memory in memories))


class PromotesWhatAnybodySaid(BrokenMemory, breaks="l17_access_promotes"):
    @Effect.gen
    async def record_use(self, do: Do[Any], use: Use) -> UseReport:
        report = await do(self.inner.record_use(use))
        if not report.promoted:
            return report
        for memory_id in use.memory_ids:
            self.change(memory_id, memory_type="long_term")
        return evolve(report, promoted=use.memory_ids)


# --- Forgetting --------------------------------------------------------------------------------------------------


class ForgetsTheNewestValueOnly(BrokenMemory, breaks="l23_forget"):
    def forget(self, forgetting: Forgetting) -> Effect[ForgetReceipt, Any]:
        for row in list(self.table.rows.values()):
            if forgetting.memory_id is not None and row.memory.superseded_by == forgetting.memory_id:
                self.change(row.id, superseded_by=None)
        return self.inner.forget(forgetting)


class ForgetsByPrefix(BrokenMemory, breaks="l23_forget", by_long_program="L23"):
    def forget(self, forgetting: Forgetting) -> Effect[ForgetReceipt, Any]:
        for row in list(self.table.rows.values()):
            path = row.memory.provenance.path
            if forgetting.path is not None and path is not None and path.startswith(forgetting.path):
                provenance = evolve(row.memory.provenance, path=forgetting.path)
                self.change(row.id, provenance=provenance)
        return self.inner.forget(forgetting)


class ForgetsWithLike(BrokenMemory, breaks="l3_isolation"):
    """Compares users without regard to case, as LIKE does."""

    @Effect.gen
    async def forget(self, do: Do[Any], forgetting: Forgetting) -> ForgetReceipt:
        user = forgetting.namespace.user
        alike = {row.memory.namespace.user for row in self.table.rows.values()} - {user}
        for other in (other for other in alike if other.casefold() == user.casefold()):
            namespace = evolve(forgetting.namespace, user=other)
            await do(self.inner.forget(evolve(forgetting, namespace=namespace)))
        return await do(self.inner.forget(forgetting))


class ForgetsByIdAlone(BrokenMemory, breaks="l3_isolation_of_ids"):
    """DELETE ... WHERE memory_id = ?, whoever's it is."""

    def forget(self, forgetting: Forgetting) -> Effect[ForgetReceipt, Any]:
        forgetting_it = self.inner.forget(forgetting)
        if forgetting.memory_id is not None:
            for name in self.of_id(forgetting.memory_id):
                if name[0] != forgetting.namespace.user:
                    del self.table.rows[name]
        return forgetting_it


class ServesTheForgottenFromACache(BrokenMemory, breaks="l23_forget", in_service="l23_forget"):
    def __init__(self, inner: InMemoryMemoryRepository) -> None:
        super().__init__(inner)
        self.cache: dict[str, Candidate] = {}

    @Effect.gen
    async def search(self, do: Do[Any], search: MemorySearch) -> Candidates:
        found = await do(self.inner.search(search))
        self.cache |= {candidate.memory.id: candidate for candidate in found.found}
        cached = [
            candidate
            for candidate in self.cache.values()
            if not self.of_id(candidate.memory.id) and search.namespace.sees(candidate.memory.namespace)
        ]
        return evolve(found, found=(*found.found, *cached))


class RemembersDedupKeysForEver(BrokenMemory, breaks="l23_forget_all"):
    """The hashes of what was forgotten stay, and so nobody can say it again."""

    def __init__(self, inner: InMemoryMemoryRepository) -> None:
        super().__init__(inner)
        self.known: dict[tuple[Namespace, bytes | None], str] = {}

    @Effect.gen
    async def store(self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]) -> Outcomes:
        outcomes: Outcomes = ()
        for draft in drafts:
            key = (draft.namespace, draft.dedup_key)
            if draft.dedup_key is not None and key in self.known:
                outcomes += (Duplicate(self.known[key]),)
            else:
                outcomes += await do(self.inner.store((draft,)))
                self.known[key] = draft.id
        return outcomes


class ExpiresWhatIsPinned(BrokenMemory, breaks="l23_expire", by_program="L23"):
    def expire(self, expiry: Expiry) -> Effect[int, Any]:
        for row in list(self.table.rows.values()):
            if expiry.namespace.sees(row.memory.namespace):
                self.change(row.id, pinned=False)
        return self.inner.expire(expiry)


class LeavesSummariesAsTheyAre(BrokenMemory, breaks="l23_forget_marks_summaries"):
    def forget(self, forgetting: Forgetting) -> Effect[ForgetReceipt, Any]:
        gone = self.table.forget(forgetting)
        return Effect.succeed(ForgetReceipt(len(gone), sum(row.vector is not None for row in gone)))


# --- The past ----------------------------------------------------------------------------------------------------


class NeverUnpins(BrokenMemory, in_service="u1_undo"):
    def mark(self, mark: Mark) -> Effect[Memory | None, Any]:
        if mark.pinned is False:
            return self.inner.get(mark.namespace, mark.memory_id)
        return self.inner.mark(mark)


class HidesWhatWasForgotten(BrokenMemory, in_service="u2_no_undo"):
    """Its history of a forgotten memory is that of one that never was."""

    def history(self, namespace: Namespace, memory_id: str) -> Effect[MemoryHistory, Any]:
        def hidden(told: MemoryHistory) -> MemoryHistory:
            is_gone = any(event.action == "forgotten" for event in told.events)
            return evolve(told, events=()) if is_gone else told

        return self.inner.history(namespace, memory_id).map(hidden)
