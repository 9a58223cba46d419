"""``measured``: ask every question of a suite in four ways of searching, and compute the figures of each way.

``grep`` counts the words of the question in a turn, ``BM25`` weighs them, ``vectors alone`` compares meanings, and ``recall``
is chatmemory's long-term memory, in which each turn is a memory of its session.  Each question is asked of the turns of
its own conversation.

``SuiteReport``: what a run has measured, as a Markdown table for people and as JSON for programs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import log2
from statistics import median_high
from typing import TYPE_CHECKING, Final, TypeAlias, final

from attrs import Attribute, asdict, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.effect.lazy import np
from chatmemory.effect.services.clock import ClockTag
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.embedding.unit_vectors import embed_texts
from chatmemory.errors import RecallError, RememberError
from chatmemory.input.json_value import JsonObject
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import NewMemory
from chatmemory.programs.bench.own_questions import BenchConversation, BenchQuestion, Suite
from chatmemory.text.search_terms import bm25, query_terms, search_terms

if TYPE_CHECKING:
    from chatmemory.embedding.embedder import Matrix

OURS: Final = "chatmemory recall"
WAYS: Final = ("grep", "BM25", "vectors alone", OURS)
COLUMNS: Final = ("R@5", "R@10", "nDCG@10", "session @1", "session @5")
"""The share of the answering turns that are among the first 5 and the first 10, nDCG over 10, and whether an answering
session is the first, or among the first five."""

DEPTH: Final = 50  # turns of a ranking: enough to have five sessions among them
FIRST: Final = 5
LAST: Final = 10
STORED_AT_ONCE: Final = 500
RESAMPLES: Final = 1_000
SEED: Final = 18  # of the resampling: the same figures give the same interval

Figures: TypeAlias = tuple[float, ...]
Ranking: TypeAlias = Sequence[str]


@final
@frozen
class Interval:
    """A mean in percent, and the bounds between which it lies in 95 of 100 resamplings of the questions."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} ({self.low:.1f}-{self.high:.1f})"


@final
@frozen
class BenchRow:
    """The figures of one way of searching.

    Attributes:
        way: one of ``WAYS``.
        milliseconds: the median time of a question.
        figures: by the names of ``COLUMNS``.
    """

    way: str
    milliseconds: float
    figures: Mapping[str, Interval]


@final
@frozen
class SuiteReport:
    """The rows of one suite, and the data on which they were measured."""

    name: str
    sha256: str
    conversations: int
    turns: int
    questions: int
    embedder: str
    rows: tuple[BenchRow, ...]

    @classmethod
    def of(cls, suite: Suite, rows: Sequence[BenchRow], *, label: str, embedder: str) -> SuiteReport:
        """Return the report of *suite* under the name *label*; *rows* are the figures of each way of searching."""
        asked = [one for one in suite.conversations if one.questions]
        turns = sum(len(one.turns) for one in asked)
        return cls(label, suite.sha256, len(asked), turns, suite.questions, embedder, tuple(rows))


@Effect.gen
async def measured(
    do: Do[RecallError | RememberError, LongTermMemoryService | EmbedderTag],
    suite: Suite,
    *,
    tell: Callable[[str], None],
) -> tuple[BenchRow, ...]:
    """Search the answers to every question of *suite*, and return a row for each of ``WAYS``.

    The memories are stored under users of their own, in a store that should be empty.  *tell* receives a line when the
    work on a conversation begins.
    """
    clock = do.service(ClockTag)
    found: dict[str, list[Figures]] = {way: [] for way in WAYS}
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for number, conversation in enumerate(suite.conversations, 1):
        if not conversation.questions:
            continue
        tell(f"{suite.name} {number}/{len(suite.conversations)}: {len(conversation.turns)} turns")
        ways = await do(_ways(conversation, number))
        for question in conversation.questions:
            for way, search in ways.items():
                started = clock.monotonic()
                ranking = await do(search(question.text))
                seconds[way].append(clock.monotonic() - started)
                found[way].append(figures(conversation, question, ranking))
    return tuple([BenchRow(way, 1_000 * median_high(seconds[way]), _intervals(found[way])) for way in WAYS])


Search: TypeAlias = Callable[[str], Effect[Ranking, RecallError]]


@Effect.gen
async def _ways(
    do: Do[RecallError | RememberError, LongTermMemoryService | EmbedderTag],
    conversation: BenchConversation,
    number: int,
) -> Mapping[str, Search]:
    """Store and index *conversation*, and return a search for each of ``WAYS``."""
    memory, embedder = do.service(LongTermMemoryService), do.service(EmbedderTag)
    turns = conversation.turns
    ids = [turn.id for turn in turns]
    owner = Namespace(f"bench {number}")
    drafts = [
        NewMemory(turn.said, id=turn.id, session_id=turn.session or None, created_at=turn.at)
        for turn in turns
    ]
    for start in range(0, len(drafts), STORED_AT_ONCE):
        await do(memory.remember(owner, drafts[start : start + STORED_AT_ONCE], dedup="none"))
    lowered = [turn.said.lower() for turn in turns]
    terms = [search_terms(turn.said).split() for turn in turns]
    embedded = await do(embed_texts(embedder, [turn.text for turn in turns]))
    width = next((placed.space.dim for placed in embedded.placed if placed is not None), 1)
    rows: Matrix = np.zeros((len(turns), width), np.float32)
    for place, placed in enumerate(embedded.placed):
        if placed is not None:
            rows[place] = placed.vector

    def best(scores: Sequence[float]) -> Ranking:
        places = [place for place, score in enumerate(scores) if score > 0]
        return [ids[place] for place in sorted(places, key=scores.__getitem__, reverse=True)[:DEPTH]]

    def grep(question: str) -> Effect[Ranking]:
        words = set(re.findall(r"\w+", question.lower()))
        return Effect.succeed(best([float(sum(word in text for word in words)) for text in lowered]))

    def by_words(question: str) -> Effect[Ranking]:
        return Effect.succeed(best([match.score for match in bm25(query_terms(question), terms)]))

    @Effect.gen
    async def by_vectors(do: Do[RecallError], question: str) -> Ranking:
        (placed,) = (await do(embed_texts(embedder, [question]))).placed
        return [] if placed is None else best((rows @ placed.vector).tolist())

    def recalled(question: str) -> Effect[Ranking, RecallError]:
        asked = memory.recall(owner, question, limit=DEPTH)
        return asked.map(lambda recall: [hit.memory.id for hit in recall.hits])

    return dict(zip(WAYS, (grep, by_words, by_vectors, recalled), strict=True))


def figures(conversation: BenchConversation, question: BenchQuestion, ranking: Ranking) -> Figures:
    """Return the figures of ``COLUMNS`` for one *ranking* of turns, each from 0 to 1."""
    answers = question.answers
    session_of = {turn.id: turn.session for turn in conversation.turns}
    sessions = [*dict.fromkeys(session_of[turn] for turn in ranking)]
    wanted = {session_of[turn] for turn in answers}
    gained = sum(1 / log2(place + 2) for place, turn in enumerate(ranking[:LAST]) if turn in answers)
    possible = sum(1 / log2(place + 2) for place in range(min(len(answers), LAST)))
    return (
        len(answers & {*ranking[:FIRST]}) / len(answers),
        len(answers & {*ranking[:LAST]}) / len(answers),
        gained / possible,
        float(not wanted.isdisjoint(sessions[:1])),
        float(not wanted.isdisjoint(sessions[:FIRST])),
    )


def _intervals(found: Sequence[Figures]) -> Mapping[str, Interval]:
    table = 100 * np.array(found)
    chance = np.random.default_rng(SEED)
    count = len(table)
    means = np.array([table[chance.integers(0, count, count)].mean(axis=0) for _ in range(RESAMPLES)])
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    whole = table.mean(axis=0)
    return {
        column: Interval(float(whole[place]), float(low[place]), float(high[place]))
        for place, column in enumerate(COLUMNS)
    }


def as_markdown(reports: Sequence[SuiteReport]) -> str:
    """Return a Markdown table for each of *reports*; figures are in percent, with intervals of 95 %."""
    return "\n\n".join(map(_markdown, reports))


def _markdown(report: SuiteReport) -> str:
    head = ("", *COLUMNS, "per question")
    rows = [
        (row.way, *(str(row.figures[column]) for column in COLUMNS), f"{row.milliseconds:.1f} ms")
        for row in report.rows
    ]
    lines = [" | ".join(cells) for cells in (head, tuple("-" for _ in head), *rows)]
    table = "\n".join(f"| {line.strip()} |" if line.strip() else line for line in lines)
    told = (
        f"{report.questions} questions about {report.turns} turns of {report.conversations} conversations; "
        f"{report.embedder}; sha256 {report.sha256[:16]}"
    )
    return f"### {report.name}\n\n{table}\n\n{told}"


def as_object(reports: Sequence[SuiteReport]) -> JsonObject:
    """Return *reports* as a JSON object."""
    return {"suites": [asdict(report, value_serializer=_rounded) for report in reports]}


def _rounded(_: type, attribute: Attribute[object], value: object) -> object:
    return round(value, 3 if attribute.name == "milliseconds" else 2) if isinstance(value, float) else value
