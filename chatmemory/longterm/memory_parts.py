"""``MemoryParts``: the parts of long-term memory, and the steps that several of its operations share."""

from datetime import timedelta
from typing import Final

from attrs import evolve, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import Clock
from chatmemory.effect.services.ids import Ids
from chatmemory.errors import (
    GenericMemoryError,
    MemoryConflictError,
    MemoryNotFoundError,
    MemoryStoreError,
    Problem,
    RecallError,
    memory_error,
)
from chatmemory.input.rules import (
    choice_problems,
    cursor_of,
    id_problems,
    instant_problems,
    limit_problems,
    read_cursor,
    refuse,
    text_problems,
)
from chatmemory.longterm.extraction.memory_extractor import MemoryExtractor
from chatmemory.longterm.memories import (
    Category,
    Memory,
    MemoryFacets,
    MemoryPage,
    MemoryType,
    SaveOutcome,
    Source,
)
from chatmemory.longterm.memory_facets import facets_of
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.memory_rules import contained_problems, flag_problems, namespace_problems
from chatmemory.longterm.recall.recall_ranker import RecallRanker
from chatmemory.longterm.repository_values import MemoryDraft, MemoryListing
from chatmemory.longterm.saving.memory_drafts import MemoryDrafts
from chatmemory.settings.memory_settings import (
    ExpirySettings,
    ExtractionSettings,
    PromotionSettings,
    RetrievalSettings,
)

LOOKED_THROUGH: Final = 5_000
"""How many memories one page of a search for a text reads: this takes 5 ms, however many memories are stored."""

_FIRST_ID: Final = "\x01"
"""No id is smaller: with a time it makes a place before all memories that were created then, whose ids are not known."""


@frozen
class MemoryParts:
    """The parts of long-term memory; *drafts* has the embedder."""

    repository: MemoryRepository
    drafts: MemoryDrafts
    extractor: MemoryExtractor
    ranker: RecallRanker
    retrieval: RetrievalSettings
    extraction: ExtractionSettings
    promotion: PromotionSettings
    expiry: ExpirySettings
    clock: Clock
    ids: Ids

    @Effect.gen
    async def _find(
        self, do: Do[MemoryNotFoundError | GenericMemoryError], namespace: Namespace, memory_id: str
    ) -> Memory:
        found = await do(self.repository.get(namespace, memory_id).alt(GenericMemoryError))
        return found or do.fail(MemoryNotFoundError(memory_id))

    @Effect.gen
    async def _counted(self, do: Do[RecallError], listing: MemoryListing) -> MemoryFacets:
        refuse(do, _listing_problems(listing))
        # Each field is counted under the filters of the others, so one count without these three has all answers.
        wide = evolve(listing, memory_type=None, category=None, source=None)
        return facets_of(await do(self.repository.count(wide).alt(GenericMemoryError)), listing)

    @Effect.gen
    async def _page(self, do: Do[RecallError], listing: MemoryListing, cursor: str | None) -> MemoryPage:
        after, problems = read_cursor(cursor)
        refuse(do, _listing_problems(listing), problems)
        if not listing.limit:
            return MemoryPage((), None)
        since = None
        if listing.containing is not None and listing.session_id is None:
            reach = self.repository.reach(listing.namespace, LOOKED_THROUGH, after=after)
            since = await do(reach.alt(GenericMemoryError))
        # One more than requested shows whether there is another page.
        asked = evolve(listing, after=after, limit=listing.limit + 1, since=since)
        found = await do(self.repository.list(asked).alt(GenericMemoryError))
        page = found[: listing.limit]
        last = None if since is None else (since, _FIRST_ID)
        if len(found) > listing.limit:
            last = page[-1].created_at, page[-1].id
        return MemoryPage(page, None if last is None else cursor_of(last))

    def _store(
        self, drafts: tuple[MemoryDraft, ...]
    ) -> Effect[tuple[SaveOutcome, ...], MemoryConflictError | GenericMemoryError]:
        """Store *drafts*, none of which replaces a memory by its id."""
        return self.repository.store(drafts).alt(_with_nothing_replaced)

    @Effect.gen
    async def _expire_old(self, do: Do[GenericMemoryError], namespace: Namespace) -> int:
        """Remove short-term memories that are older than ``memory.expiry.shortTermDays``."""
        if not self.expiry.short_term_days:
            return 0
        oldest = self.clock.now() - timedelta(days=self.expiry.short_term_days)
        return await do(self.repository.expire(namespace, created_before=oldest).alt(GenericMemoryError))


def _with_nothing_replaced(error: MemoryStoreError) -> MemoryConflictError | GenericMemoryError:
    if isinstance(error, MemoryNotFoundError):
        msg = f"no draft replaces a memory by its id, but the repository answered: {error}"
        raise TypeError(msg)
    return memory_error(error)


def _listing_problems(listing: MemoryListing) -> list[Problem]:
    prefix = listing.value_prefix
    return [
        *namespace_problems(listing.namespace),
        *limit_problems("$.limit", listing.limit),
        *choice_problems("$.memory_type", listing.memory_type, MemoryType, or_none=True),
        *choice_problems("$.category", listing.category, Category, or_none=True),
        *choice_problems("$.source", listing.source, Source, or_none=True),
        *flag_problems("$.superseded", listing.superseded),
        *id_problems("$.session_id", listing.session_id, or_none=True),
        *id_problems("$.tag", listing.tag, or_none=True),
        *([] if prefix is None else text_problems("$.prefix", prefix)),
        *([] if listing.containing is None else contained_problems("$.containing", listing.containing)),
        *instant_problems("$.as_of", listing.as_of),
    ]
