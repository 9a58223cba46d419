"""A write that is repeated with its ``Idempotency-Key`` happens once, and its first answer is given again."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, final

import anyio.lowlevel
import httpx
import pytest
from attrs import frozen

from chatmemory.effect import Effect, Layer, Outcome, Success
from chatmemory.effect.services.clock import TestClock
from chatmemory.errors import RepositoryError
from chatmemory.input.first_answers import FirstAnswers, FirstAnswersTag, Recorded, RequestKey
from chatmemory.programs.http.operations.every_operation import OPERATIONS
from chatmemory.settings.server_settings import ServerSettings, TokenSettings
from chatmemory_layers import stacks
from tests.empty_store import copied_store
from tests.for_each import for_each
from tests.http_api import api, problem, said, wrong_places

KEY: Final = {"Idempotency-Key": "7b0c1f52-9a9e-4b57-8f0e-0d8a2f6c1e11"}
OTHER: Final = {"Idempotency-Key": "another"}


class Write(NamedTuple):
    """A write, what is there before, and what somebody else writes before it is repeated."""

    operation: str
    method: str
    path: str
    body: Any = None
    before: tuple["Write", ...] = ()
    between: "Write | None" = None


def fact(content: str, **more: Any) -> Write:
    memory = {"id": "m", "content": content, **more}
    return Write("remember", "POST", "/memories", {"memories": [memory], "dedup": "none"})


def corrected(content: str) -> Write:
    return Write("update_memory", "PATCH", "/memories/m", {"content": content})


ADD: Final = Write("add_messages", "POST", "/conversations/c/messages", said("你好", "hi"))
TEA, LATE = fact("我喜欢绿茶", sessionId="s"), fact("我喜欢咖啡", id="late", sessionId="s")
SHORT: Final = fact("said in passing", sessionId="s", memoryType="short_term")
TURN: Final = {"userContent": "今天天气好", "assistantContent": "是的", "sessionId": "s", "dedup": "none"}
NEWER: Final = Write(
    "supersede_memory", "POST", "/memories/m/supersede", {"memory": {"content": "我喜欢红茶"}}
)
CLEAR: Final = Write("clear_messages", "DELETE", "/conversations/c/messages")
NAME: Final = Write("put_value", "PUT", "/values/name", {"value": "Bo"})

WRITES: Final = (
    ADD._replace(between=ADD._replace(body=said("再见"))),
    Write("fork_conversation", "POST", "/conversations/c/fork", {"newId": "d"}, (ADD,), ADD),
    CLEAR._replace(before=(ADD,), between=ADD),
    Write("undo_conversation", "POST", "/conversations/c/undo", {}, (ADD, ADD)),
    TEA._replace(between=corrected("我不喝茶")),
    Write("record_use", "POST", "/memories/uses", {"memoryIds": ["m"]}, (TEA,)),
    Write("save_turn", "POST", "/memories/turn", TURN, (), LATE),
    Write("auto_save", "POST", "/memories/auto-save", {"content": "I live in Berlin."}, (), LATE),
    Write("forget_where", "POST", "/memories/forget", {"sessionId": "s"}, (TEA,), LATE),
    Write("forget_all", "POST", "/memories/forget-all", {}, (TEA,), LATE),
    corrected("我喜欢白茶")._replace(before=(TEA,), between=corrected("我不喝茶")),
    Write("forget_memory", "DELETE", "/memories/m", None, (TEA,), LATE),
    NEWER._replace(before=(TEA,), between=LATE),
    Write("restore_memory", "POST", "/memories/m/restore", {}, (TEA, NEWER), NEWER),
    Write("promote_memory", "POST", "/memories/m/promote", {}, (SHORT,), corrected("我不喝茶")),
    Write("end_session", "POST", "/sessions/s/end", {}, (SHORT,), fact("later", id="late", sessionId="s")),
    Write("pin_memory", "PUT", "/memories/m/pin", {"pinned": True}, (TEA,), corrected("我不喝茶")),
    Write("undo_memory", "POST", "/memories/m/undo", {}, (TEA, corrected("1"), corrected("2"))),
    NAME._replace(body={"value": "Al"}, between=NAME),
    Write("delete_value", "DELETE", "/values/name", None, (NAME,), NAME),
)


@pytest.fixture
async def durable(tmp_path: Path) -> AsyncGenerator[tuple[Layer[Any, Any], ...]]:
    async with copied_store() as dsn:
        yield stacks.embedded(tmp_path / "agent.db"), stacks.postgres(dsn)


async def ask(client: httpx.AsyncClient, write: Write, headers: Any = None) -> httpx.Response:
    answer = await sent(client, write, headers)
    assert answer.is_success, (write.operation, answer.text)
    return answer


async def sent(client: httpx.AsyncClient, write: Write, headers: Any = None) -> httpx.Response:
    return await client.request(write.method, write.path, json=write.body, headers=headers)


async def stored(client: httpx.AsyncClient) -> Any:
    """Return everything that writes change."""
    paths = ("/conversations", "/conversations/c/messages", "/memories", "/memories/m/history", "/values")
    return [(await client.get(path)).text for path in paths]


async def prepared(client: httpx.AsyncClient, write: Write) -> dict[str, str]:
    """Leave nothing in the store but what is there before *write*, and return a new key."""
    await client.post("/memories/forget-all", json={})
    for name in "cd":
        await client.delete(f"/conversations/{name}/messages")
    for earlier in write.before:
        await ask(client, earlier)
    return {"Idempotency-Key": f"{write.operation}-{id(client)}"}


def test_each_operation_that_writes_is_among_them() -> None:
    assert {write.operation for write in WRITES} == {one.name for one in OPERATIONS if one.changes}


async def test_each_write_that_is_repeated_gets_the_first_answer_and_changes_nothing(
    durable: tuple[Layer[Any, Any], ...],
) -> None:
    wrong: list[tuple[str, str, str]] = []
    for stack in (stacks.testing(), *durable):
        async with api(stack) as client:
            for write in WRITES:
                key = await prepared(client, write)
                first = await ask(client, write, key)
                if write.between is not None:
                    await ask(client, write.between)
                before = await stored(client)
                again = await ask(client, write, key)
                told = [(one.status_code, one.headers.get("etag"), one.content) for one in (first, again)]
                if told[0] != told[1] or await stored(client) != before:
                    wrong.append((write.operation, first.text, again.text))
    assert wrong == []


@final
@frozen
class Around:
    """First answers that take a moment to be read, or are not stored, as if the program had ended after each write.

    Or they were read before another program stored them.
    """

    answers: FirstAnswers
    is_interrupted: bool = False
    is_early: bool = False

    def read(self, key: RequestKey, /) -> Effect[Recorded | None, RepositoryError]:
        async def read() -> Outcome[Recorded | None, RepositoryError]:
            found = await self.answers.read(key)
            await anyio.lowlevel.checkpoint()
            return Success(None) if self.is_early else found

        return Effect.from_outcome(read)

    def keep(self, key: RequestKey, answer: str, /) -> Effect[Recorded, RepositoryError]:
        ended = RepositoryError("store the first answer", "busy")
        return Effect.fail(ended) if self.is_interrupted else self.answers.keep(key, answer)


def around(
    stack: Layer[Any, Any], *, is_interrupted: bool = False, is_early: bool = False
) -> Layer[Any, Any]:
    answers = Effect.service(FirstAnswersTag).map(lambda answers: Around(answers, is_interrupted, is_early))
    return stack.feed_keep(Layer.effect(FirstAnswersTag, answers, needs=[FirstAnswersTag]))


@pytest.mark.parametrize(
    ("first_program", "second_program"),
    [({"is_interrupted": True}, {}), ({}, {"is_early": True})],
    ids=["the first ended before its answer", "both at once"],
)
async def test_a_request_that_two_programs_do_is_done_once(
    durable: tuple[Layer[Any, Any], ...], first_program: dict[str, bool], second_program: dict[str, bool]
) -> None:
    wrong: list[tuple[str, str]] = []
    for stack in durable:
        async with api(around(stack, **first_program)) as one, api(around(stack, **second_program)) as client:
            for write in WRITES:
                key = await prepared(client, write)
                first = await sent(one, write, key)
                assert first.status_code == 503 if first_program else first.is_success, first.text
                before = await stored(client)
                answers = [await sent(client, write, key) for _ in range(2)]
                told = {answer.text for answer in (answers if first_program else [first, *answers])}
                if not answers[0].is_success or len(told) > 1 or await stored(client) != before:
                    wrong.append((write.operation, answers[0].text))
    assert wrong == []


async def test_a_second_request_waits_for_the_first() -> None:
    async with api(around(stacks.testing())) as client:
        answers = await asyncio.gather(*(ask(client, ADD, KEY) for _ in range(8)))
        assert len({answer.text for answer in answers}) == 1
        assert (await client.get("/conversations/c")).json()["messageCount"] == 2


async def test_an_answer_is_stored_for_a_week(tmp_path: Path) -> None:
    week = 7 * 24 * 60 * 60
    async with copied_store() as dsn:
        for make in (
            stacks.testing,
            partial(stacks.embedded, tmp_path / "agent.db"),
            partial(stacks.postgres, dsn),
        ):
            clock = TestClock()
            async with api(make(clock=clock)) as client:
                first = await ask(client, ADD, KEY)
                await clock.advance(week - 1)
                assert (await ask(client, ADD, KEY)).text == first.text
                await clock.advance(1)
                assert len((await ask(client, ADD._replace(body=said("再见")), KEY)).json()["stored"]) == 1


async def test_an_answer_is_forgotten_with_the_memory_whose_words_it_has(
    durable: tuple[Layer[Any, Any], ...],
) -> None:
    correction = corrected("我喜欢白茶")
    for stack in (stacks.testing(), *durable):
        async with api(stack) as client:
            await ask(client, TEA)
            await ask(client, correction, KEY)
            await ask(client, Write("forget_memory", "DELETE", "/memories/m"), OTHER)
            again = await sent(client, correction, KEY)
            assert problem(again) == "404 MemoryNotFoundError"
            await ask(client, fact("my cat is 咪咪", attribute="pet:咪咪"))
            newer = fact("咪咪 is gone", attribute="pet:咪咪", id="newer", createdAt="2999-01-01T00:00:00Z")
            assert "pet:咪咪" in (await ask(client, newer, KEY)).text
            await ask(client, Write("forget_memory", "DELETE", "/memories/m"))
            assert "pet:咪咪" not in (await ask(client, newer, KEY)).text


async def test_one_key_means_one_request(client: httpx.AsyncClient) -> None:
    others = (
        (ADD, ADD._replace(body=said("你好")), ADD._replace(body=said("再见"))),
        (TEA, fact("我有一只猫"), TEA._replace(body={**TEA.body, "dedup": "exact"})),
    )
    for write, *different in others:
        first = await ask(client, write, KEY)
        for other in different:
            refused = await sent(client, other, KEY)
            assert problem(refused) == "422 IdempotencyKeyReusedError"
        refused = await sent(client, write, {**KEY, "If-Match": '"77"'})
        assert refused.status_code == 422, refused.text
        assert (await ask(client, write, KEY)).text == first.text
    elsewhere = ADD._replace(path="/conversations/另一个/messages")
    assert len((await ask(client, elsewhere, KEY)).json()["stored"]) == 2


async def test_a_request_that_was_wrong_leaves_its_key_free(client: httpx.AsyncClient) -> None:
    refused = await client.post(ADD.path, json=said("nul \0"), headers=KEY)
    assert problem(refused) == "422 DataValidationError"
    assert len((await ask(client, ADD, KEY)).json()["stored"]) == 2


@for_each("key", ["", "a b", "x" * 256, "é"])
async def test_a_key_that_is_none_is_refused(client: httpx.AsyncClient, key: str) -> None:
    headers = [(b"Idempotency-Key", key.encode("latin-1"))]
    answer = await client.post("/memories", json=TEA.body, headers=headers)
    assert wrong_places(answer) == ["$.headers.Idempotency-Key"]


@pytest.mark.parametrize("in_memory", [True, False])
async def test_a_token_gets_no_answer_that_another_one_was_given(tmp_path: Path, in_memory: bool) -> None:
    both, writer = "the-token-for-both-rights", "the-token-of-a-writer"
    tokens = {
        "both": TokenSettings(token=both, user="ada"),
        "writer": TokenSettings(token=writer, user="ada", rights=("read", "write")),
    }
    stack = stacks.testing() if in_memory else stacks.embedded(tmp_path / "a.db")
    async with api(stack, ServerSettings(tokens=tokens), token=both) as client:
        for write in (ADD, CLEAR):
            await ask(client, write, KEY)
        refused = await sent(client, CLEAR, {**KEY, "Authorization": f"Bearer {writer}"})
        assert refused.status_code == 404, refused.text
        await ask(client, ADD)
        refused = await sent(client, CLEAR, {**KEY, "Authorization": f"Bearer {writer}"})
        assert refused.status_code == 403, refused.text
