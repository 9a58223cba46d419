"""``Recalling``: finds candidates and ranks them; ``short_term_uses``: which short-term memories a message uses.

``is_echo`` finds texts that only repeat a memory which a model was shown.  Without it, a recalled memory is extracted again
from the answer that uses it, and is recalled twice the next time.  ``recalled_block.py`` has already removed the fenced
blocks of memories; ``is_echo`` finds what the model repeats in its own sentences.  In doubt, a text is not an echo: the
dedup key finds an exact copy later, but nothing finds a lost fact.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import Clock
from chatmemory.embedding.embedder import Embedder
from chatmemory.embedding.unit_vectors import embed_texts
from chatmemory.errors import GenericMemoryError, RecallError
from chatmemory.longterm.memories import Category, Memory
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.recall.recall import PassedOver, Recall
from chatmemory.longterm.recall.recall_ranker import RecallRanker
from chatmemory.longterm.repository_values import Candidates, MemorySearch
from chatmemory.longterm.saving.memory_drafts import memory_terms
from chatmemory.settings.memory_settings import MOST_RECALLED
from chatmemory.text.long_work import SHORT, in_worker_thread
from chatmemory.text.search_terms import LEAST_SHARE, READ_CHARACTERS, lexical_scores, query_terms
from chatmemory.text.stop_words import HAN

LEAST_WORDS: Final = 2  # a name alone is too common

_WORD: Final = re.compile(rf"[{HAN}]|[^\W{HAN}]+(?:['’]\w+)?")
_WITHOUT_MEANING: Final = frozenset(
    """a an the i you we me us my your our mine yours i'm you're we're i've you've am are is be do does that
    我 你 您 们 的 了 是 也 都 还 就""".split()  # noqa: SIM905  a list of quoted words is hard to read
)
"""Words that are ignored, because they differ between "I like jazz" and "that you like jazz"."""

_TURN: Final = re.compile(
    r"\b(?:not|no|never|nor|without|hardly|used to|formerly|previously|if|unless|cannot|\w+n't)\b"
    r"|[不没無无别未曾]|以前|之前|从前|如果|要是",
    re.IGNORECASE,
)
"""Words that change the meaning of a statement, for example into its opposite."""

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


@final
@frozen
class Recalling:
    """Finds the memories in *repository* that fit a query, and ranks them by *ranker*."""

    repository: MemoryRepository
    embedder: Embedder
    ranker: RecallRanker
    clock: Clock

    @Effect.gen
    async def recall(
        self,
        do: Do[RecallError],
        namespace: Namespace,
        query: str,
        *,
        limit: int,
        category: Category | None,
        tags: Sequence[str],
        as_of: datetime | None,
        explain: bool,
    ) -> Recall:
        """Recall memories, see ``LongTermMemory.recall``."""
        embedded = await do(embed_texts(self.embedder, [query[:READ_CHARACTERS]]))
        (placed,) = embedded.placed
        words = partial(query_terms, query)
        terms = words() if len(query) <= SHORT else await do(in_worker_thread(words))
        search = MemorySearch(
            namespace,
            query,
            terms,
            space=None if placed is None else placed.space,
            vector=None if placed is None else placed.vector,
            category=category,
            tags=tuple(tags),
            as_of=as_of,
            limit=CANDIDATES if limit <= CANDIDATES else MOST_RECALLED,
            beside=BESIDE,
        )
        candidates = await do(self.repository.search(search).alt(GenericMemoryError))
        if not query.strip():  # every memory contains it
            candidates = evolve(candidates, found=(), matched_text=False)
        now = self.clock.now() if as_of is None else as_of

        def rank() -> Recall:
            wanted = len(candidates.found) if explain else limit
            ranked = self.ranker.rank(search, candidates, now=now, limit=wanted, unembedded=embedded.reason)
            return explained(ranked, candidates, limit=limit) if explain else ranked

        is_quick = sum(len(candidate.terms) for candidate in candidates.found) <= RANKED_AT_ONCE
        return rank() if is_quick else await do(in_worker_thread(rank))


def explained(ranked: Recall, candidates: Candidates, *, limit: int) -> Recall:
    """Return the first *limit* hits, and the candidates that are not hits as ``passed_over``."""
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


def short_term_uses(
    query: str, newest: Sequence[Memory], *, session_id: str, limit: int
) -> tuple[Memory, ...]:
    """Return the *newest* memories that the user stated in other sessions and that share words with *query*, best first.

    The messages of the session *session_id* are already in the context.

    A recall never returns a short-term memory (spec 000), but one that matches in many sessions becomes long-term (spec
    001, D4).  So a match counts as a use, as if the memory were long-term and had been shown.

    Only words are compared: few short-term memories share a query's words by chance, and their vectors are not indexed.
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


def is_echo(text: str, injected: Iterable[str]) -> bool:
    """Return whether *text* only repeats a memory, one of *injected*, which a model was shown.

    The memory contains all words of *text* in the same order, and both have the same negations.

    >>> is_echo("You live in Berlin.", ["I live in Berlin, near the lake."])
    True
    >>> is_echo("I live in Berlin.", ["I don't live in Berlin."]), is_echo("I live in Bonn", ["I live in Berlin"])
    (False, False)
    """
    words = _words(text)
    if len(words) < LEAST_WORDS:
        return False
    said = _run(words)
    return any(said in _run(_words(other)) and _turns(text) == _turns(other) for other in injected)


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return [word for word in _WORD.findall(folded) if word not in _WITHOUT_MEANING]


def _run(words: list[str]) -> str:
    """Join *words* so that a search finds a sequence of whole words, but no part of a word."""
    return f" {' '.join(words)} "


def _turns(text: str) -> set[str]:
    return {turn.casefold() for turn in _TURN.findall(text)}
