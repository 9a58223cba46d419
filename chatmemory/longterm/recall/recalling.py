"""How long-term memory answers a question, and learns which answers were used."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

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
from chatmemory.longterm.memories import Category, UseReport
from chatmemory.longterm.memory_parts import MemoryParts
from chatmemory.longterm.memory_rules import ids_problems, namespace_problems, tags_problems
from chatmemory.longterm.recall.recall import Recall
from chatmemory.longterm.recall.short_term_uses import LOOKED_AT, short_term_uses
from chatmemory.longterm.repository_values import MemoryListing, MemorySearch
from chatmemory.settings.memory_settings import MOST_RECALLED
from chatmemory.text.long_work import beside_the_loop
from chatmemory.text.search_terms import READ_CHARACTERS, query_terms

CANDIDATES: Final = 50
"""Of each way of searching, for answers up to this length; a longer one is chosen from ``MOST_RECALLED``.

Fixed on either side, so that there a longer answer begins with the shorter one.  On LoCoMo 50 find as much as 200 (56.7
and 56.5 % among the first five), in half of the time.
"""


RANKED_AT_ONCE: Final = 100_000
"""Characters of the terms of all candidates: their words are counted in 10 ms."""


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
        search = MemorySearch(
            namespace,
            query,
            query_terms(query),
            space=None if placed is None else placed.space,
            vector=None if placed is None else placed.vector,
            category=category,
            tags=tuple(tags),
            as_of=as_of,
            limit=CANDIDATES if most <= CANDIDATES else MOST_RECALLED,
        )
        candidates = await do(self.repository.search(search).alt(GenericMemoryError))
        now = self.clock.now() if as_of is None else as_of

        def rank() -> Recall:
            return self.ranker.rank(search, candidates, now=now, limit=most, unembedded=embedded.reason)

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
            find = partial(short_term_uses, query, newest, session_id=session_id, limit=self.retrieval.limit)
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
