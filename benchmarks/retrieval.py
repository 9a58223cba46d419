"""How well past chats are found: LoCoMo through the real index and the real search.

    python benchmarks/retrieval.py DATA [--lexical | --memories] [--json FILE]

DATA is ``locomo_dev.json``, or a folder that holds it.  The file is indexed as ``pastchats-memory index`` does it, and each
question is asked with a filter on its conversation; what counts is how many of the turns that answer it are among the first
5 and 10 hits, and nDCG over 10.  Exits with 1 when a figure is below what was promised; the questions asked of all
conversations at once are shown beside, without a promise.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from math import log2
from pathlib import Path
from typing import Any, Final, cast

from attrs import frozen
from figures import Rows, json_option, write
from real_conversations import locomo

from chatmemory import LongTermMemoryService, Namespace, NewMemory, NewMessage
from chatmemory.conversation.token_counter import token_counter
from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.pastchats.contract import PastChatsIndexService, PastChatsService, SearchMode
from chatmemory.pastchats.finding.hybrid_rank import HybridRanking
from chatmemory.pastchats.finding.past_chats_live import past_chats
from chatmemory.pastchats.finding.prompt_hits import PromptHit, PromptRankerTag
from chatmemory.pastchats.past_chats import IndexRequest
from chatmemory.pastchats.prompt import EVERYTHING, PromptFilter
from chatmemory.pastchats.prompt_repository import PromptCandidates, PromptSearch
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory.settings.past_chats_settings import PastChatsSettings, PastChatsSettingsTag
from chatmemory_layers.embedding.plain_rows import plain_static
from chatmemory_layers.sqlite.prompts.prompt_repository import prompt_reader
from chatmemory_layers.stacks import embedded
from chatmemory_layers.stacks.past_chats import indexing

FILE: Final = "locomo_dev.json"
HITS: Final = 10
FIRST: Final = 5
PROMISED: Final[dict[SearchMode, tuple[float, float, float]]] = {
    "hybrid": (71.0, 79.5, 62.5),
    "lexical": (64.0, 0.0, 0.0),
}
"""R@5, R@10 and nDCG@10, in percent."""

PROMISED_OF_MEMORIES: Final = (68.0, 76.0, 58.0)

PROMISED_CANDIDATES: Final = 500
DIALOG_ID: Final = re.compile(r"D:?(\d+):0*(\d+)")


@frozen
class Question:
    conversation: str
    text: str
    answers: frozenset[str]


class CountingRanking:
    """Ranks as usual, and notes how many candidates there were."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self._ranking = HybridRanking()

    def rank(
        self, search: PromptSearch, candidates: PromptCandidates, /, *, now: datetime
    ) -> tuple[PromptHit, ...]:
        self.counts.append(len(candidates.found))
        return self._ranking.rank(search, candidates, now=now)


def questions(samples: Sequence[dict[str, Any]]) -> Iterator[Question]:
    for sample in samples:
        turns: set[str] = {
            turn["dia_id"]
            for part in sample["conversation"].values()
            if isinstance(part, list)
            for turn in cast("list[dict[str, str]]", part)
        }
        for asked in sample["qa"]:
            # A few ids are written D:8:6, or several in one text.
            named = {f"D{a}:{b}" for text in asked["evidence"] for a, b in DIALOG_ID.findall(str(text))}
            if answers := named & turns:
                yield Question(f"locomo:{sample['sample_id']}", asked["question"], frozenset(answers))


def figures(question: Question, hits: Sequence[PromptHit]) -> tuple[float, float, float]:
    return figures_of(
        question,
        [
            str(hit.prompt.metadata.get("native_id"))
            if question.conversation in (hit.prompt.conversation_id, *hit.also_in)
            else ""
            for hit in hits
        ],
    )


def figures_of(question: Question, found: Sequence[str]) -> tuple[float, float, float]:
    gained = sum(1 / log2(place + 2) for place, native in enumerate(found) if native in question.answers)
    possible = sum(1 / log2(place + 2) for place in range(min(len(question.answers), HITS)))
    count = len(question.answers)
    return (
        len(question.answers & {*found[:FIRST]}) / count,
        len(question.answers & {*found}) / count,
        gained / possible,
    )


def run(path: Path, mode: SearchMode, database: Path) -> tuple[bool, Rows]:
    """Ask every question; tell whether what was promised is found, and what is."""
    settings = PastChatsSettings(path=str(database))
    with ManagedRuntime(indexing(settings)) as keeper:
        index = keeper.run_sync(PastChatsIndexService.get()).unwrap()
        report = keeper.run_sync(index.index(IndexRequest(inputs=(str(path),)))).unwrap()
    print(f"indexed {report.turns.new} turns of {dict(report.read)} in {report.seconds:.1f} s")
    ranking = CountingRanking()
    given = (
        Layer.succeed(PastChatsSettingsTag, settings)
        | Layer.succeed(EmbeddingSettingsTag, EmbeddingSettings())
        | Layer.succeed(PromptRankerTag, ranking)
        | token_counter
    )
    asked = list(questions(json.loads(path.read_text(encoding="utf-8"))))
    with ManagedRuntime(given.feed_keep(prompt_reader | plain_static) >> past_chats) as runtime:
        past = runtime.run_sync(PastChatsService.get()).unwrap()

        def measured(*, is_filtered: bool) -> tuple[float, float, float]:
            found: list[tuple[float, float, float]] = []
            for question in asked:
                which = PromptFilter(conversations=[question.conversation]) if is_filtered else EVERYTHING
                searched = past.search(question.text, which=which, limit=HITS, mode=mode)
                found.append(figures(question, runtime.run_sync(searched).unwrap().hits))
            return means(found)

        started = time.perf_counter()
        figures_of_all = measured(is_filtered=True)
        milliseconds = 1000 * (time.perf_counter() - started) / len(asked)
        show(f"{mode}, in its conversation", figures_of_all)
        print(
            f"  {len(asked)} questions, {milliseconds:.1f} ms each, {max(ranking.counts)} candidates at most"
        )
        show(f"{mode}, in all of them", measured(is_filtered=False))
    promised = PROMISED[mode]
    is_kept = all(figure >= least for figure, least in zip(figures_of_all, promised, strict=True))
    print(
        f"promised: R@5 {promised[0]}, R@10 {promised[1]}, nDCG@10 {promised[2]}: {'kept' if is_kept else 'MISSED'}"
    )
    columns = "among the first 5", "among the first 10", "nDCG over 10"
    cells = {column: f"{figure:.1f} %" for column, figure in zip(columns, figures_of_all, strict=True)}
    is_met = is_kept and max(ranking.counts) <= PROMISED_CANDIDATES
    return is_met, {f"LoCoMo, of the turns that answer, {mode}": cells}


def means(found: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    first, all_hits, gain = (100 * sum(figure) / len(found) for figure in zip(*found, strict=True))
    return first, all_hits, gain


async def run_memories(path: Path, asked: Sequence[Question], database: Path) -> tuple[bool, Rows]:
    """Ask long-term memory every question, of the turns of its conversation."""
    conversations = {name.removeprefix("locomo "): turns for name, turns in locomo(path)}
    found: list[tuple[float, float, float]] = []
    milliseconds = 0.0
    async with ManagedRuntime(embedded(database)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        for name, turns in conversations.items():
            owner = Namespace(name)
            await memory.remember(owner, [as_memory(turn) for turn in turns], dedup="none").or_raise()
            for question in asked:
                if question.conversation == f"locomo:{name}":
                    started = time.perf_counter()
                    recall = await memory.recall(owner, question.text, limit=HITS).or_raise()
                    milliseconds += 1000 * (time.perf_counter() - started)
                    found.append(figures_of(question, [hit.memory.id for hit in recall.hits]))
    measured = means(found)
    show("recall of memories", measured)
    print(f"  {len(found)} questions, {milliseconds / len(found):.1f} ms each")
    promised = PROMISED_OF_MEMORIES
    is_kept = all(figure >= least for figure, least in zip(measured, promised, strict=True))
    print(
        f"promised: R@5 {promised[0]}, R@10 {promised[1]}, nDCG@10 {promised[2]}: {'kept' if is_kept else 'MISSED'}"
    )
    columns = "among the first 5", "among the first 10", "nDCG over 10"
    cells = {column: f"{figure:.1f} %" for column, figure in zip(columns, measured, strict=True)}
    return is_kept, {"LoCoMo, of the turns that answer, as memories": cells}


def as_memory(turn: NewMessage) -> NewMemory:
    """Make a long-term memory of *turn*, of its session."""
    speaker, session = (turn.metadata or {})["speaker"], str(turn.id).partition(":")[0]
    return NewMemory(f"{speaker}: {turn.content}", id=turn.id, created_at=turn.timestamp, session_id=session)


def show(name: str, measured: tuple[float, float, float]) -> None:
    print(
        f"  {name:32} R@5 {measured[0]:.1f}   R@10 {measured[1]:.1f}   nDCG@10 {measured[2]:.1f}", flush=True
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--lexical", action="store_true", help="words alone, without an embedder")
    kind.add_argument("--memories", action="store_true", help="long-term memories instead of past chats")
    json_option(parser)
    arguments = parser.parse_args()
    path = arguments.data / FILE if arguments.data.is_dir() else arguments.data
    with tempfile.TemporaryDirectory() as folder:
        if arguments.memories:
            asked = list(questions(json.loads(path.read_text(encoding="utf-8"))))
            is_met, rows = asyncio.run(run_memories(path, asked, Path(folder) / "memories.db"))
        else:
            is_met, rows = run(path, "lexical" if arguments.lexical else "hybrid", Path(folder) / "past.db")
    write(arguments.json, rows)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
