"""Selects the sentences of the summary: worth, centrality and brevity against overlap, within a budget of characters.

``sentence_worth.py`` defines the worth of a sentence by itself, ``sentence_rank.py`` what sentences have in common.
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

CENTRALITY_WEIGHT: Final = 0.25  # at 0.5 and above, typical sentences replace those that name a fact
BREVITY: Final = 0.4  # 1 would select the most sentences, 0 the best ones; flat from 0.25 to 0.6
FILLER: Final = 0.15  # of the best sentence's worth; below it, a shorter summary is better
SAME: Final = 0.95  # cosine of two sentences with the same content
SEPARATOR: Final = "; "  # the longest text that can follow a sentence
SHORT_ANSWER: Final = 3  # terms; "five years" means nothing without its question


def choose(sentences: Sequence[Sentence], budget: int) -> list[Sentence]:
    """Return the chosen sentences, at least one, whose lines take at most *budget* characters; one alone may take more.

    Greedy, by maximal marginal relevance: the next sentence has the largest ``value * (1 - overlap) / length ** BREVITY``.
    Here *value* is the worth of the sentence weighted by centrality.  *overlap* is its largest cosine to a sentence that is
    already chosen.  A short answer is chosen together with its question.

    Args:
        sentences: the sentences of the conversation, in order.
        budget: the largest number of characters.
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
    )  # with the space or line break after it
    density = value / lengths**BREVITY
    is_open = value >= FILLER * value.max()
    overlap = np.zeros(len(sentences))
    chosen: set[int] = set()
    turns: set[int] = set()
    left = budget + len(SEPARATOR)  # the last sentence needs no separator
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
