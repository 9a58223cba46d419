"""Recall answers as many questions as it did when its parts were chosen, in Chinese as in English, with what ships."""

from collections.abc import Sequence
from typing import Literal

from attrs import evolve

from chatmemory import ManagedRuntime
from chatmemory.effect import Layer
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.settings.memory_settings import RetrievalSettings
from chatmemory_layers.embedding.local import static
from chatmemory_layers.embedding.none import none
from chatmemory_layers.in_memory.memory_repository import memory_repository
from tests.for_each import for_each
from tests.recall.quality import Searched, figures, idle_hits, own_questions, search_all

Language = Literal["zh", "en"]
CANDIDATES = 200
SETTINGS = RetrievalSettings()


async def found(
    language: Language, embedder: Layer[EmbedderTag], *, with_keys: bool = True
) -> Sequence[Searched]:
    memories, questions = own_questions(with_keys=with_keys)
    asked = [question for question in questions if question.is_chinese == (language == "zh")]
    async with ManagedRuntime(memory_repository | embedder) as runtime:
        return (await runtime.run(search_all(memories, asked, limit=CANDIDATES))).unwrap()


# Measured, less the answers to two questions: 4 % of the Chinese ones, 7 % of the English ones.
@for_each(
    ("language", "with_keys", "at_1", "at_5"),
    [
        ("zh", True, 0.73, 0.91),
        ("zh", False, 0.68, 0.83),
        ("en", True, 0.71, 0.82),
        ("en", False, 0.50, 0.71),
    ],
)
async def test_questions_in_other_words_find_their_memories(
    language: Language, with_keys: bool, at_1: float, at_5: float
) -> None:
    searched = await found(language, static, with_keys=with_keys)
    assert sum(bool(one.question.answers) for one in searched) >= (40 if language == "zh" else 25)
    measured = figures(searched, SETTINGS)
    assert measured.at_1 >= at_1
    assert measured.at_5 >= at_5


@for_each("language", ["zh", "en"])
async def test_idle_questions_bring_up_little(language: Language) -> None:
    assert idle_hits(await found(language, static), SETTINGS) <= 2.5


async def test_without_an_embedder_chinese_questions_find_their_memories_by_words() -> None:
    measured = figures(await found("zh", none), SETTINGS)
    assert measured.at_1 >= 0.71
    assert measured.at_5 >= 0.91


async def test_vectors_answer_english_questions_that_share_no_word() -> None:
    by_vector = await found("en", static)
    alone = [one for one in by_vector if one.question.answers and not shares_a_word(one)]
    assert len(alone) >= 12
    assert figures(alone, SETTINGS).at_5 >= 0.5


def shares_a_word(one: Searched) -> bool:
    words = set(one.search.terms)
    answers = [found for found in one.candidates.found if found.memory.id in one.question.answers]
    return any(words & set(answer.terms.split()) for answer in answers)


async def test_the_figures_notice_when_other_memories_are_found() -> None:
    searched = await found("zh", static)
    elsewhere = [evolve(one, question=evolve(one.question, answers=frozenset({"phone"}))) for one in searched]
    assert figures(elsewhere, SETTINGS).at_5 < 0.2
