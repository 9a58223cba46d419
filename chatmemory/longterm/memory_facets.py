"""``facets_of``: how the memories of a listing divide by category, by type and by source.

A field is counted under the filters of all other fields: who has chosen one category still sees how many the others have.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from chatmemory.longterm.memories import FacetCount, MemoryFacets
from chatmemory.longterm.repository_values import MemoryCount, MemoryListing

Field: TypeAlias = Literal["memory_type", "category", "source"]
FIELDS: Final[tuple[Field, ...]] = ("memory_type", "category", "source")


def facets_of(counts: Sequence[MemoryCount], listing: MemoryListing) -> MemoryFacets:
    """Return the total and the facets of *listing*.

    Args:
        counts: of the same listing without its filters by type, category and source.
        listing: with these filters.
    """
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
    """Tell whether the filters of *listing* select *one*, whatever its field *but* holds."""
    return all(getattr(listing, field) in {None, getattr(one, field)} for field in FIELDS if field != but)
