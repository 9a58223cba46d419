"""How well recall finds the memories that questions are about: the share found, and how far in front.

``questions.json`` holds what a Chinese and an English speaker have let an assistant remember, questions about it in
other words, each with the memory that answers it, and idle questions that none of them answers.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import log2
from pathlib import Path
from statistics import fmean
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import ClockTag
from chatmemory.effect.services.ids import IdsTag
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.embedding.unit_vectors import embed_texts
from chatmemory.errors import DataValidationError, MemoryStoreError, RepositoryError
from chatmemory.longterm.memories import NewMemory
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.recall.recall_ranking import WeightedRanking
from chatmemory.longterm.repository_values import Candidates, MemorySearch
from chatmemory.longterm.saving.memory_drafts import MemoryDrafts
from chatmemory.settings.memory_settings import RetrievalSettings
from chatmemory.text.search_terms import query_terms
from chatmemory_layers.embedding.local import THRESHOLD

QUESTIONS: Final = Path(__file__).with_name("questions.json")
USER: Final = Namespace("somebody")
NOW: Final = datetime(2026, 11, 21, tzinfo=UTC)
"""All memories of ``questions.json`` are as old."""

DEPTH: Final = 10  # hits that are looked at
Failed = DataValidationError | MemoryStoreError | RepositoryError
Requirements = MemoryRepositoryTag | EmbedderTag


@final
@frozen
class Question:
    """A question and the ids of the memories that answer it; idle when there are none."""

    text: str
    answers: frozenset[str] = frozenset()
    asked_at: datetime = NOW

    @property
    def is_chinese(self) -> bool:
        return not self.text.isascii()


@final
@frozen
class Searched:
    """What a store has found for a question, to be ranked."""

    question: Question
    search: MemorySearch
    candidates: Candidates

    def ranked(self, settings: RetrievalSettings) -> list[str]:
        """Return the ids of the first hits."""
        threshold = THRESHOLD if settings.similarity_threshold is None else settings.similarity_threshold
        ranking = WeightedRanking(settings, threshold)
        recall = ranking.rank(self.search, self.candidates, now=self.question.asked_at, limit=DEPTH)
        return [hit.memory.id for hit in recall.hits]


@final
@frozen
class Figures:
    """Means over questions: the share of a question's answers among the first 1, 5 and 10, and nDCG over 10."""

    at_1: float
    at_5: float
    at_10: float
    ndcg: float

    def __str__(self) -> str:
        shares = (self.at_1, self.at_5, self.at_10, self.ndcg)
        return "   ".join(f"{100 * share:5.1f}" for share in shares)


def own_questions(*, with_keys: bool = True) -> tuple[list[NewMemory], list[Question]]:
    """Read ``questions.json``."""
    data = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    held: Mapping[str, Mapping[str, str]] = data["memories"]
    memories = [
        NewMemory(memory["content"], id=name, key=memory["key"] if with_keys else None, created_at=NOW)
        for name, memory in held.items()
    ]
    questions = [Question(asked["text"], frozenset({asked["finds"]})) for asked in data["questions"]]
    return memories, questions + [Question(text) for text in data["idle"]]


@Effect.gen
async def search_all(
    do: Do[Failed, Requirements], memories: Sequence[NewMemory], questions: Sequence[Question], *, limit: int
) -> list[Searched]:
    """Store *memories* and search them for each question, *limit* candidates for each way of searching."""
    repository = do.service(MemoryRepositoryTag)
    drafts = MemoryDrafts(do.service(EmbedderTag), do.service(ClockTag), do.service(IdsTag))
    drafted = await do(drafts.draft(USER, memories))
    await do(repository.store(drafted.drafts))
    placed = (await do(embed_texts(drafts.embedder, [question.text for question in questions]))).placed
    found: list[Searched] = []
    for question, vector in zip(questions, placed, strict=True):
        search = MemorySearch(USER, question.text, query_terms(question.text), limit=limit)
        if vector is not None:
            search = evolve(search, space=vector.space, vector=vector.vector)
        found.append(Searched(question, search, await do(repository.search(search))))
    return found


def figures(found: Sequence[Searched], settings: RetrievalSettings) -> Figures:
    """Rank what was found and count the answers, over all questions that have some."""
    ranked = [(one.question.answers, one.ranked(settings)) for one in found if one.question.answers]

    def share(depth: int) -> float:
        return fmean(len(answers.intersection(ids[:depth])) / len(answers) for answers, ids in ranked)

    return Figures(share(1), share(5), share(DEPTH), fmean(_ndcg(answers, ids) for answers, ids in ranked))


def idle_hits(found: Sequence[Searched], settings: RetrievalSettings) -> float:
    """Return how many of the first five places an idle question fills on average."""
    return fmean(len(one.ranked(settings)[:5]) for one in found if not one.question.answers)


def _ndcg(answers: frozenset[str], ids: Sequence[str]) -> float:
    gains = [1 / log2(place + 2) for place in range(DEPTH)]
    gained = sum(gain for gain, found in zip(gains, ids, strict=False) if found in answers)
    return gained / sum(gains[: len(answers)])
