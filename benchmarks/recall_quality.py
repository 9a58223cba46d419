"""How well recall finds what questions are about, and what each part of the ranking is worth.

    python benchmarks/recall_quality.py [DATA]

The questions of ``tests/recall`` always; with DATA, a folder with ``locomo_dev.json`` and ``memory_bank_cn.json``, also
LoCoMo's (each turn a memory), and the Chinese ones among what other people said.  Figures are percent: answers among the
first 1, 5 and 10 hits, nDCG over 10; behind them, how many of five places an idle question fills.
"""

import argparse
import asyncio
import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from attrs import evolve
from real_conversations import locomo, memory_bank

from chatmemory import ManagedRuntime, NewMessage
from chatmemory.longterm.memories import NewMemory
from chatmemory.settings.memory_settings import RetrievalSettings
from chatmemory_layers.embedding.local import static
from chatmemory_layers.embedding.none import none
from chatmemory_layers.in_memory.memory_repository import memory_repository
from tests.recall.quality import NOW, Question, Searched, figures, idle_hits, own_questions, search_all

LIMIT = 200  # candidates of each way of searching, as recall asks for
ALL = 10_000
NOISE = 500
DIALOG_ID = re.compile(r"D:?(\d+):0*(\d+)")
STEADY = RetrievalSettings(decay_per_day=0.0)
"""As configured, without decay: the questions are about all of the past."""


async def search(
    memories: Sequence[NewMemory],
    questions: Sequence[Question],
    *,
    limit: int = LIMIT,
    by_vector: bool = True,
) -> list[Searched]:
    async with ManagedRuntime(memory_repository | (static if by_vector else none)) as runtime:
        return (await runtime.run(search_all(memories, questions, limit=limit))).unwrap()


def show(name: str, found: Sequence[Searched], settings: RetrievalSettings = STEADY) -> None:
    is_idle = any(not one.question.answers for one in found)
    idle = f"   {idle_hits(found, settings):.1f}" if is_idle else ""
    print(f"  {name:36}{figures(found, settings)}{idle}")


def sweep(found: Sequence[Searched]) -> None:
    show("as configured", found)
    for share in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        show(f"lexicalShare {share}", found, evolve(STEADY, lexical_share=share))
    for threshold in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4):
        show(f"similarityThreshold {threshold}", found, evolve(STEADY, similarity_threshold=threshold))


# --- Our own questions ---


async def own(*, with_keys: bool) -> None:
    memories, questions = own_questions(with_keys=with_keys)
    for language in ("Chinese", "English"):
        asked = [question for question in questions if question.is_chinese == (language == "Chinese")]
        print(f"\n{language}, memories {'with' if with_keys else 'without'} keys")
        show("words alone", await search(memories, asked, by_vector=False))
        sweep(await search(memories, asked))


async def own_among_others(memory_bank_path: Path) -> None:
    memories, questions = own_questions()
    turns = (message for _, messages in memory_bank(memory_bank_path) for message in messages)
    noise = [NewMemory(turn.content, created_at=NOW) for turn in turns if turn.role == "user"][:NOISE]
    print(f"\nChinese, memories with keys, among {len(noise)} of other people")
    sweep(await search([*memories, *noise], [question for question in questions if question.is_chinese]))


# --- LoCoMo ---


def conversations(path: Path) -> Iterator[tuple[list[NewMemory], list[Question]]]:
    samples = json.loads(path.read_text())
    for sample, (_, messages) in zip(samples, locomo(path), strict=True):
        memories = [as_memory(message) for message in messages]
        known = {memory.id for memory in memories}
        ends = max(memory.created_at or NOW for memory in memories)
        questions = []
        for asked in sample["qa"]:
            named = {f"D{session}:{turn}" for session, turn in DIALOG_ID.findall(str(asked["evidence"]))}
            questions.append(Question(asked["question"], frozenset(named & known), ends))
        yield memories, [question for question in questions if question.answers]


def as_memory(turn: NewMessage) -> NewMemory:
    speaker = (turn.metadata or {})["speaker"]
    return NewMemory(f"{speaker}: {turn.content}", id=turn.id, created_at=turn.timestamp)


async def of_locomo(path: Path) -> None:
    async def searched(*, limit: int = LIMIT, by_vector: bool = True) -> list[Searched]:
        return [
            one
            for memories, questions in conversations(path)
            for one in await search(memories, questions, limit=limit, by_vector=by_vector)
        ]

    found = await searched()
    print(f"\nLoCoMo, {len(found)} questions")
    show("words alone", await searched(by_vector=False))
    sweep(found)
    for rate in (0.001, 0.01):
        show(f"decayPerDay {rate}", found, evolve(STEADY, decay_per_day=rate))
    show("vectors for every second memory", [half_embedded(one) for one in found])
    for limit in (50, 100, ALL):
        show(f"{limit} candidates of each kind", await searched(limit=limit))
    print(
        f"  ranking {median(len(one.candidates.found) for one in found):.0f} candidates: {milliseconds(found):.2f} ms"
    )


def half_embedded(found: Searched) -> Searched:
    """Return *found* as if every second turn had no vector."""
    without = [
        evolve(one, similarity=None) if int(one.memory.id.split(":")[1]) % 2 else one
        for one in found.candidates.found
    ]
    return evolve(found, candidates=evolve(found.candidates, found=tuple(without)))


def milliseconds(found: Sequence[Searched]) -> float:
    laps = []
    for one in found:
        start = time.perf_counter()
        one.ranked(STEADY)
        laps.append((time.perf_counter() - start) * 1_000)
    return median(laps)


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?")
    data: Path | None = parser.parse_args().data
    await own(with_keys=True)
    await own(with_keys=False)
    if data is not None:
        await own_among_others(data / "memory_bank_cn.json")
        await of_locomo(data / "locomo_dev.json")


if __name__ == "__main__":
    asyncio.run(main())
