"""What is remembered and asked in ``remember.py`` and ``recall.py``: made-up memories, their vectors, and questions.

Words are as frequent as in a language, by Zipf's law, every third of them Chinese; vectors of 768 dimensions lie in
clusters around a common mean, as those of texts do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from chatmemory import Embedding, Namespace, NewMemory
from chatmemory.effect import Effect, Layer
from chatmemory.embedding.embedder import USUAL_THRESHOLD, EmbedderTag, Matrix, Vector

MODEL = "made up"
DIM = 768
NAMESPACE = Namespace("ana", "benchmark")

_SYLLABLES = ["ka", "lo", "mi", "ren", "su", "tor", "vel", "wan", "yin", "zed"]
_FIRST_CHARACTER = 0x4E00
_WORDS = 10_000
_STOP_WORDS = 20  # the most frequent, which nobody asks for
_WORDS_OF_A_MEMORY = 14
_WORDS_OF_A_QUESTION = 4
_CLUSTERS = 300
_LATENT = 64


@frozen
class Question:
    """A text, the vector that the embedder makes of it, and the memory that it lies nearest to."""

    text: str
    vector: Vector
    about: int


class World:
    """Memories and questions; the same for the same numbers."""

    def __init__(self, count: int, questions: int, *, dim: int = DIM) -> None:
        """Make them up; their vectors have *dim* dimensions."""
        self._dim = dim
        self._random = np.random.default_rng(5)
        frequency = 1 / np.arange(1, _WORDS + 1)
        words = np.array([_word(number) for number in range(_WORDS)])
        chosen = self._random.choice(words, (count, _WORDS_OF_A_MEMORY), p=frequency / frequency.sum())
        self.texts = [" ".join(row) for row in chosen]
        self.vectors = self._clustered(count)
        asked = words[_STOP_WORDS:], frequency[_STOP_WORDS:] / frequency[_STOP_WORDS:].sum()
        self.questions = [
            self._question(int(about), *asked) for about in self._random.integers(0, count, questions)
        ]

    def memories(self, start: int, stop: int) -> list[NewMemory]:
        """Return a stretch of the memories, with their vectors."""
        return [
            NewMemory(self.texts[number], id=f"{number:08}", embedding=Embedding(MODEL, self.vectors[number]))
            for number in range(start, stop)
        ]

    def _question(self, about: int, words: NDArray[np.str_], frequency: Vector) -> Question:
        """Ask with a word of the memory, and with others that have nothing to do with it."""
        said = [word for word in self.texts[about].split() if word in words] or ["nothing"]
        text = " ".join([said[0], *self._random.choice(words, _WORDS_OF_A_QUESTION - 1, p=frequency)])
        noise = self._random.standard_normal(self._dim, dtype=np.float32) / self._dim**0.5
        vector = self.vectors[about] + 0.2 * noise
        return Question(text, vector / np.linalg.norm(vector), about)

    def _clustered(self, count: int) -> Matrix:
        random = self._random
        centres = random.standard_normal((_CLUSTERS, _LATENT), dtype=np.float32)
        mixing = random.standard_normal((_LATENT, self._dim), dtype=np.float32)
        latent = centres[random.integers(0, _CLUSTERS, count)]
        latent += 0.6 * random.standard_normal((count, _LATENT), dtype=np.float32)
        vectors: Matrix = latent @ mixing
        vectors += 2.0
        for block in range(0, count, 10_000):
            part = vectors[block : block + 10_000]
            part += 2 * random.standard_normal(part.shape, dtype=np.float32)
            part /= np.linalg.norm(part, axis=1, keepdims=True)
        return vectors


class GivenVectors:
    """An embedder that knows the questions already: what one costs is not what is measured."""

    model = MODEL
    similarity_threshold = USUAL_THRESHOLD

    def __init__(self, questions: Sequence[Question], others: Mapping[str, Vector]) -> None:
        """Know *questions*, and the vectors of *others*."""
        self._vectors = {**others, **{question.text: question.vector for question in questions}}

    def unavailability(self) -> None:
        return None

    def embed(self, texts: Sequence[str]) -> Effect[Matrix]:
        return Effect.succeed(np.stack([self._vectors[text] for text in texts]))


def given_vectors(world: World, others: Mapping[str, Vector] | None = None) -> Layer[EmbedderTag]:
    """Return the embedder of the world's questions, and of *others*, texts with their vectors."""
    return Layer.succeed(EmbedderTag, GivenVectors(world.questions, others or {}))


def _word(number: int) -> str:
    if number % 3 == 2:
        return chr(_FIRST_CHARACTER + number // 100) + chr(_FIRST_CHARACTER + number % 3000)
    return "".join(_SYLLABLES[int(digit)] for digit in f"{number:04}")
