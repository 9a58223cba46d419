"""The offline skill runner: ``conversation-summary`` without a model.

The summary is chosen, not written: the sentences that matter most, word for word, in their order and under their
speakers, so it can leave something out but never make something up.  The same messages give the same summary.

How text becomes sentences and lines stands in ``transcript.py``, what a sentence is worth in ``sentence_worth.py``, what
sentences have in common in ``sentence_rank.py``.
"""

from collections.abc import Sequence
from typing import Final, final

from anyio import to_thread
from returns.result import Failure, Success

from chatmemory.contracts import SkillRequest, SkillRunnerTag
from chatmemory.effect import Effect, Layer, Outcome
from chatmemory.errors import SkillExecutionError
from chatmemory.messages import ChatMessage
from chatmemory_layers.skills.sentence_worth import questions_answered, worth, worth_in_place
from chatmemory_layers.skills.transcript import Sentence, label, read_transcript, shorten, write_transcript

CONVERSATION_SUMMARY: Final = "conversation-summary"

SHARE: Final = 0.4  # of the new text; with the text of earlier summaries it makes the length aimed at
LEAST_CHARACTERS: Final = 240  # two short exchanges need no choosing
CENTRALITY_WEIGHT: Final = 0.25  # at 0.5 and above the typical sentence pushes out the one that names a fact
COST_EXPONENT: Final = 0.4  # 1 would buy the most sentences, 0 the best ones; measured flat from 0.25 to 0.6
FILLER: Final = 0.15  # of the best sentence's worth; below it a shorter summary is the better one
SHORT_ANSWER: Final = 3  # terms; "Yes, five years" means nothing without its question


@final
class ExtractiveSkills:
    """Runs ``conversation-summary`` and refuses any other skill."""

    def run(self, skill_id: str, request: SkillRequest) -> Effect[str, SkillExecutionError]:
        """Summarize ``request.messages`` in a worker thread, since 200 long messages take 40 ms."""

        async def summary() -> Outcome[str, SkillExecutionError]:
            if skill_id != CONVERSATION_SUMMARY:
                return Failure(
                    SkillExecutionError(
                        skill_id,
                        "unknown_skill",
                        f"the extractive runner knows {CONVERSATION_SUMMARY!r} only",
                    )
                )
            return Success(
                await to_thread.run_sync(
                    summarize, request.messages, request.max_characters, abandon_on_cancel=True
                )
            )

        return Effect.from_outcome(summary)


def summarize(messages: Sequence[ChatMessage], max_characters: int) -> str:
    """Return what matters in *messages*, one line per turn, in at most *max_characters* (1 or more).

    Aims at ``SHARE`` of what is new; what earlier summaries kept may stay whole while there is room.  Empty only for no
    messages.
    """
    sentences = read_transcript(messages)
    if not sentences:
        return shorten(f"({len(messages)} messages without text)", max_characters) if messages else ""
    aim = sum(len(sentence.text) * (1.0 if sentence.is_kept else SHARE) for sentence in sentences)
    budget = min(max_characters, max(LEAST_CHARACTERS, int(aim)))
    return shorten(write_transcript(choose(sentences, budget)), max_characters)


def choose(sentences: Sequence[Sentence], budget: int) -> list[Sentence]:
    """Choose the sentences that are worth most together and fill *budget* characters at most; at least one.

    Greedy: the next one has the largest ``worth * (1 - overlap) / length ** COST_EXPONENT``, where *overlap* is its
    largest cosine to what is chosen already (MMR) and worth is weighted by centrality.  A short answer brings its
    question along.
    """
    import numpy as np  # noqa: PLC0415  half of the package's import time; only who summarizes pays for it

    from chatmemory_layers.skills.sentence_rank import SentenceVectors, terms  # noqa: PLC0415  imports numpy

    words = [terms(sentence.text) for sentence in sentences]
    answers = questions_answered(sentences)
    own_worth = np.array([worth(*pair) for pair in zip(sentences, words, strict=True)])
    value = own_worth * np.array(worth_in_place(sentences, answers))
    if not value.any():
        return [sentences[0]]
    vectors = SentenceVectors(words)
    value *= 1 - CENTRALITY_WEIGHT + CENTRALITY_WEIGHT * vectors.centrality(value)

    lengths = np.array([len(sentence.text) + 1 for sentence in sentences])
    labels = np.array([len(label(sentence.role, sentence.text)) for sentence in sentences])
    turns = np.array([sentence.turn for sentence in sentences])
    price_per_worth = lengths**COST_EXPONENT
    is_open = value >= FILLER * value.max()
    is_chosen = np.zeros(len(sentences), bool)
    overlap = np.zeros(len(sentences))
    left = budget + 1  # the last line ends without a line break
    while (is_open := is_open & (lengths <= left)).any():
        best = int(np.where(is_open, value * (1 - overlap) / price_per_worth, -1.0).argmax())
        is_open[best] = False
        bundle = [best]
        question = answers.get(best)
        if (
            question is not None
            and not is_chosen[question]
            and words[question]
            and len(words[best]) <= SHORT_ANSWER
        ):
            bundle.append(question)
        price = sum(
            int(lengths[i]) + (0 if (is_chosen & (turns == turns[i])).any() else int(labels[i]))
            for i in bundle
        )
        if price > left:
            continue
        left -= price
        for number in bundle:
            is_chosen[number] = True
            is_open[number] = False
            overlap = np.maximum(overlap, vectors.cosines(number))
    if not is_chosen.any():
        return [sentences[int(value.argmax())]]
    return [sentence for sentence, chosen in zip(sentences, is_chosen, strict=True) if chosen]


extractive: Final = Layer.succeed(SkillRunnerTag, ExtractiveSkills())
