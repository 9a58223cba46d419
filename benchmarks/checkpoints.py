"""Checkpointers of LangGraph, theirs and ours: ``python benchmarks/checkpoints.py``.

Everybody syncs each commit.  Each task has a thread of its own with a state of three channels, of which a step changes one;
what LangGraph asks for in a step is timed: the writes of a task and a checkpoint, and how a run begins: the newest checkpoint.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from attrs import define, field
from contest import MICROSECONDS, Target, durable, in_turns, judge, show
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from chatmemory import ManagedRuntime, ThreadRuntime
from chatmemory.integrations.langgraph import ChatMemorySaver
from chatmemory_layers.stacks import embedded

TASKS = (1, 64)
TASKS_A_STEP = 4
ROUNDS = 5
SLICE_SECONDS = 0.4
MESSAGES = [f"她对花生过敏，周末喜欢去山里徒步。 Message {number} of a conversation." for number in range(20)]


@define(eq=False)
class Thread:
    """A thread that a task goes on with."""

    saver: BaseCheckpointSaver[Any]
    config: dict[str, Any]
    versions: dict[str, Any]
    values: dict[str, Any]
    step: int = 0

    async def put(self) -> None:
        self.step += 1
        self.values = {**self.values, "scratch": f"step {self.step}"}
        self.versions = {
            **self.versions,
            "scratch": self.saver.get_next_version(self.versions["scratch"], None),
        }
        await self._put({"scratch": self.versions["scratch"]})

    async def put_writes(self) -> None:
        self.step += 1
        writes = [("scratch", f"step {self.step}"), ("branch:to:next", None)]
        if self.step % TASKS_A_STEP == 0:
            self.config["configurable"]["checkpoint_id"] = str(uuid6())
        await self.saver.aput_writes(self.config, writes, f"task {self.step}", "~__pregel_pull, next")

    async def get(self) -> None:
        asked = {
            name: value for name, value in self.config["configurable"].items() if name != "checkpoint_id"
        }
        found = await self.saver.aget_tuple({"configurable": asked})
        assert found is not None
        assert found.checkpoint["channel_values"]["messages"] == MESSAGES

    async def begin(self) -> None:
        await self._put(self.versions)

    async def _put(self, new_versions: dict[str, Any]) -> None:
        checkpoint = {
            **empty_checkpoint(),
            "id": str(uuid6()),
            "channel_values": self.values,
            "channel_versions": self.versions,
        }
        metadata: Any = {"source": "loop", "step": self.step, "parents": {}}
        self.config = await self.saver.aput(self.config, checkpoint, metadata, new_versions)


@define(eq=False)
class Contestant:
    """A saver that is open, and the threads of its tasks."""

    name: str
    open: Callable[[AsyncExitStack, Path], Awaitable[BaseCheckpointSaver[Any]]]
    threads: list[Thread] = field(init=False)


async def open_ours(stack: AsyncExitStack, folder: Path) -> BaseCheckpointSaver[Any]:
    return ChatMemorySaver(await stack.enter_async_context(ManagedRuntime(embedded(folder / "ours.db"))))


async def open_ours_in_a_thread(stack: AsyncExitStack, folder: Path) -> BaseCheckpointSaver[Any]:
    return ChatMemorySaver(await stack.enter_async_context(ThreadRuntime(embedded(folder / "thread.db"))))


async def open_theirs(stack: AsyncExitStack, folder: Path) -> BaseCheckpointSaver[Any]:
    opening = AsyncSqliteSaver.from_conn_string(str(folder / "theirs.db"))
    return await stack.enter_async_context(opening)


async def thread_of(saver: BaseCheckpointSaver[Any], number: int) -> Thread:
    values = {"messages": MESSAGES, "user": {"id": "梅", "likes": ["徒步"]}, "scratch": ""}
    versions = {name: saver.get_next_version(None, None) for name in values}
    thread = Thread(
        saver, {"configurable": {"thread_id": f"t{number}", "checkpoint_ns": ""}}, versions, values
    )
    await thread.begin()
    return thread


async def rate(one: Contestant, *, action: str, tasks: int) -> float:
    """Do it from *tasks* tasks for a slice of time; return how often a second."""
    stop = perf_counter() + SLICE_SECONDS
    done = 0

    async def go_on(thread: Thread) -> None:
        nonlocal done
        while perf_counter() < stop:
            await getattr(thread, action)()
            done += 1

    start = perf_counter()
    await asyncio.gather(*map(go_on, one.threads[:tasks]))
    return done / (perf_counter() - start)


async def main() -> None:
    contestants = [
        Contestant("AsyncSqliteSaver", open_theirs),
        Contestant("ours", open_ours),
        Contestant("ours, ThreadRuntime", open_ours_in_a_thread),
    ]
    with durable(), tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            for one in contestants:
                saver = await one.open(stack, Path(folder))
                one.threads = [await thread_of(saver, number) for number in range(max(TASKS))]
            for action in ("put", "get", "put_writes"):
                for tasks in TASKS:
                    laps = await in_turns(
                        contestants, partial(rate, action=action, tasks=tasks), rounds=ROUNDS
                    )
                    rates = {one.name: median(laps[one]) for one in contestants}
                    rows = {name: (each, MICROSECONDS * tasks / each) for name, each in rates.items()}
                    show(f"{action}, {tasks} tasks", [f"{action}/s", "us each"], rows)
                    judge([Target("ours", "AsyncSqliteSaver", 1 if tasks == 1 else 5)], rates)


if __name__ == "__main__":
    asyncio.run(main())
