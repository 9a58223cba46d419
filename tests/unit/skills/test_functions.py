"""Skills that are the user's own functions: what they may be, and what becomes of their faults."""

import asyncio
import threading
from collections.abc import Awaitable
from typing import Any, cast

import anyio

from chatmemory import Effect, Failure, Outcome, SkillRequest, Success
from chatmemory.errors import SkillExecutionError, SkillProblem
from chatmemory_layers.skills.functions import FunctionSkills, SkillFunction
from tests.for_each import for_each
from tests.unit.skills.test_transcript import message

REQUEST = SkillRequest((message("secret"),), 9)


async def run(function: object) -> Outcome[str, SkillExecutionError]:
    return await FunctionSkills({"mine": cast("SkillFunction", function)}).run("mine", REQUEST)


async def written_by_a_coroutine(request: SkillRequest) -> str:
    await anyio.lowlevel.checkpoint()
    return request.messages[0].content


def hands_on(request: SkillRequest) -> Awaitable[str]:
    return written_by_a_coroutine(request)


class Written:
    async def __call__(self, request: SkillRequest) -> str:
        return request.messages[0].content


@for_each(
    "function",
    [
        lambda request: request.messages[0].content,
        written_by_a_coroutine,
        hands_on,
        Written(),
        lambda request: Effect.succeed(request.messages[0].content),
    ],
)
async def test_a_skill_may_be_any_kind_of_function(function: object) -> None:
    assert await run(function) == Success("secret")


async def test_a_plain_function_does_not_hold_up_the_loop() -> None:
    proceed = threading.Event()
    outcome: list[object] = []

    def slow(_: SkillRequest) -> str:
        return "waited" if proceed.wait(5) else "held up"

    async def ask() -> None:
        outcome.append(await run(slow))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        proceed.set()
    assert outcome == [Success("waited")]


RATE_LIMITED = SkillExecutionError("mine", "rate_limited", retry_after_seconds=3)


class DatabaseError(Exception):
    pass


def raises(_: SkillRequest) -> str:
    raise DatabaseError("secret")


async def raises_later(_: SkillRequest) -> str:
    raise DatabaseError("secret")


async def cancels_itself(_: SkillRequest) -> str:
    raise asyncio.CancelledError  # and cancels nobody else


async def raises_ours(_: SkillRequest) -> str:
    return await cast("Effect[str, SkillExecutionError]", Effect.fail(RATE_LIMITED)).or_raise()


def failed(problem: SkillProblem, detail: str) -> SkillExecutionError:
    return SkillExecutionError("mine", problem, detail)


@for_each(
    ("function", "error"),
    [
        (raises, failed("raised", "DatabaseError")),
        (raises_later, failed("raised", "DatabaseError")),
        (lambda _: Effect.fail(DatabaseError("secret")), failed("raised", "DatabaseError")),
        (cancels_itself, failed("raised", "SelfCancelledError")),
        (raises_ours, RATE_LIMITED),
        (lambda _: Effect.fail(RATE_LIMITED), RATE_LIMITED),
        (lambda _: None, failed("malformed", "expected text, not NoneType")),
        (lambda _: b"text", failed("malformed", "expected text, not bytes")),
        (lambda _: ["text"], failed("malformed", "expected text, not list")),
        (lambda _: Effect.succeed(7), failed("malformed", "expected text, not int")),
    ],
)
async def test_a_skill_fails_in_our_terms_which_keep_an_exception_and_do_not_quote_it(
    function: object, error: SkillExecutionError
) -> None:
    outcome = await run(function)
    assert outcome == Failure(error)
    assert isinstance(outcome.failure().cause, DatabaseError) is (error.detail == "DatabaseError")
    assert "secret" not in f"{outcome.failure()} {outcome.failure()!r}"


async def test_an_unknown_skill_names_the_known_ones() -> None:
    two = cast("Any", {"b": raises, "a": raises})
    for known, told in ((two, "known: 'a', 'b'"), ({}, "known: none")):
        outcome = await FunctionSkills(known).run("c", REQUEST)
        assert outcome == Failure(SkillExecutionError("c", "unknown_skill", told))


async def test_cancelling_reaches_the_skill() -> None:
    reached = anyio.Event()
    ended: list[str] = []

    async def forever(_: SkillRequest) -> str:
        try:
            reached.set()
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")
        return "never"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, forever)
        await reached.wait()
        tasks.cancel_scope.cancel()
    assert ended == ["cancelled"]
