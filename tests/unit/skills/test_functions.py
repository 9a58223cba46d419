"""Skills that are the user's own functions: what they may be, and what becomes of their faults."""

import asyncio
import threading
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Any, cast

import anyio
import pytest

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.skill_runner import SkillRequest
from chatmemory.effect import Effect, Failure, Outcome, Success
from chatmemory.errors import SkillExecutionError
from chatmemory_layers.skills.functions import FunctionSkills, SkillFunction

REQUEST = SkillRequest(
    (ChatMessage(id="m", seq=1, role="user", content="secret", timestamp=datetime(2026, 3, 1, tzinfo=UTC)),),
    9,
)


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


@pytest.mark.parametrize(
    "function",
    [
        lambda request: request.messages[0].content,
        written_by_a_coroutine,
        hands_on,
        Written(),
        lambda request: Effect.succeed(request.messages[0].content),
    ],
    ids=["function", "coroutine function", "function that returns a coroutine", "object", "effect"],
)
async def test_a_skill_may_be_any_kind_of_function(function: object) -> None:
    assert await run(function) == Success("secret")


async def test_a_plain_function_does_not_hold_up_the_loop() -> None:
    proceed = threading.Event()

    def slow(_: SkillRequest) -> str:
        return "waited" if proceed.wait(5) else "held up"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.lowlevel.checkpoint)
        outcome: list[object] = []

        async def ask() -> None:
            outcome.append(await run(slow))

        tasks.start_soon(ask)
        await anyio.lowlevel.checkpoint()
        proceed.set()
    assert outcome == [Success("waited")]


class DatabaseError(Exception):
    pass


def raises(_: SkillRequest) -> str:
    raise DatabaseError("secret")


async def raises_later(_: SkillRequest) -> str:
    raise DatabaseError("secret")


@pytest.mark.parametrize("function", [raises, raises_later, lambda _: Effect.fail(DatabaseError("secret"))])
async def test_an_exception_is_a_typed_failure_that_keeps_it_and_does_not_quote_it(function: object) -> None:
    outcome = await run(function)
    assert outcome == Failure(SkillExecutionError("mine", "raised", "DatabaseError"))
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.failure().cause, DatabaseError)
    assert "secret" not in f"{outcome.failure()} {outcome.failure()!r}"


async def cancels_itself(_: SkillRequest) -> str:
    raise asyncio.CancelledError


async def test_a_skill_that_cancels_itself_has_failed_and_cancels_nobody_else() -> None:
    assert await run(cancels_itself) == Failure(SkillExecutionError("mine", "raised", "SelfCancelledError"))


RATE_LIMITED = SkillExecutionError("mine", "rate_limited", retry_after_seconds=3)


async def raises_ours(_: SkillRequest) -> str:
    return await cast("Effect[str, SkillExecutionError]", Effect.fail(RATE_LIMITED)).or_raise()


@pytest.mark.parametrize("function", [lambda _: Effect.fail(RATE_LIMITED), raises_ours])
async def test_a_failure_in_our_terms_stays_as_it_is(function: object) -> None:
    assert await run(function) == Failure(RATE_LIMITED)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(None, "NoneType"), (b"text", "bytes"), (["text"], "list"), (Effect.succeed(7), "int")],
)
async def test_anything_but_text_is_malformed(answer: object, kind: str) -> None:
    assert await run(lambda _: answer) == Failure(
        SkillExecutionError("mine", "malformed", f"expected text, not {kind}")
    )


async def test_an_unknown_skill_names_the_known_ones() -> None:
    known = cast("Any", {"b": raises, "a": raises})
    assert await FunctionSkills(known).run("c", REQUEST) == Failure(
        SkillExecutionError("c", "unknown_skill", "known: 'a', 'b'")
    )
    assert await FunctionSkills({}).run("c", REQUEST) == Failure(
        SkillExecutionError("c", "unknown_skill", "known: none")
    )


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

        async def ask() -> None:
            waiting: Awaitable[object] = run(forever)
            await waiting

        tasks.start_soon(ask)
        await reached.wait()
        tasks.cancel_scope.cancel()
    assert ended == ["cancelled"]
