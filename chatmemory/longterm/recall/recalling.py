"""``Recalling``: recalls memories, and counts which of them were used."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.embedding.unit_vectors import embed_texts
from chatmemory.errors import GenericMemoryError, RecallError
from chatmemory.input.rules import (
    choice_problems,
    id_problems,
    instant_problems,
    limit_problems,
    refuse,
    text_problems,
)
from chatmemory.longterm.memories import Category, Memory, UseReport
from chatmemory.longterm.memory_parts import MemoryParts
from chatmemory.longterm.memory_rules import ids_problems, namespace_problems, tags_problems
from chatmemory.longterm.recall.recall import PassedOver, Recall
from chatmemory.longterm.repository_values import Candidates, MemoryListing, MemorySearch
from chatmemory.longterm.saving.memory_drafts import memory_terms
from chatmemory.settings.memory_settings import MOST_RECALLED
from chatmemory.text.long_work import SHORT, beside_the_loop
from chatmemory.text.search_terms import (
    LEAST_SHARE,
    READ_CHARACTERS,
    lexical_scores,
    query_terms,
)

CANDIDATES: Final = 50
"""The largest number of candidates of each way of searching, for up to this many hits; ``MOST_RECALLED`` for more hits.

The number is the same for all limits up to it, and for all above it, so that there a larger limit only adds hits at the
end.  On LoCoMo 50 candidates find as much as 200 (56.7 and 56.5 % among the first five hits), in half of the time.
"""

BESIDE: Final = 6
"""Of the best candidates of each way of searching, the neighbours in their sessions are candidates too.

On LoCoMo, each turn a memory, R@5 is 68.7 with 6, 69.3 with 12, and 69.8 with all of them, which takes twice the processor
time of a recall without neighbours where every memory has a session; 6 take a tenth more than none."""

LOOKED_AT: Final = 400
"""How many of the newest short-term memories of a user are compared with the message of a context: 200 turns."""

RANKED_AT_ONCE: Final = 20_000
"""The number of characters of all candidates' terms in which the words of the longest query are counted in 4 ms."""


def explained(ranked: Recall, candidates: Candidates, *, limit: int) -> Recall:
    """Return the first *limit* hits, and the candidates that are not hits.

    Args:
        ranked: all hits among the candidates.
        candidates: the candidates of the search.
        limit: the largest number of hits.

    Returns:
        the recall with ``passed_over``.
    """
    similarities = {candidate.memory.id: candidate.similarity for candidate in candidates.found}
    hits, beyond = ranked.hits[:limit], ranked.hits[limit:]
    behind = [PassedOver(hit.memory, "limit", hit.score, similarities[hit.memory.id]) for hit in beyond]
    known = {hit.memory.id for hit in ranked.hits}
    unlike = [
        PassedOver(candidate.memory, "unlike", None, candidate.similarity)
        for candidate in candidates.found
        if candidate.memory.id not in known
    ]
    unlike.sort(key=lambda one: -1.0 if one.similarity is None else one.similarity, reverse=True)
    return evolve(ranked, hits=hits, passed_over=(*behind, *unlike))


class Recalling(MemoryParts):
    """Recalls memories, and counts their uses."""

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
        """See ``LongTermMemory``."""
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
        embedded = await do(embed_texts(self.drafts.embedder, [query[:READ_CHARACTERS]]))
        (placed,) = embedded.placed
        words = partial(query_terms, query)
        terms = words() if len(query) <= SHORT else await do(beside_the_loop(words))
        search = MemorySearch(
            namespace,
            query,
            terms,
            space=None if placed is None else placed.space,
            vector=None if placed is None else placed.vector,
            category=category,
            tags=tuple(tags),
            as_of=as_of,
            limit=CANDIDATES if most <= CANDIDATES else MOST_RECALLED,
            beside=BESIDE,
        )
        candidates = await do(self.repository.search(search).alt(GenericMemoryError))
        now = self.clock.now() if as_of is None else as_of

        def rank() -> Recall:
            limit = len(candidates.found) if explain else most
            ranked = self.ranker.rank(search, candidates, now=now, limit=limit, unembedded=embedded.reason)
            return explained(ranked, candidates, limit=most) if explain else ranked

        is_quick = sum(len(candidate.terms) for candidate in candidates.found) <= RANKED_AT_ONCE
        return rank() if is_quick else await do(beside_the_loop(rank))

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
        """See ``LongTermMemory``."""
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
            find = partial(_short_term_uses, query, newest, session_id=session_id, limit=self.retrieval.limit)
            hits = await do(beside_the_loop(find))  # nobody knows how much text there is to read
            used |= dict.fromkeys(memory.id for memory in hits)
        if not used:
            return UseReport(0)
        return await do(
            self.repository.record_use(
                namespace,
                tuple(used),
                use_id=use_id or self.ids.next_id(),
                session_id=session_id,
                now=self.clock.now(),
                promote_after=self.promotion.after_sessions or None,
            ).alt(GenericMemoryError)
        )


def _short_term_uses(
    query: str, newest: Sequence[Memory], *, session_id: str, limit: int
) -> tuple[Memory, ...]:
    """Return those of *newest* that the user stated in other sessions and that share words with *query*, best first.

    A recall never returns a short-term memory (spec 000), but one that matches in many sessions becomes long-term (spec
    001, D4).  So a match counts as a use, as if the memory were long-term and had been shown.

    Only words are compared: few short-term memories share a query's words by chance, and their vectors are not indexed.

    Args:
        query: the user's message.
        newest: short-term memories.
        session_id: the session of the context; its messages are already in the context.
        limit: the largest number of memories.

    Returns:
        the memories.
    """
    others = [
        memory
        for memory in newest
        if (memory.source, memory.role) == ("user_stated", "user") and memory.session_id != session_id
    ]
    texts = [
        memory_terms(memory.content, key=memory.key, value=memory.value, tags=memory.tags)
        for memory in others
    ]
    scores = lexical_scores(query_terms(query), texts, least_share=LEAST_SHARE)
    hits = [index for index, score in enumerate(scores) if score]
    best = sorted(hits, key=scores.__getitem__, reverse=True)[:limit]
    return tuple([others[index] for index in best])
