"""A runtime in a thread of its own: asked from any event loop or none, cancelled, closed, forgotten, forked."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar

import anyio
import pytest

from chatmemory.effect import (
    Effect,
    EffectFailed,
    EffectInterrupted,
    Failure,
    Layer,
    ManagedRuntime,
    Success,
    ThreadRuntime,
)
from tests.effect.numbered_layers import Journal, One
from tests.for_each import for_each
from tests.patience import PATIENCE_SECONDS

CALLER: ContextVar[str] = ContextVar("CALLER", default="nobody")


async def passes_the_deadline(scope: anyio.CancelScope, stop: Stop) -> None:
    """Let the deadline of *scope* pass when *stop* has begun."""
    await stop.begun()
    scope.deadline = anyio.current_time()


class Stop:
    """Something that waits for ever over there, and tells when it begins and how it ends."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.has_ended = threading.Event()
        self.ends: list[str] = []
        self.effect = Effect.from_outcome(self._wait)

    async def _wait(self) -> Success[None]:
        self.has_begun.set()
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                await asyncio.sleep(0.01)  # what must be put in order takes its time
            self.ends.append("cancelled")
            self.has_ended.set()
            raise
        raise AssertionError

    async def begun(self) -> None:
        assert await asyncio.to_thread(self.has_begun.wait, PATIENCE_SECONDS)


def threads(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


def thread_name() -> Effect[str]:
    return Effect.sync(lambda: threading.current_thread().name)


def test_serves_who_has_no_event_loop_and_is_built_by_the_first_effect() -> None:
    journal = Journal()
    ThreadRuntime(journal.layer(1)).close()  # never used, so it is not built
    runtime = ThreadRuntime(journal.layer(1), name="一")
    assert journal == []
    assert runtime.run_blocking(One.get()) == Success(1)
    assert runtime.service(One) == 1
    assert runtime.run_blocking(thread_name()) == Success("一")
    assert runtime.run_blocking(Effect.fail("no")) == Failure("no")
    runtime.close()
    assert journal == ["a1", "r1"]
    assert not threads("一")


def test_serves_many_event_loops_and_threads_at_once_with_one_life_of_the_layer() -> None:
    journal = Journal()

    async def ask(runtime: ThreadRuntime[One]) -> list[object]:
        return await asyncio.gather(*(runtime.run(One.get()) for _ in range(20)))

    with ThreadRuntime(journal.layer(1)) as runtime:
        answers: list[object] = []
        askers = [
            threading.Thread(target=lambda: answers.extend(asyncio.run(ask(runtime)))) for _ in range(4)
        ]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
    assert answers == [Success(1)] * 80
    assert journal == ["a1", "r1"]


async def test_who_is_cancelled_or_late_cancels_the_effect_and_ends_after_it() -> None:
    stop, late = Stop(), Stop()
    async with ThreadRuntime(Layer.succeed(One, 1)) as runtime:
        task = asyncio.create_task(runtime.run(stop.effect))
        await stop.begun()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # impatience changes nothing
        with pytest.raises(asyncio.CancelledError):
            await task
        with anyio.CancelScope() as scope:
            asking = asyncio.create_task(passes_the_deadline(scope, late))
            await runtime.run(late.effect)
        await asking
        assert scope.cancelled_caught
        assert stop.ends == late.ends == ["cancelled"]
        assert await runtime.run(One.get()) == Success(1)


async def test_one_that_is_cancelled_before_it_began_answers_all_the_same() -> None:
    async with ThreadRuntime(Layer.succeed(One, 1)) as runtime:
        for _ in range(200):
            task = asyncio.create_task(runtime.run(One.get()))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, PATIENCE_SECONDS)


async def test_closing_interrupts_what_still_runs() -> None:
    stop, runtime = Stop(), ThreadRuntime(Layer.succeed(One, 1))
    task = asyncio.create_task(runtime.run(stop.effect))
    await stop.begun()
    await asyncio.to_thread(runtime.close)
    with pytest.raises(EffectInterrupted):
        await task
    assert stop.ends == ["cancelled"]


async def test_closing_while_many_ask_leaves_nobody_waiting() -> None:
    for _ in range(20):
        runtime = ThreadRuntime(Layer.succeed(One, 1))
        is_busy = asyncio.Event()

        async def ask(runtime: ThreadRuntime[One] = runtime, is_busy: asyncio.Event = is_busy) -> bool:
            try:
                while await runtime.run(One.get()) == Success(1):
                    is_busy.set()
            except EffectInterrupted:
                return True
            return False

        askers = [asyncio.create_task(ask()) for _ in range(16)]
        await is_busy.wait()
        await asyncio.to_thread(runtime.close)
        assert all(await asyncio.wait_for(asyncio.gather(*askers), PATIENCE_SECONDS))


async def test_closing_ends_a_building_that_hangs() -> None:
    begun = threading.Event()

    @asynccontextmanager
    async def hang() -> AsyncGenerator[int]:
        begun.set()
        await anyio.sleep_forever()
        yield 1

    runtime = ThreadRuntime(Layer.scoped(One, hang))
    task = asyncio.create_task(runtime.run(One.get()))
    assert await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
    await asyncio.wait_for(asyncio.to_thread(runtime.close), PATIENCE_SECONDS)
    with pytest.raises(EffectInterrupted):
        await task


def test_a_task_of_trio_is_served_by_what_runs_on_asyncio() -> None:
    async def look() -> Success[str]:
        await asyncio.sleep(0)
        return Success(threading.current_thread().name)

    async def ask() -> object:
        async with ThreadRuntime(Layer.succeed(One, 1), name="一") as runtime:
            return await runtime.run(Effect.from_outcome(look))

    assert anyio.run(ask, backend="trio") == Success("一")


def test_one_that_was_left_is_closed_and_opens_anew_and_whole_but_not_twice_at_once() -> None:
    journal = Journal()
    runtime = ThreadRuntime(journal.layer(1))
    for _ in range(2):
        with runtime:
            assert journal[-1] == "a1"  # before the first effect
            with pytest.raises(RuntimeError, match="open already"):
                runtime.__enter__()
            assert runtime.run_blocking(One.get()) == Success(1)
    runtime.close()
    assert journal == ["a1", "r1", "a1", "r1"]
    with pytest.raises(EffectInterrupted):
        runtime.run_blocking(One.get())
    with pytest.raises(EffectInterrupted):
        asyncio.run(runtime.run(One.get()))


def test_who_waits_for_the_building_is_told_its_failure_and_the_next_effect_builds_anew() -> None:
    attempts: list[int] = []

    async def acquire() -> Success[int] | Failure[str]:
        attempts.append(1)
        await anyio.sleep(0.01)  # so that others wait for it
        return Failure("not yet") if len(attempts) == 1 else Success(1)

    with pytest.raises(EffectFailed, match="not yet"):
        ThreadRuntime(Layer.effect(One, Effect.fail("not yet"))).__enter__()
    runtime = ThreadRuntime(Layer.effect(One, Effect.from_outcome(acquire)))

    async def asked_at_once() -> list[object]:
        return await asyncio.gather(*(runtime.run(One.get()) for _ in range(3)), return_exceptions=True)

    failures = asyncio.run(asked_at_once())
    assert all(isinstance(failure, EffectFailed) for failure in failures), failures
    assert len(attempts) == 1
    assert runtime.run_blocking(One.get()) == Success(1)
    runtime.close()


def test_who_closes_is_told_when_the_release_fails() -> None:
    @asynccontextmanager
    async def fail_at_the_end() -> AsyncGenerator[int]:
        yield 1
        raise OSError("释放失败")

    runtime = ThreadRuntime(Layer.scoped(One, fail_at_the_end))
    runtime.run_blocking(One.get())
    with pytest.raises(OSError, match="释放失败"):
        runtime.close()
    runtime.close()


def test_effects_see_the_context_of_their_caller_and_may_wait() -> None:
    async def look() -> Success[str]:
        await anyio.lowlevel.checkpoint()
        return Success(CALLER.get())

    with ThreadRuntime(Layer.succeed(One, 1)) as runtime, ManagedRuntime(Layer.succeed(One, 1)) as here:
        CALLER.set("我")
        assert runtime.run_blocking(Effect.from_outcome(look)) == Success("我")
        ask = Effect.sync(lambda: runtime.run_blocking(Effect.from_outcome(look)))
        assert here.run_sync(ask) == Success(Success("我"))


def test_one_that_is_let_go_of_releases_its_layer() -> None:
    journal = Journal()
    runtime = ThreadRuntime(journal.layer(1))
    runtime.run_blocking(One.get())
    del runtime
    gc.collect()
    assert journal == ["a1", "r1"]


FORGETFUL = """
import asyncio, threading
from contextlib import asynccontextmanager, suppress
from chatmemory.effect import Effect, EffectInterrupted, Layer, Tag, ThreadRuntime

class Number(Tag[int]): ...

@asynccontextmanager
async def one():
    try:
        yield 1
    finally:
        await asyncio.sleep(0)
        print("released", flush=True)

async def wait():
    begun.set()
    await asyncio.Event().wait()

begun = threading.Event()
runtime = ThreadRuntime(Layer.scoped(Number, one))

def ask():
    with suppress(EffectInterrupted):
        runtime.run_blocking(Effect.from_outcome(wait))

threading.Thread(target=ask, daemon=True).start()
begun.wait()
"""


@for_each("end", ["", "raise SystemExit(3)", "raise ValueError"])
def test_a_program_that_leaves_without_closing_is_closed_at_its_end(end: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "always", "-c", FORGETFUL + end],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ended.stdout == "released\n"
    assert "ValueError" in ended.stderr if end == "raise ValueError" else not ended.stderr


def test_importing_it_loads_no_event_loop() -> None:
    program = "import sys; from chatmemory.effect import ThreadRuntime; print({'asyncio', 'anyio'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_that_was_forked_builds_for_itself() -> None:
    with ThreadRuntime(Layer.succeed(One, 1)) as runtime:
        child = os.fork()
        if child == 0:
            os._exit(0 if runtime.run_blocking(One.get()) == Success(1) else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert runtime.run_blocking(One.get()) == Success(1)


def test_ctrl_c_cancels_the_effect_that_a_thread_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Stop()
    with ThreadRuntime(Layer.succeed(One, 1)) as runtime:

        def interrupt(*_: object) -> None:
            assert stop.has_begun.wait(10)
            raise KeyboardInterrupt

        monkeypatch.setattr("concurrent.futures.Future.result", interrupt)
        with pytest.raises(KeyboardInterrupt):
            runtime.run_blocking(stop.effect)
        monkeypatch.undo()
        assert stop.has_ended.wait(10)
