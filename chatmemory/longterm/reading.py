"""Steps that several operations of long-term memory share: find or mark one memory, read attributes, list a page, count."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.errors import GenericMemoryError, MemoryNotFoundError, Problem, RecallError
from chatmemory.input.rules import (
    choice_problems,
    cursor_of,
    flag_problems,
    id_problems,
    instant_problems,
    limit_problems,
    read_cursor,
    refuse,
    text_problems,
)
from chatmemory.longterm.extraction.attributes.links import with_attributes_read
from chatmemory.longterm.memories import (
    Category,
    FacetCount,
    Memory,
    MemoryFacets,
    MemoryPage,
    MemoryType,
    NewMemory,
    Source,
    as_new,
)
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.memory_rules import contained_problems, namespace_problems
from chatmemory.longterm.repository_values import Mark, MemoryCount, MemoryListing
from chatmemory.text.long_work import in_worker_thread

SEARCHED: Final = 5_000
"""How many memories one page of a search for a text reads: this takes 5 ms, however many memories are stored."""

MOST_LINKED: Final = 500
"""How many of the newest memories with an attribute are compared with a new statement."""

_FIRST_ID: Final = "\x01"
"""No id is smaller: with a time it makes a place before all memories that were created then, whose ids are not known."""

Field: TypeAlias = Literal["memory_type", "category", "source"]
FIELDS: Final[tuple[Field, ...]] = ("memory_type", "category", "source")


@Effect.gen
async def find(
    do: Do[MemoryNotFoundError | GenericMemoryError],
    repository: MemoryRepository,
    namespace: Namespace,
    memory_id: str,
) -> Memory:
    """Return the memory with this id, or fail with ``MemoryNotFoundError``."""
    found = await do(repository.get(namespace, memory_id).alt(GenericMemoryError))
    return found or do.fail(MemoryNotFoundError(memory_id))


def with_attributes(
    repository: MemoryRepository, namespace: Namespace
) -> Effect[tuple[Memory, ...], GenericMemoryError]:
    """Return the newest memories that are true now in exactly this namespace and have an attribute."""
    listing = MemoryListing(namespace, MOST_LINKED, exact_app=True, has_attribute=True)
    return repository.list(listing).alt(GenericMemoryError)


@Effect.gen
async def attributes_read(
    do: Do[GenericMemoryError],
    repository: MemoryRepository,
    namespace: Namespace,
    memories: Sequence[NewMemory],
    *,
    but: str | None = None,
) -> list[NewMemory]:
    """Return *memories*, each with the attribute that ``AttributePolicy`` says for ``read``; the memory *but* is ignored."""
    stored = await do(with_attributes(repository, namespace))
    known = [memory for memory in stored if memory.id != but]
    return await do(in_worker_thread(lambda: with_attributes_read(memories, known)))


@Effect.gen
async def with_attribute_of_content(
    do: Do[GenericMemoryError], repository: MemoryRepository, memory: Memory, changed: NewMemory
) -> NewMemory:
    """Return *changed*, a correction of *memory*, with its own attribute, unless a caller has given that of *memory*."""
    if changed.content == memory.content:
        return changed
    both = [evolve(as_new(memory), attribute=None), evolve(changed, attribute=None)]
    before, after = await do(attributes_read(repository, memory.namespace, both, but=memory.id))
    return after if before.attribute == memory.attribute else changed


@Effect.gen
async def mark(
    do: Do[MemoryNotFoundError | GenericMemoryError], repository: MemoryRepository, mark: Mark
) -> Memory:
    """Change the type or the pin of a memory and return it, or fail with ``MemoryNotFoundError``."""
    marked = await do(repository.mark(mark).alt(GenericMemoryError))
    return marked or do.fail(MemoryNotFoundError(mark.memory_id))


@Effect.gen
async def list_page(
    do: Do[RecallError], repository: MemoryRepository, listing: MemoryListing, cursor: str | None
) -> MemoryPage:
    """Return the page of *listing* that begins at *cursor*."""
    after, problems = read_cursor(cursor)
    refuse(do, listing_problems(listing), problems)
    if not listing.limit:
        return MemoryPage((), None)
    since = None
    if listing.containing is not None and listing.session_id is None:
        reach = repository.reach(listing.namespace, SEARCHED, after=after)
        since = await do(reach.alt(GenericMemoryError))
    # One more than requested shows whether there is another page.
    asked = evolve(listing, after=after, limit=listing.limit + 1, since=since)
    found = await do(repository.list(asked).alt(GenericMemoryError))
    page = found[: listing.limit]
    last = None if since is None else (since, _FIRST_ID)
    if len(found) > listing.limit:
        last = page[-1].created_at, page[-1].id
    return MemoryPage(page, None if last is None else cursor_of(last))


@Effect.gen
async def count_facets(
    do: Do[RecallError], repository: MemoryRepository, listing: MemoryListing
) -> MemoryFacets:
    """Return the total of *listing* and its counts by category, by type and by source.

    A field is counted under the filters of the other fields: who filters by one category still sees the size of the others.
    """
    refuse(do, listing_problems(listing))
    # One count without these three filters has all answers.
    wide = evolve(listing, memory_type=None, category=None, source=None)
    counts = await do(repository.count(wide).alt(GenericMemoryError))
    return MemoryFacets(
        total=sum(one.count for one in counts if _passes(one, listing, but=None)),
        categories=_divided("category", counts, listing),
        memory_types=_divided("memory_type", counts, listing),
        sources=_divided("source", counts, listing),
    )


def _divided(field: Field, counts: Sequence[MemoryCount], listing: MemoryListing) -> tuple[FacetCount, ...]:
    found = Counter[str | None]()
    for one in counts:
        if _passes(one, listing, but=field):
            found[getattr(one, field)] += one.count
    # By name where two are equally frequent, so that the order is the same on every backend.
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0] or ""))
    return tuple([FacetCount(value, count) for value, count in ordered])


def _passes(one: MemoryCount, listing: MemoryListing, *, but: Field | None) -> bool:
    """Return whether the filters of *listing* select *one*, whatever its field *but* holds."""
    return all(getattr(listing, field) in {None, getattr(one, field)} for field in FIELDS if field != but)


def listing_problems(listing: MemoryListing) -> list[Problem]:
    """Return what is wrong with the filters of *listing*."""
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
