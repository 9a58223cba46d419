"""A store of past chats in memory with the bundled embedder, and a search in it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.effect import Effect
from chatmemory.effect.services.clock import SystemClock
from chatmemory.embedding.query_embedder import QueryEmbedder
from chatmemory.errors import EmbeddingError
from chatmemory.pastchats.finding.hybrid_rank import HybridRanking
from chatmemory.pastchats.finding.prompt_hits import PromptSearchResult
from chatmemory.pastchats.finding.prompt_terms import prompt_terms, search_terms_of
from chatmemory.pastchats.finding.search import PromptSearching
from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft
from chatmemory.pastchats.prompt import EVERYTHING, PromptFilter
from chatmemory.pastchats.prompt_repository import PromptCandidates, PromptSearch
from chatmemory_layers.embedding.bundled import MODEL
from chatmemory_layers.embedding.composite import composite_rows
from chatmemory_layers.embedding.plain_rows import PlainStatic
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from tests.past_turns import draft, stage, state

MORNING: Final = datetime(2025, 3, 14, 9, tzinfo=UTC)


def said(
    content: str, *, speaker: str | None = None, at: datetime = MORNING, number: int = 0, talk: str = "one"
) -> PromptDraft:
    """Make a turn of the conversation *talk*."""
    return draft(
        number,
        content,
        source=f"/home/mei/{talk}.jsonl",
        conversation=f"role_list:{talk}",
        role="user" if number % 2 == 0 else "assistant",
        project="shop",
        speaker=speaker,
        at=at,
        search_terms=search_terms_of(content, timestamp=at, speaker=speaker),
    )


def keep(repository: SqlitePromptRepository, turns: Sequence[PromptDraft]) -> None:
    """Put *turns* into the store, a source after the other."""
    for source in dict.fromkeys(turn.source for turn in turns):
        of_source = [turn for turn in turns if turn.source == source]
        stage(repository, of_source, model=MODEL, embed=composite_rows)
        repository.commit_source(evolve(state(), source=source)).run_sync().unwrap()


def talk(name: str, *contents: str) -> list[PromptDraft]:
    """Make a conversation."""
    return [said(content, number=number, talk=name) for number, content in enumerate(contents)]


@final
@frozen
class NoEmbedder:
    """Says why it cannot embed."""

    model: str = MODEL

    def embed_query(self, text: str, /) -> Effect[Sequence[float] | None, EmbeddingError]:
        """Fail."""
        return Effect.fail(EmbeddingError(MODEL, "unavailable", "the endpoint sleeps"))


def searching(repository: SqlitePromptRepository, embedder: QueryEmbedder | None = None) -> PromptSearching:
    return PromptSearching(repository, HybridRanking(), embedder or PlainStatic(), SystemClock())


def search(
    repository: SqlitePromptRepository,
    query: str,
    *,
    which: PromptFilter = EVERYTHING,
    limit: int = 10,
    embedder: QueryEmbedder | None = None,
) -> PromptSearchResult:
    """Search, which must succeed."""
    found = searching(repository, embedder).search(query, which=which, limit=limit)
    return found.run_sync().unwrap()


def texts(result: PromptSearchResult) -> list[str]:
    """Return what was found, best first."""
    return [hit.prompt.content for hit in result.hits]


def search_of(query: str, *, which: PromptFilter = EVERYTHING, by_vector: bool = True) -> PromptSearch:
    """Make what a store is asked."""
    vector = PlainStatic().embed_query(query).run_sync().unwrap() if by_vector else None
    return PromptSearch(query, prompt_terms(query), vector, MODEL if vector else "", which)


def rows_of(candidates: PromptCandidates) -> dict[int, tuple[float, float | None]]:
    """Return the features of *candidates* by their rows."""
    return {one.prompt.id: (one.lexical, one.similarity) for one in candidates.found}
