"""``candidates``: what of the memories could belong to a query, by its words, its vector or its text.

Every memory is looked at, which is exact, and quick enough for as many as one keeps in dictionaries.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest

from chatmemory.longterm.kept_memory import KeptMemory, newest
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import Candidate, Candidates, MemorySearch


def candidates(rows: Iterable[KeptMemory], search: MemorySearch) -> Candidates:
    """Return the candidates among *rows*."""
    recallable = [row for row in rows if row.is_recallable(search.namespace, search.as_of)]
    asked = [
        row
        for row in recallable
        if search.category in {None, row.memory.category} and set(search.tags) <= set(row.memory.tags)
    ]
    similarity = _similarities(asked, search)
    by_vector = nlargest(search.limit, similarity, key=lambda row: (similarity[row], row.place))
    by_words = _by_words(asked, search)
    by_text = [] if by_words else [row for row in asked if search.text in row.memory.content]
    found = dict.fromkeys([*by_words, *newest(by_text, limit=search.limit), *by_vector])
    return Candidates(
        tuple([Candidate(row.handed_out(), row.terms, similarity.get(row)) for row in found]),
        matched_text=bool(by_text),
        coverage=Coverage(
            embedded=sum(search.space in {row.memory.embedding} - {None} for row in recallable),
            memories=len(recallable),
        ),
    )


def _similarities(rows: Iterable[KeptMemory], search: MemorySearch) -> Mapping[KeptMemory, float]:
    query = search.vector
    if query is None:
        return {}
    return {
        row: float(row.vector @ query)
        for row in rows
        if row.vector is not None and row.memory.embedding == search.space
    }


def _by_words(rows: Iterable[KeptMemory], search: MemorySearch) -> Sequence[KeptMemory]:
    """Return those that share words with the query; of too many, those that share more and rarer ones, then the newest."""
    asked = frozenset(search.terms)
    shared = {row: words for row in rows if (words := asked.intersection(row.terms.split()))}
    if len(shared) <= search.limit:
        return list(shared)
    frequency = Counter(word for words in shared.values() for word in words)

    def worth(row: KeptMemory) -> tuple[float, object]:
        return sum(1 / frequency[word] for word in shared[row]), row.place

    return nlargest(search.limit, shared, key=worth)
