"""``LongTermMemoryLive``: the service that agents call, over any repository, embedder, extractor and ranker.

It checks the input, makes drafts, and turns errors of the repository into errors of the service.  Transactions belong to the
repository, the order of hits to the ranker.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Never, TypeAlias, cast, final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect, Layer
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.effect.services.ids import Ids, IdsTag
from chatmemory.embedding.embedder import Embedder, EmbedderTag
from chatmemory.errors import (
    GenericMemoryError,
    MemoryChangeError,
    MemoryNotFoundError,
    MemoryReadError,
    MemoryUndoError,
    Problem,
    RecallError,
    RememberError,
    memory_error,
)
from chatmemory.input.json_value import Json
from chatmemory.input.rules import (
    choice_problems,
    flag_problems,
    id_problems,
    instant_problems,
    limit_problems,
    read_cursor,
    refuse,
    text_problems,
)
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.longterm.correcting import Correcting
from chatmemory.longterm.extraction.memory_extractor import (
    Extraction,
    MemoryExtractor,
    MemoryExtractorTag,
    MemoryUpdate,
    Speaker,
)
from chatmemory.longterm.memories import (
    AttributePolicy,
    Category,
    DedupPolicy,
    Duplicate,
    ForgetReceipt,
    Memory,
    MemoryChanges,
    MemoryFacets,
    MemoryHistory,
    MemoryPage,
    MemoryType,
    NewMemory,
    ReEmbedReport,
    RememberReport,
    Skipped,
    Source,
    Stored,
    UseReport,
)
from chatmemory.longterm.memory_repository import MemoryRepository, MemoryRepositoryTag
from chatmemory.longterm.memory_rules import (
    changes_problems,
    content_problems,
    ids_problems,
    memories_problems,
    memory_problems,
    namespace_problems,
    tags_problems,
    update_problems,
    value_problems,
)
from chatmemory.longterm.re_embedding import ReEmbedding
from chatmemory.longterm.reading import attributes_read, count_facets, find, list_page, mark
from chatmemory.longterm.recall.recall import Recall
from chatmemory.longterm.recall.recall_ranker import RecallRankerTag
from chatmemory.longterm.recall.recalling import LOOKED_AT, Recalling, is_echo, short_term_uses
from chatmemory.longterm.repository_values import Expiry, Forgetting, Mark, MemoryListing, Use
from chatmemory.longterm.saving.auto_save import Utterance, side_of_turn, statement
from chatmemory.longterm.saving.memory_drafts import MemoryDrafts
from chatmemory.longterm.saving.saving import Saving
from chatmemory.longterm.undoing import Undoing, number_problems
from chatmemory.settings.memory_settings import (
    MOST_RECALLED,
    ExpirySettings,
    ExpirySettingsTag,
    ExtractionSettingsTag,
    PromotionSettings,
    PromotionSettingsTag,
    RetrievalSettings,
    RetrievalSettingsTag,
)
from chatmemory.text.long_work import in_worker_thread, long_or_short

log = logging.getLogger(__name__)

NOTHING_NAMED: Final = Problem(
    "$", "name what to forget: a session_id, a message_id or a path; forget_all takes all"
)

Requirements: TypeAlias = (
    MemoryRepositoryTag
    | EmbedderTag
    | MemoryExtractorTag
    | RecallRankerTag
    | RetrievalSettingsTag
    | ExtractionSettingsTag
    | PromotionSettingsTag
    | ExpirySettingsTag
)


@final
@frozen
class LongTermMemoryLive(LongTermMemory):
    """Implements ``LongTermMemory``, which describes its methods."""

    repository: MemoryRepository
    embedder: Embedder
    extractor: MemoryExtractor
    saving: Saving
    recalling: Recalling
    correcting: Correcting
    undoing: Undoing
    retrieval: RetrievalSettings
    promotion: PromotionSettings
    expiry: ExpirySettings
    clock: Clock
    ids: Ids

    @Effect.gen
    async def remember(
        self,
        do: Do[RememberError],
        namespace: Namespace,
        memories: Sequence[NewMemory],
        *,
        dedup: DedupPolicy = "exact",
        attributes: AttributePolicy = "given",
    ) -> RememberReport:
        refuse(
            do,
            namespace_problems(namespace),
            await long_or_short(do, _values_of(memories), lambda: memories_problems(memories)),
            choice_problems("$.dedup", dedup, DedupPolicy),
            choice_problems("$.attributes", attributes, AttributePolicy),
        )
        if attributes == "read":
            memories = await do(attributes_read(self.repository, namespace, memories))
        return await do(self.saving.save(namespace, memories, dedup=dedup))

    @Effect.gen
    async def save_conversation_turn(
        self,
        do: Do[RememberError],
        namespace: Namespace,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str,
        user_message_id: str | None = None,
        assistant_message_id: str | None = None,
        dedup: DedupPolicy = "first_50_characters",
        write_id: str | None = None,
    ) -> RememberReport:
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.session_id", session_id),
            choice_problems("$.dedup", dedup, DedupPolicy),
            text_problems("$.user_content", user_content),
            text_problems("$.assistant_content", assistant_content),
            id_problems("$.user_message_id", user_message_id, or_none=True),
            id_problems("$.assistant_message_id", assistant_message_id, or_none=True),
            id_problems("$.write_id", write_id, or_none=True),
        )
        turn = (
            side_of_turn("user", user_content, session_id, user_message_id),
            side_of_turn("assistant", assistant_content, session_id, assistant_message_id),
        )
        said = [session_id, user_content, assistant_content, dedup]
        save = self.saving.save(namespace, turn, dedup=dedup)
        report = await do(self.saving.once(write_id, namespace, said, save))
        await do(self._expire_old(namespace).lash(_note_late_expiry))
        return report

    @Effect.gen
    async def extract(self, do: Do[RecallError], content: str, *, role: Speaker = "user") -> Extraction:
        refuse(do, text_problems("$.content", content), choice_problems("$.role", role, Speaker))
        return await do(self.extractor.extract(content, role=role))

    @Effect.gen
    async def auto_save(
        self,
        do: Do[RememberError],
        namespace: Namespace,
        content: str,
        *,
        role: Speaker = "user",
        session_id: str | None = None,
        message_id: str | None = None,
        update: MemoryUpdate | None = None,
        write_id: str | None = None,
    ) -> RememberReport:
        refuse(
            do,
            namespace_problems(namespace),
            text_problems("$.content", content),
            choice_problems("$.role", role, Speaker),
            id_problems("$.session_id", session_id, or_none=True),
            id_problems("$.message_id", message_id, or_none=True),
            id_problems("$.write_id", write_id, or_none=True),
            [] if update is None else update_problems(update),
        )
        said = Utterance(role, session_id, message_id)
        found = await do(self.saving.facts_in(namespace, content, said, update))
        fresh = [await do(self._unless_echo(namespace, one)) for one in found]
        save = self.saving.save(namespace, fresh, dedup="exact")
        return await do(self.saving.once(write_id, namespace, [session_id, content, role], save))

    @Effect.gen
    async def _unless_echo(
        self, do: Do[RecallError], namespace: Namespace, found: NewMemory | Skipped
    ) -> NewMemory | Skipped:
        """Return *found*, or skipped when it repeats a memory, which a model may just have been shown.

        What the user says repeats a memory only if both state the same attribute: a plan, or what is true of somebody else,
        has the same words.
        """
        if isinstance(found, Skipped):
            return found
        recalled = await do(self.recall(namespace, found.content))
        shown = [
            hit.memory
            for hit in recalled.hits
            if found.role != "user" or hit.memory.attribute == found.attribute
        ]
        echoed = (memory.id for memory in shown if is_echo(found.content, [memory.content]))
        texts = [found.content, *[memory.content for memory in shown]]
        return await long_or_short(do, texts, lambda: next((Skipped("echo", of) for of in echoed), found))

    @Effect.gen
    async def recall(
        self,
        do: Do[RecallError],
        namespace: Namespace,
        query: str,
        *,
        limit: int | None = None,
        category: Category | None = None,
        tags: Sequence[str] = (),
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> Recall:
        most = self.retrieval.limit if limit is None else limit
        refuse(
            do,
            namespace_problems(namespace),
            text_problems("$.query", query),
            limit_problems("$.limit", most, most=MOST_RECALLED),
            choice_problems("$.category", category, Category, or_none=True),
            tags_problems("$.tags", tags),
            instant_problems("$.as_of", as_of),
        )
        return await do(
            self.recalling.recall(
                namespace, query, limit=most, category=category, tags=tags, as_of=as_of, explain=explain
            )
        )

    @Effect.gen
    async def record_use(
        self,
        do: Do[RecallError],
        namespace: Namespace,
        memory_ids: Sequence[str],
        *,
        use_id: str | None = None,
        session_id: str | None = None,
        query: str | None = None,
    ) -> UseReport:
        refuse(
            do,
            namespace_problems(namespace),
            ids_problems("$.memory_ids", memory_ids),
            id_problems("$.use_id", use_id, or_none=True),
            id_problems("$.session_id", session_id, or_none=True),
            [] if query is None else text_problems("$.query", query),
        )
        used = dict.fromkeys(memory_ids)
        if self.promotion.after_sessions and session_id is not None and query:
            short_term = MemoryListing(namespace, LOOKED_AT, memory_type="short_term")
            newest = await do(self.repository.list(short_term).alt(GenericMemoryError))
            used_of = partial(
                short_term_uses, query, newest, session_id=session_id, limit=self.retrieval.limit
            )
            hits = await do(in_worker_thread(used_of))  # the texts may have any length
            used |= dict.fromkeys(memory.id for memory in hits)
        if not used:
            return UseReport(0)
        return await do(
            self.repository.record_use(
                Use(
                    namespace=namespace,
                    memory_ids=tuple(used),
                    use_id=use_id or self.ids.next_id(),
                    session_id=session_id,
                    now=self.clock.now(),
                    promote_after=self.promotion.after_sessions or None,
                )
            ).alt(GenericMemoryError)
        )

    @Effect.gen
    async def put_value(
        self,
        do: Do[RememberError],
        namespace: Namespace,
        key: str,
        value: Json,
        *,
        content: str | None = None,
    ) -> Stored | Duplicate:
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.key", key),
            await long_or_short(do, value, lambda: value_problems("$.value", value)),
            [] if content is None else content_problems("$.content", content),
        )
        if content is None:
            content = await long_or_short(do, value, lambda: statement(key, value))
        memory = NewMemory(
            content,
            key=key,
            value=value,
            source="system",
            role="system",
            memory_type="long_term",
        )
        drafted = await do(self.saving.drafts.draft(namespace, [memory], dedup="exact"))
        (outcome,) = await do(self.saving.store(drafted.drafts))
        return cast("Stored | Duplicate", outcome)  # a value is never skipped

    @Effect.gen
    async def get_value(
        self, do: Do[RecallError], namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Memory | None:
        refuse(
            do, namespace_problems(namespace), id_problems("$.key", key), instant_problems("$.as_of", as_of)
        )
        return await do(self.repository.value(namespace, key, as_of=as_of).alt(GenericMemoryError))

    @Effect.gen
    async def delete_value(self, do: Do[RecallError], namespace: Namespace, key: str) -> bool:
        refuse(do, namespace_problems(namespace), id_problems("$.key", key))
        return await do(self.repository.retire(namespace, key, now=self.clock.now()).alt(GenericMemoryError))

    def list_values(
        self,
        namespace: Namespace,
        *,
        prefix: str = "",
        limit: int = 100,
        after: str | None = None,
        as_of: datetime | None = None,
    ) -> Effect[MemoryPage, RecallError]:
        listing = MemoryListing(namespace, limit, value_prefix=prefix, exact_app=True, as_of=as_of)
        return list_page(self.repository, listing, after)

    @Effect.gen
    async def get(self, do: Do[MemoryReadError], namespace: Namespace, memory_id: str) -> Memory:
        refuse(do, namespace_problems(namespace), id_problems("$.memory_id", memory_id))
        return await do(find(self.repository, namespace, memory_id))

    @Effect.gen
    async def history(self, do: Do[MemoryReadError], namespace: Namespace, memory_id: str) -> MemoryHistory:
        refuse(do, namespace_problems(namespace), id_problems("$.memory_id", memory_id))
        found = await do(self.repository.history(namespace, memory_id).alt(GenericMemoryError))
        return found if found.events else do.fail(MemoryNotFoundError(memory_id))

    def list(
        self,
        namespace: Namespace,
        *,
        limit: int = 100,
        after: str | None = None,
        memory_type: MemoryType | None = None,
        category: Category | None = None,
        session_id: str | None = None,
        tag: str | None = None,
        containing: str | None = None,
        as_of: datetime | None = None,
        source: Source | None = None,
        superseded: bool = False,
    ) -> Effect[MemoryPage, RecallError]:
        listing = MemoryListing(
            namespace,
            limit,
            memory_type=memory_type,
            category=category,
            session_id=session_id,
            tag=tag,
            containing=containing,
            as_of=as_of,
            source=source,
            superseded=superseded,
        )
        return list_page(self.repository, listing, after)

    def facets(
        self,
        namespace: Namespace,
        *,
        memory_type: MemoryType | None = None,
        category: Category | None = None,
        session_id: str | None = None,
        tag: str | None = None,
        as_of: datetime | None = None,
        source: Source | None = None,
        superseded: bool = False,
    ) -> Effect[MemoryFacets, RecallError]:
        listing = MemoryListing(
            namespace,
            0,
            memory_type=memory_type,
            category=category,
            session_id=session_id,
            tag=tag,
            as_of=as_of,
            source=source,
            superseded=superseded,
        )
        return count_facets(self.repository, listing)

    @Effect.gen
    async def update(
        self,
        do: Do[MemoryChangeError],
        namespace: Namespace,
        memory_id: str,
        changes: MemoryChanges,
        *,
        expected_version: int | None = None,
    ) -> Memory:
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.memory_id", memory_id),
            changes_problems(changes),
            [] if expected_version is None else limit_problems("$.expected_version", expected_version),
        )
        return await do(
            self.correcting.update(namespace, memory_id, changes, expected_version=expected_version)
        )

    @Effect.gen
    async def supersede(
        self, do: Do[MemoryChangeError], namespace: Namespace, memory_id: str, replacement: NewMemory
    ) -> Stored:
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.memory_id", memory_id),
            memory_problems("$.replacement", replacement),
        )
        return await do(self.correcting.supersede(namespace, memory_id, replacement))

    @Effect.gen
    async def restore(
        self,
        do: Do[MemoryReadError],
        namespace: Namespace,
        memory_id: str,
        *,
        instead_of: str | None = None,
    ) -> Memory:
        is_same = instead_of is not None and instead_of == memory_id
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.memory_id", memory_id),
            id_problems("$.instead_of", instead_of, or_none=True),
            [Problem("$.instead_of", "expected another memory than the one to restore")] if is_same else [],
        )
        restoring = self.repository.restore(namespace, memory_id, instead_of=instead_of, now=self.clock.now())
        return await do(restoring.alt(memory_error))

    @Effect.gen
    async def promote(self, do: Do[MemoryReadError], namespace: Namespace, memory_id: str) -> Memory:
        refuse(do, namespace_problems(namespace), id_problems("$.memory_id", memory_id))
        return await do(mark(self.repository, Mark(namespace, memory_id, memory_type="long_term")))

    @Effect.gen
    async def pin(
        self, do: Do[MemoryReadError], namespace: Namespace, memory_id: str, *, pinned: bool = True
    ) -> Memory:
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.memory_id", memory_id),
            flag_problems("$.pinned", pinned),
        )
        return await do(mark(self.repository, Mark(namespace, memory_id, pinned=pinned)))

    @Effect.gen
    async def re_embed(
        self, do: Do[RecallError], namespace: Namespace, *, limit: int = 1000, after: str | None = None
    ) -> ReEmbedReport:
        place, problems = read_cursor(after)
        refuse(
            do,
            namespace_problems(namespace),
            limit_problems("$.limit", limit),
            problems,
        )
        run = ReEmbedding(self.repository, self.embedder, namespace)
        return await do(run.run(limit=limit, after=place))

    @Effect.gen
    async def undo(
        self, do: Do[MemoryUndoError], namespace: Namespace, memory_id: str, *, number: int | None = None
    ) -> Memory:
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.memory_id", memory_id),
            number_problems(number),
        )
        return await do(self.undoing.undo(namespace, memory_id, number=number))

    @Effect.gen
    async def forget(self, do: Do[MemoryReadError], namespace: Namespace, memory_id: str) -> ForgetReceipt:
        refuse(do, namespace_problems(namespace), id_problems("$.memory_id", memory_id))
        receipt = await do(self._forget(Forgetting(namespace, memory_id=memory_id)))
        return receipt if receipt.memories else do.fail(MemoryNotFoundError(memory_id))

    @Effect.gen
    async def forget_where(
        self,
        do: Do[RecallError],
        namespace: Namespace,
        *,
        session_id: str | None = None,
        message_id: str | None = None,
        path: str | None = None,
    ) -> ForgetReceipt:
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.session_id", session_id, or_none=True),
            id_problems("$.message_id", message_id, or_none=True),
            [] if path is None else content_problems("$.path", path),
            [] if session_id or message_id or path else [NOTHING_NAMED],
        )
        where = Forgetting(namespace, session_id=session_id, message_id=message_id, path=path)
        return await do(self._forget(where))

    @Effect.gen
    async def forget_all(self, do: Do[RecallError], namespace: Namespace) -> ForgetReceipt:
        refuse(do, namespace_problems(namespace))
        return await do(self._forget(Forgetting(namespace)))

    def _forget(self, forgetting: Forgetting) -> Effect[ForgetReceipt, GenericMemoryError]:
        return self.repository.forget(forgetting).alt(GenericMemoryError)

    @Effect.gen
    async def end_session(self, do: Do[RecallError], namespace: Namespace, session_id: str) -> int:
        refuse(do, namespace_problems(namespace), id_problems("$.session_id", session_id))
        if not self.expiry.at_session_end:
            return 0
        return await do(self._expire(Expiry(namespace, session_id=session_id)))

    @Effect.gen
    async def expire(self, do: Do[RecallError], namespace: Namespace) -> int:
        refuse(do, namespace_problems(namespace))
        return await do(self._expire_old(namespace))

    @Effect.gen
    async def _expire_old(self, do: Do[GenericMemoryError], namespace: Namespace) -> int:
        """Remove short-term memories that are older than ``memory.expiry.shortTermDays``."""
        if not self.expiry.short_term_days:
            return 0
        oldest = self.clock.now() - timedelta(days=self.expiry.short_term_days)
        return await do(self._expire(Expiry(namespace, created_before=oldest)))

    def _expire(self, expiry: Expiry) -> Effect[int, GenericMemoryError]:
        return self.repository.expire(expiry).alt(GenericMemoryError)


def _values_of(memories: object) -> list[object]:
    """Return the values of the memories, which may take long to check; texts do not."""
    given = cast("Sequence[object]", memories) if isinstance(memories, list | tuple) else ()
    return [getattr(memory, "value", None) for memory in given]


def _note_late_expiry(error: GenericMemoryError) -> Effect[int]:
    """Log the failure only: the turn is stored, and a later call removes the expired memories."""
    log.warning("short-term memories could not be expired: %s", error)
    return Effect.succeed(0)


@Effect.gen
async def _assemble(do: Do[Never, Requirements]) -> LongTermMemory:
    repository, embedder, extractor = (
        do.service(MemoryRepositoryTag),
        do.service(EmbedderTag),
        do.service(MemoryExtractorTag),
    )
    clock, ids = do.service(ClockTag), do.service(IdsTag)
    drafts = MemoryDrafts(embedder, clock, ids)
    return LongTermMemoryLive(
        repository=repository,
        embedder=embedder,
        extractor=extractor,
        saving=Saving(repository, drafts, extractor, do.service(ExtractionSettingsTag), clock),
        recalling=Recalling(repository, embedder, do.service(RecallRankerTag), clock),
        correcting=Correcting(repository, drafts),
        undoing=Undoing(repository, drafts, clock),
        retrieval=do.service(RetrievalSettingsTag),
        promotion=do.service(PromotionSettingsTag),
        expiry=do.service(ExpirySettingsTag),
        clock=clock,
        ids=ids,
    )


long_term_memory = Layer.effect(
    LongTermMemoryService,
    _assemble(),
    needs=[
        MemoryRepositoryTag,
        EmbedderTag,
        MemoryExtractorTag,
        RecallRankerTag,
        RetrievalSettingsTag,
        ExtractionSettingsTag,
        PromotionSettingsTag,
        ExpirySettingsTag,
    ],
)
"""The service over the parts that are provided; the embedder must have its guard."""
