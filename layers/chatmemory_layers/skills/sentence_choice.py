"""Which sentences make the summary: worth, centrality and brevity against overlap, within a budget of characters.

What a sentence is worth by itself is defined in ``sentence_worth.py``, what sentences have in common in
``sentence_rank.py``.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from chatmemory_layers.skills.sentence_rank import SentenceVectors, terms
from chatmemory_layers.skills.sentence_worth import (
    questions_answered,
    says_yes_or_no,
    worth,
    worth_in_place,
)
from chatmemory_layers.skills.transcript import Sentence, label

CENTRALITY_WEIGHT: Final = 0.25  # at 0.5 and above the typical sentence pushes out the one that names a fact
BREVITY: Final = 0.4  # 1 would buy the most sentences, 0 the best ones; flat from 0.25 to 0.6
FILLER: Final = 0.15  # of the best sentence's worth; below it a shorter summary is the better one
SAME: Final = 0.95  # cosine of two sentences that say the same
SEPARATOR: Final = "; "  # the longest that can stand behind a sentence
SHORT_ANSWER: Final = 3  # terms; "five years" means nothing without its question


def choose(sentences: Sequence[Sentence], budget: int) -> list[Sentence]:
    """Choose sentences, at least one, whose lines take *budget* characters at most; one alone may take more.

    Greedy, by maximal marginal relevance: the next sentence is the one with the largest
    ``value * (1 - overlap) / length ** BREVITY``, where *value* is its worth weighted by centrality and *overlap* its
    largest cosine to a sentence that is chosen already.  Question and short answer come together.
    """
    words = [terms(sentence.text) for sentence in sentences]
    answers = questions_answered(sentences)
    by_itself = [worth(sentence, its_words) for sentence, its_words in zip(sentences, words, strict=True)]
    value = np.array(by_itself) * np.array(worth_in_place(sentences, answers))
    if not value.any():
        return [sentences[0]]
    vectors = SentenceVectors(words)
    value *= 1 - CENTRALITY_WEIGHT + CENTRALITY_WEIGHT * vectors.centrality(value)

    companions = _companions(sentences, words, answers)
    lengths = np.array(
        [len(sentence.text) + 1 for sentence in sentences]
    )  # with the space or line break behind it
    density = value / lengths**BREVITY
    is_open = value >= FILLER * value.max()
    overlap = np.zeros(len(sentences))
    chosen: set[int] = set()
    turns: set[int] = set()
    left = budget + len(SEPARATOR)  # there is none behind the last sentence
    while (is_open := is_open & (lengths <= left) & (overlap < SAME)).any():
        best = int(np.where(is_open, density * (1 - overlap), -1.0).argmax())
        is_open[best] = False
        bundle = sorted({best, companions.get(best, best)} - chosen)
        new_turns = {
            sentences[number].turn: number for number in bundle if sentences[number].turn not in turns
        }
        labels = sum(
            len(label(sentences[number].role, sentences[number].text)) for number in new_turns.values()
        )
        if (price := int(lengths[bundle].sum()) + labels) > left:
            continue
        left -= price
        chosen.update(bundle)
        turns.update(new_turns)
        for number in bundle:
            is_open[number] = False
            overlap = np.maximum(overlap, vectors.cosines(number))
    return [sentences[number] for number in sorted(chosen)] or [sentences[int(value.argmax())]]


def _companions(
    sentences: Sequence[Sentence], words: Sequence[Sequence[str]], answers: Mapping[int, int]
) -> dict[int, int]:
    """Map short answers to their questions, and questions to the yes or no that decides them."""
    companions: dict[int, int] = {}
    for answer, question in answers.items():
        if says_yes_or_no(sentences[answer]):
            companions[question] = answer
        elif len(words[answer]) <= SHORT_ANSWER and words[question]:
            companions[answer] = question
    return companions
