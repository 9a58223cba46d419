"""How well memory knows what is true now, on small conversations: current and alone, and what was wrongly retired.

``updates.jsonl``, ``tuned_on.jsonl``, ``fresh.jsonl``, ``everyday.jsonl`` and ``plain.jsonl`` are what the rules were tuned on; ``held_out.jsonl`` was written before them, and no rule was changed for it.
See ``README.md`` for a line.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal, final

from attrs import frozen

from chatmemory import ManagedRuntime
from chatmemory.access.namespace import Namespace
from chatmemory.effect.services.clock import TestClock
from chatmemory.input.structure import read_json
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.longterm.memories import Memory
from chatmemory_layers import stacks

FOLDER: Final = Path(__file__).parent
MINUTE: Final = timedelta(minutes=1)
START: Final = datetime(2025, 1, 1, tzinfo=UTC)


@final
@frozen
class Turn:
    """What was said; *at* is when, as ISO 8601."""

    role: Literal["user", "assistant", "tool"]
    content: str
    app: str = ""
    at: str | None = None


@final
@frozen
class Pair:
    """A line, see ``README.md``."""

    id: str
    language: Literal["en", "zh"]
    kind: Literal["update", "end", "trap"]
    attribute: str
    trap: str | None
    turns: tuple[Turn, ...]
    question: str
    current: str | None
    stale: str | None
    kept: tuple[str, ...]


@final
@frozen
class Judged:
    """What became of a pair.

    Attributes:
        is_right: whether what is current is found alone; None of a trap.
        was_known: whether the older statement was remembered when it was said.
        wrongly_retired: the parts that no current memory holds any more though they were remembered.
        never_known: the parts that were never remembered.
        said: what is remembered, for a person to read.
    """

    pair: Pair
    is_right: bool | None
    was_known: bool
    wrongly_retired: tuple[str, ...]
    never_known: tuple[str, ...]
    said: str


def pairs(name: str) -> list[Pair]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [read_json(line, Pair).unwrap() for line in lines]


async def _judged(runtime: ManagedRuntime[LongTermMemoryService], pair: Pair, clock: TestClock) -> Judged:
    memory = await runtime.service(LongTermMemoryService)
    known = set[str]()
    watched = [*pair.kept, *([] if pair.stale is None else [pair.stale])]
    current: Sequence[Memory] = ()
    for number, turn in enumerate(pair.turns):
        await clock.set_time(START + number * MINUTE if turn.at is None else datetime.fromisoformat(turn.at))
        if turn.role != "tool":  # auto_save is for what people and models say
            space = Namespace(pair.id, turn.app)
            await memory.auto_save(space, turn.content, role=turn.role, session_id="s").or_raise()
        current = await _current(memory, pair)
        known |= {part for part in watched if _holds(current, part)}
    recall = await memory.recall(Namespace(pair.id, pair.turns[0].app), pair.question).or_raise()
    found = [hit.memory for hit in recall.hits]
    is_right = None
    if pair.kind != "trap":
        is_fresh = pair.stale is None or not _holds(found, pair.stale)
        is_right = is_fresh and (pair.current is None or _holds(found, pair.current))
    return Judged(
        pair,
        is_right,
        pair.stale in known,
        tuple([part for part in pair.kept if part in known and not _holds(current, part)]),
        tuple([part for part in pair.kept if part not in known]),
        " ".join(f"[{one.attribute}] {one.content};" for one in current),
    )


async def _current(memory: LongTermMemory, pair: Pair) -> Sequence[Memory]:
    """Return what is true now in all apps of *pair*."""
    apps = dict.fromkeys(turn.app for turn in pair.turns)
    pages = [await memory.list(Namespace(pair.id, app)).or_raise() for app in apps]
    return [one for page in pages for one in page.memories]


def _holds(memories: Iterable[Memory], part: str) -> bool:
    return any(part.casefold() in memory.content.casefold() for memory in memories)


async def judge(lines: Sequence[Pair]) -> list[Judged]:
    """Say every pair to a memory of its own, and judge what it knows then."""
    clock = TestClock()
    async with ManagedRuntime(stacks.testing(clock=clock)) as runtime:
        return [await _judged(runtime, pair, clock) for pair in lines]


@final
@frozen
class Figures:
    """The figures of some pairs: of updates and ends, and of all parts that had to be kept."""

    right: int
    asked: int
    wrong: int
    kept: int
    kinds: Counter[tuple[str, bool]]

    @property
    def current_and_alone(self) -> float:
        return self.right / (self.asked or 1)

    @property
    def wrong_retirements(self) -> float:
        return self.wrong / (self.kept or 1)


def figures(judged: Sequence[Judged]) -> Figures:
    asked = [one for one in judged if one.is_right is not None]
    return Figures(
        sum(bool(one.is_right) for one in asked),
        len(asked),
        sum(len(one.wrongly_retired) for one in judged),
        sum(len(one.pair.kept) - len(one.never_known) for one in judged),
        Counter((one.pair.kind, bool(one.is_right)) for one in asked),
    )
