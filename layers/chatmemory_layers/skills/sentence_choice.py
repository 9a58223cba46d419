"""``choose``: selects the sentences of the summary: worth, centrality and brevity against overlap, within a budget.

``sentence_worth.py`` defines the worth of a sentence by itself; here sentences are compared by the words they share.

Sources: LexRank (Erkan and Radev, 2004; here the continuous form, cosines as weights), MMR (Carbonell and Goldstein,
1998).  The vectors are sparse and the matrix of all similarities is never built: 600 sentences take 1 ms, and memory
grows with the words, not with the square of the sentences.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, final

from chatmemory.effect.lazy import np
from chatmemory.text.stop_words import CJK, STOP_CHARACTERS, STOP_WORDS
from chatmemory_layers.skills.sentence_worth import (
    questions_answered,
    says_yes_or_no,
    worth,
    worth_in_place,
)
from chatmemory_layers.skills.transcript import Sentence, label

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float64]"
Indices: TypeAlias = "NDArray[np.intp]"

CENTRALITY_WEIGHT: Final = 0.25  # at 0.5 and above, typical sentences replace those that name a fact
BREVITY: Final = 0.4  # 1 would select the most sentences, 0 the best ones; flat from 0.25 to 0.6
FILLER: Final = 0.15  # of the best sentence's worth; below it, a shorter summary is better
SAME: Final = 0.95  # cosine of two sentences with the same content
SEPARATOR: Final = "; "  # the longest text that can follow a sentence
SHORT_ANSWER: Final = 3  # terms; "five years" means nothing without its question

DAMPING: Final = 0.85  # PageRank's: the share of a sentence's rank that comes from sentences like it
ROUNDING: Final = 1e-9  # a smaller sum of cosines counts as 0
STEPS: Final = 30  # the remaining error is below 0.85 ** 30 = 0.8 %

_TERM: Final = re.compile(f"[{CJK}]+|[^\\W_{CJK}]+(?:['’][^\\W_]+)?")
_IS_CJK: Final = re.compile(f"[{CJK}]")


def choose(sentences: Sequence[Sentence], budget: int) -> list[Sentence]:
    """Return the chosen sentences, at least one, whose lines take at most *budget* characters; one alone may take more.

    Greedy, by maximal marginal relevance: the next sentence has the largest ``value * (1 - overlap) / length ** BREVITY``.
    Here *value* is the worth of the sentence weighted by centrality.  *overlap* is its largest cosine to a sentence that is
    already chosen.  A short answer is chosen together with its question.
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


def terms(text: str) -> list[str]:
    """Return the words of *text* that carry meaning, in lower case; CJK runs as overlapping pairs of characters."""
    found: list[str] = []
    for run in _TERM.findall(text.lower()):
        if not _IS_CJK.match(run):
            if run not in STOP_WORDS:
                found.append(run)
        elif len(run) == 1:
            found.append(run)
        else:
            pairs = (run[i : i + 2] for i in range(len(run) - 1))
            found.extend(pair for pair in pairs if not STOP_CHARACTERS.issuperset(pair))
    return found


@final
class SentenceVectors:
    """Sentences as unit vectors of tf-idf weights.

    ``weight[s, t] = (1 + ln tf) * ln(1 + count / df)``, each row scaled to length 1; a sentence without terms is 0.

    Attributes:
        count: the number of sentences.
    """

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        """Compute the weights of *sentences*, each given as its terms; at least one has terms."""
        numbers: dict[str, int] = {}
        columns = np.array(
            [numbers.setdefault(term, len(numbers)) for terms in sentences for term in terms], np.intp
        )
        rows = np.repeat(np.arange(len(sentences)), [len(terms) for terms in sentences])
        cells, frequencies = np.unique(rows * len(numbers) + columns, return_counts=True)
        self.count = len(sentences)
        self._term_count = len(numbers)
        # The sparse matrix: entry k is in row _rows[k] and column _columns[k].
        self._rows, self._columns = cells // len(numbers), cells % len(numbers)
        document_frequencies = np.bincount(self._columns)
        weights = (1 + np.log(frequencies)) * np.log1p(self.count / document_frequencies[self._columns])
        lengths = np.sqrt(_sums(self._rows, weights**2, self.count))
        self._weights: Vector = weights / lengths[self._rows]

    def centrality(self, prior: Vector) -> Vector:
        """Return the rank of each sentence: how much it has in common with other sentences of high rank.

        ``rank = (1 - d) * prior + d * W @ rank``, where ``W[i, j] = cosine(i, j) / sum_k cosine(k, j)`` without the
        diagonal, by power iteration.  *d* is ``DAMPING``.

        Args:
            prior: shape ``(count,)``, not negative, not all 0: the distribution from which the random walk restarts.

        Returns:
            shape ``(count,)``, the largest is 1.
        """
        prior = prior / prior.sum()
        has_terms = np.bincount(self._rows, minlength=self.count) > 0
        degree = self._similar(np.ones(self.count)) - has_terms  # a vector has cosine 1 with itself
        is_alone = degree < ROUNDING
        scale = np.where(is_alone, 0.0, 1 / np.where(is_alone, 1.0, degree))
        rank = prior
        for _ in range(STEPS):
            given = rank * scale
            rank = (1 - DAMPING) * prior + DAMPING * (self._similar(given) - given * has_terms)
        largest_is_1: Vector = rank / rank.max()
        return largest_is_1

    def cosines(self, row: int) -> Vector:
        """Return the similarity of every sentence to sentence *row*, shape ``(count,)``, 0 to 1."""
        only = np.zeros(self.count)
        only[row] = 1
        return self._similar(only)

    def _similar(self, vector: Vector) -> Vector:
        """Return the product of the matrix of all cosines and *vector*, shapes ``(count,)``, without building the matrix."""
        by_term = _sums(self._columns, self._weights * vector[self._rows], self._term_count)
        return _sums(self._rows, self._weights * by_term[self._columns], self.count)


def _sums(places: Indices, values: Vector, count: int) -> Vector:
    """Return the sums of *values* by position: shapes ``(n,)`` and ``(n,)`` to ``(count,)``."""
    return np.bincount(places, values, minlength=count).astype(np.float64, copy=False)
