"""How long the way of one call is, from the service to its statement and back: ``python benchmarks/path.py [--steps NAME]``.

``sys.setprofile`` sees each function of chatmemory that one warm call on SQLite enters, on any thread, in order.  A reader
who follows it opens so many *files*, meets so many *calls*, and comes *back* so often to a file that was left before; a
return to the caller is no step, and neither is a coroutine that goes on after it has waited.  The constructors of plain
values do not count: those of attrs classes lie in no file, and those of ``Success`` and ``Failure`` are like them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count, groupby
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeAlias

import anyio
import httpx  # noqa: TID251  asks the application in this process
from attrs import frozen

import chatmemory
import chatmemory_layers
from chatmemory import (
    ChatMemoryService,
    LongTermMemoryService,
    ManagedRuntime,
    Namespace,
    NewMemory,
    NewMessage,
)
from chatmemory.programs.http.app import application
from chatmemory.settings.memory_settings import MemorySettings, Settings, SqliteSettings, StoreSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.server.serve_command import server_stack

FOLDERS: Final = tuple(
    f"{Path(package.__file__).parent}{os.sep}" for package in (chatmemory, chatmemory_layers)
)
NO_STEPS: Final = {"Success.__init__", "Failure.__init__"}
WARM_UP: Final = 5  # calls before the one that is traced: what loads or is cached on first use is ready
SETTLE_SECONDS: Final = 0.05  # until no thread has anything left to do for the call before

Call: TypeAlias = Callable[[], Awaitable[Any]]
Step: TypeAlias = tuple[str, str]
"""A file and the function in it that was entered."""


@frozen
class Bar:
    """At most so many files, and times that the way comes back."""

    files: int
    backs: int | None = None


# Half of what was traced before the ways were shortened; of a recall and of HTTP, the files that were asked for.
BARS: Final[Mapping[str, Bar]] = {
    "get_messages": Bar(5, 3),
    "add_messages": Bar(8, 8),
    "recall": Bar(18),
    "HTTP GET messages": Bar(18),
}


class Tracer:
    """Writes down the steps of every thread while a call is traced."""

    def __init__(self) -> None:
        self._steps: list[Step] | None = None
        self._entered: set[FrameType] = set()  # a coroutine that goes on has the frame that it began with
        threading.setprofile(self._see)  # of threads that start from now on
        sys.setprofile(self._see)

    async def trace(self, call: Call) -> Sequence[Step]:
        for _ in range(WARM_UP):
            await call()
        await asyncio.sleep(SETTLE_SECONDS)
        self._steps = steps = []
        await call()
        self._steps = None
        self._entered.clear()
        return tuple(steps)

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if self._steps is None or event != "call" or not code.co_filename.startswith(FOLDERS):
            return
        if code.co_qualname not in NO_STEPS and frame not in self._entered:
            self._entered.add(frame)
            self._steps.append((code.co_filename, code.co_qualname))


def counts(steps: Sequence[Step]) -> dict[str, int]:
    visits = [file for file, _ in groupby(file for file, _ in steps)]
    files = len(set(visits))
    return {"files": files, "calls": len(steps), "backs": len(visits) - files}


@asynccontextmanager
async def calls() -> AsyncGenerator[dict[str, Call]]:
    """Open a store on SQLite, and give what is asked of it, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        store = StoreSettings(backend="sqlite", sqlite=SqliteSettings(path=f"{folder}/chat.db"))
        past = PastChatsSettings(path=f"{folder}/past.db")
        settings = Settings(memory=MemorySettings(store=store, past_chats=past))
        async with ManagedRuntime(server_stack(settings)) as runtime:
            chat = await runtime.service(ChatMemoryService)
            memory = await runtime.service(LongTermMemoryService)
            user, numbers = Namespace("mei"), count()
            await memory.remember(user, [NewMemory("She is allergic to peanuts. 她对花生过敏。")]).or_raise()
            app = application(runtime, settings.server, closing=anyio.Event())
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8642") as client:
                yield {
                    "get_messages": lambda: chat.get_messages("c", limit=3),
                    "add_messages": lambda: chat.add_messages(
                        "c", [NewMessage("user", "屋顶的事我们说到哪里了？", id=f"m{next(numbers)}")]
                    ),
                    "remember": lambda: memory.remember(user, [NewMemory(f"Fact {next(numbers)}")]),
                    "recall": lambda: memory.recall(user, "peanuts"),
                    "HTTP GET messages": lambda: client.get("/conversations/c/messages", params={"limit": 3}),
                }


async def trace_all() -> dict[str, Sequence[Step]]:
    tracer = Tracer()
    async with calls() as named:
        await named["add_messages"]()
        return {name: await tracer.trace(call) for name, call in named.items()}


def show(traced: Mapping[str, Sequence[Step]]) -> None:
    print(" " * 20 + "".join(f"{column:>8}" for column in ("files", "calls", "backs")))
    for name, steps in traced.items():
        found = counts(steps)
        print(f"  {name:<18}" + "".join(f"{number:>8}" for number in found.values()), end="")
        bar = BARS.get(name)
        if bar is not None:
            print("   " + verdict("files", found["files"], bar.files), end="")
            if bar.backs is not None:
                print(", " + verdict("backs", found["backs"], bar.backs), end="")
        print()


def verdict(what: str, found: int, most: int) -> str:
    return f"{what} {'met' if found <= most else 'MISSED'} <= {most}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", metavar="NAME", help="print the steps of this call, such as get_messages")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    arguments = parser.parse_args()
    traced = asyncio.run(trace_all())
    sys.setprofile(None)
    if arguments.json:
        print(json.dumps({name: counts(steps) for name, steps in traced.items()}))
    elif arguments.steps:
        root = os.path.commonpath(FOLDERS)
        for file, function in traced[arguments.steps]:
            print(f"{os.path.relpath(file, root)}: {function}")
    else:
        show(traced)


if __name__ == "__main__":
    main()
