"""``PromptSearching``: searches past chats; the result says how the hits were found.

The words and the vector of the query find candidates, the ranker orders them, and turns with exactly the same text become
one hit.  Without a vector, only words are used, so a failing embedder never makes a search fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from attrs import evolve

from chatmemory import errors
from chatmemory.effect import Do, Effect
from chatmemory.pastchats.finding.prompt_hits import PromptSearchResult
from chatmemory.pastchats.finding.prompt_terms import prompt_terms
from chatmemory.pastchats.prompt import EVERYTHING
from chatmemory.pastchats.prompt_repository import PromptSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from chatmemory.effect.services.clock import Clock
    from chatmemory.embedding.query_embedder import QueryEmbedder
    from chatmemory.errors import GenericMemoryError, RepositoryError
    from chatmemory.input.choices import RecallMode
    from chatmemory.pastchats.contract import SearchMode
    from chatmemory.pastchats.finding.prompt_hits import PromptHit, PromptRanker
    from chatmemory.pastchats.prompt import Prompt, PromptFilter
    from chatmemory.pastchats.prompt_repository import PromptCandidates, PromptRepository

READ_CHARACTERS: Final = 16_384
"""The number of characters of a query that are embedded; the vector of a longer text is too general."""


@final
class PromptSearching:
    """Searches one index of past chats with one embedder and one ranker."""

    def __init__(
        self, repository: PromptRepository, ranker: PromptRanker, embedder: QueryEmbedder, clock: Clock
    ) -> None:
        """Create a search; the clock gives the time for words such as "yesterday" in a query."""
        self._repository = repository
        self._ranker = ranker
        self._embedder = embedder
        self._clock = clock

    @Effect.gen
    async def search(
        self,
        do: Do[GenericMemoryError],
        query: str,
        /,
        *,
        which: PromptFilter = EVERYTHING,
        limit: int = 10,
        mode: SearchMode = "hybrid",
        is_left_out: Callable[[Prompt], bool] = lambda _: False,
    ) -> PromptSearchResult:
        """Return the turns that match *query* by their words or their meaning, best first, each text once.

        The first ``READ_CHARACTERS`` characters of *query* decide its meaning; in the mode ``lexical``, only words are
        compared.  A turn for which *is_left_out* is true is no hit.

        Fails with:
            GenericMemoryError: the index failed; a failing embedder only makes the search lexical.
        """
        vector: Sequence[float] | None = None
        why = "only words were asked for"
        if mode == "hybrid":
            vector, why = await do(self._vector(query))
        search = PromptSearch(
            query, prompt_terms(query), vector, "" if vector is None else self._embedder.model, which
        )
        candidates = await do(self._repository.candidates(search).alt(service_error))
        ranked = self._ranker.rank(search, candidates, now=self._clock.now())
        hits = _one_of_each_text((hit for hit in ranked if not is_left_out(hit.prompt)), limit=limit)
        hashes = [hit.prompt.text_hash for hit in hits if hit.prompt.text_hash]
        places = await do(self._repository.with_texts(hashes).alt(service_error))
        found_by, reason = _explained(search, candidates, why)
        return PromptSearchResult(
            hits=tuple(_with_places(hit, places) for hit in hits), mode=found_by, reason=reason
        )

    def _vector(self, query: str) -> Effect[tuple[Sequence[float] | None, str]]:
        """Return the vector of *query*, or None and the reason why there is none."""
        # NUL and lone surrogates are removed, because an endpoint cannot receive them.
        text = query[:READ_CHARACTERS].replace("\0", " ").encode(errors="ignore").decode()
        if not text.strip():
            return Effect.succeed((None, "the query is empty"))
        embedded = self._embedder.embed_query(text).map(lambda vector: (vector, "the query has no vector"))
        return embedded.lash(lambda error: Effect.succeed((None, str(error))))


def service_error(error: RepositoryError) -> GenericMemoryError:
    """Convert an error of the store into an error of the service."""
    return errors.GenericMemoryError(error)


def _one_of_each_text(ranked: Iterable[PromptHit], *, limit: int) -> list[PromptHit]:
    best: dict[object, PromptHit] = {}
    for hit in ranked:
        if len(best) >= limit:
            break
        best.setdefault(hit.prompt.text_hash or hit.prompt.id, hit)
    return list(best.values())


def _with_places(hit: PromptHit, places: Mapping[str, Sequence[str]]) -> PromptHit:
    """Return *hit* with the other conversations that contain its text."""
    conversations = places.get(hit.prompt.text_hash, ())
    others = tuple(dict.fromkeys(other for other in conversations if other != hit.prompt.conversation_id))
    return evolve(hit, also_in=others) if others else hit


def _explained(search: PromptSearch, candidates: PromptCandidates, why: str) -> tuple[RecallMode, str]:
    if candidates.matched_text:
        return "like", f"{why}; no turn shares a word with the query, these contain its text"
    if search.vector is None:
        return "lexical", why
    missing = candidates.unembedded
    without = f"{missing} turns have no vector of {search.model}: pastchats-memory re-embed makes them"
    if all(candidate.similarity is None for candidate in candidates.found) and missing:
        return "lexical", without
    return "hybrid", f"by words and vectors; {without}" if missing else "by words and vectors"
