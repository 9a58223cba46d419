"""``candidates``: finds the memories that may match a query, by its words, its vector or its text.

It reads every memory, which is exact, and fast enough for memories that are kept in dictionaries.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import chain, pairwise

from chatmemory.longterm.kept_memory import KeptMemory, newest
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import TEXT_READ, Candidate, Candidates, MemorySearch


def candidates(rows: Iterable[KeptMemory], search: MemorySearch) -> Candidates:
    """Return the candidates of a recall among all memories of a store; see ``MemoryRepository.search``."""
    recallable = [row for row in rows if row.is_recallable(search.namespace, search.as_of)]
    asked = [
        row
        for row in recallable
        if search.category in {None, row.memory.category} and set(search.tags) <= set(row.memory.tags)
    ]
    similarity = _similarities(asked, search)
    by_vector = nlargest(search.limit, similarity, key=lambda row: (similarity[row], row.place))
    by_words = _by_words(asked, search)
    by_text = () if by_words else _by_text(recallable, asked, search)
    ways = [by_words, newest(by_text, limit=search.limit), by_vector]
    found = dict.fromkeys(chain.from_iterable(ways))
    best = frozenset(row for rows in ways for row in rows[: search.beside])
    wanted = frozenset(asked)
    found |= dict.fromkeys([row for row in _beside(best, recallable) if row in wanted])
    return Candidates(
        tuple([Candidate(row.handed_out(), row.terms, similarity.get(row)) for row in found]),
        matched_text=bool(by_text),
        coverage=Coverage(
            embedded=sum(search.space in {row.memory.embedding} - {None} for row in recallable),
            memories=len(recallable),
        ),
    )


def _beside(found: Collection[KeptMemory], recallable: Iterable[KeptMemory]) -> Iterator[KeptMemory]:
    """Yield the memories before and after each of *found* in its session."""
    sessions = {row.memory.session_id for row in found} - {None}
    parts = defaultdict[str | None, list[KeptMemory]](list)
    for row in recallable:
        if row.memory.session_id in sessions:
            parts[row.memory.session_id].append(row)
    for part in parts.values():
        part.sort(key=lambda row: row.place)
        for one, other in pairwise(part):
            if one in found:
                yield other
            if other in found:
                yield one


def _similarities(rows: Iterable[KeptMemory], search: MemorySearch) -> Mapping[KeptMemory, float]:
    query = search.vector
    if query is None:
        return {}
    return {
        row: float(row.vector @ query)
        for row in rows
        if row.vector is not None and row.memory.embedding == search.space
    }


def _by_text(
    recallable: Iterable[KeptMemory], asked: Sequence[KeptMemory], search: MemorySearch
) -> Sequence[KeptMemory]:
    read = newest(recallable, limit=TEXT_READ)
    since = read[-1].memory.created_at if read else None
    return [
        row
        for row in asked
        if since is not None and row.memory.created_at >= since and search.text in row.memory.content
    ]


def _by_words(rows: Iterable[KeptMemory], search: MemorySearch) -> Sequence[KeptMemory]:
    """Return the best that share words with the query: those that share more and rarer ones first, then the newest."""
    asked = frozenset(search.terms)
    shared = {row: words for row in rows if (words := asked.intersection(row.terms.split()))}
    frequency = Counter(word for words in shared.values() for word in words)

    def worth(row: KeptMemory) -> tuple[float, object]:
        return sum(1 / frequency[word] for word in shared[row]), row.place

    return nlargest(search.limit, shared, key=worth)
