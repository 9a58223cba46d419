"""Whoever follows a conversation learns what is said in it, by whatever process, once and in order."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import anyio
import httpx
import pytest

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import ManagedRuntime
from chatmemory.programs.http.operations.events import PAGE, followed
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http.served import served
from tests.http_api import problem, said, wrong_places
from tests.patience import PATIENCE_SECONDS


class Event(NamedTuple):
    id: str | None
    event: str
    data: Any


async def read_events(lines: AsyncIterator[str]) -> AsyncGenerator[Event]:
    """Read a stream of events as a browser does; comments and the pause that is asked for are none."""
    fields: dict[str, str] = {}
    async for line in lines:
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
        elif not line and "data" in fields:
            yield Event(fields.get("id"), fields["event"], json.loads(fields["data"]))
            fields = {}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("followed") / "a.db"


@pytest.fixture(scope="module")
def url(store: Path) -> Generator[str]:
    """Where a real server listens: a stream needs a socket."""
    with served(store) as server:
        yield server.url


@pytest.fixture
def conversation_id(request: pytest.FixtureRequest) -> str:
    """One for each test."""
    return f"会/{request.node.name}"


@pytest.fixture
async def client(url: str, conversation_id: str) -> AsyncGenerator[httpx.AsyncClient]:
    """A client that stays in the conversation."""
    base_url = f"{url}conversations/{quote(conversation_id, safe='')}"
    async with httpx.AsyncClient(base_url=base_url, timeout=PATIENCE_SECONDS) as client:
        yield client


async def say(client: httpx.AsyncClient, *texts: str) -> None:
    (await client.post("/messages", json=said(*texts))).raise_for_status()


@asynccontextmanager
async def following(
    client: httpx.AsyncClient, last_event: str | None = None, **query: int
) -> AsyncGenerator[AsyncGenerator[Event]]:
    headers = {} if last_event is None else {"Last-Event-ID": last_event}
    stream = client.stream("GET", "/events", params=query, headers=headers)
    async with asyncio.timeout(PATIENCE_SECONDS), stream as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in answer.headers  # which would keep an event until more come
        events = read_events(answer.aiter_lines())
        yield events
        await events.aclose()


async def contents(events: AsyncGenerator[Event], count: int) -> list[str]:
    return [(await anext(events)).data["content"] for _ in range(count)]


async def test_what_is_said_from_now_on_arrives_in_order(client: httpx.AsyncClient) -> None:
    await say(client, "before")
    async with following(client) as events:
        await say(client, "你好", "two\nlines")
        first, second = await anext(events), await anext(events)
        assert (first.event, first.data["content"], second.data["content"]) == (
            "message",
            "你好",
            "two\nlines",
        )
        assert (first.id, second.id) == ("2", "3")
        page = (await client.get("/messages")).json()
        assert [first.data, second.data] == page["messages"][1:]


async def test_what_was_said_before_arrives_first_and_who_was_cut_off_goes_on_where_it_was(
    client: httpx.AsyncClient,
) -> None:
    said = [f"第 {number} 句" for number in range(2 * PAGE + 1)]  # more than is read at once
    await say(client, *said)
    async with following(client, newerThan=0) as events:
        assert await contents(events, len(said)) == said
    async with following(client, newerThan=len(said) - 2) as events:
        seen = (await anext(events)).id
    await say(client, "and then")
    async with following(client, seen, newerThan=0) as events:
        assert await contents(events, 2) == [said[-1], "and then"]


@pytest.mark.usefixtures("everybody")
async def test_what_another_process_says_arrives_and_a_clear_is_an_event_too(
    client: httpx.AsyncClient, store: Path, conversation_id: str
) -> None:
    await say(client, "one")
    async with following(client) as events, ManagedRuntime(stacks.embedded(store)) as other:
        elsewhere = await other.service(ChatMemoryService)
        await elsewhere.add_messages(conversation_id, [NewMessage("assistant", "from elsewhere")]).or_raise()
        assert await contents(events, 1) == ["from elsewhere"]
        await client.delete("/messages")
        assert (await anext(events)).event == "cleared"
        await say(client, "anew")
        assert await contents(events, 1) == ["anew"]


async def test_every_change_arrives_as_it_is_committed_and_who_was_cut_off_misses_none(
    url: str, client: httpx.AsyncClient, conversation_id: str
) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_SECONDS) as whole:
        async with following(whole) as events:
            await say(client, "geheim")
            await client.delete("/messages")
            added, cleared = await anext(events), await anext(events)
            told = [(one.event, one.data["action"], one.data["target"]) for one in (added, cleared)]
            assert told == [("change", action, conversation_id) for action in ("added", "cleared")]
            assert "geheim" not in str(added)
        page = (await whole.get("/changes", params={"since": added.data["cursor"]})).json()
        assert page["events"] == [cleared.data]
        async with following(whole, added.id) as events:
            assert (await anext(events)).data == cleared.data


async def test_nobody_follows_what_is_not_there_and_the_head_of_a_stream_ends(
    client: httpx.AsyncClient,
) -> None:
    unknown = await client.get("/events")
    assert problem(unknown) == "404 ConversationNotFoundError"
    wrong = await client.get("/events", headers={"Last-Event-ID": "x"})
    assert wrong.json()["problems"][0]["path"] == "$.headers.Last-Event-ID"
    await say(client, "one")
    assert (await client.head("/events")).headers["content-type"].startswith("text/event-stream")
    assert (await client.get("/messages")).status_code == 200  # the connection is free again


async def test_a_stream_is_kept_by_comments_and_ends_when_the_server_is_about_to_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HEARTBEAT_SECONDS", "PAUSE_SECONDS"):
        monkeypatch.setattr(f"chatmemory.programs.http.operations.events.{name}", 0.0)
    closing = anyio.Event()
    async with ManagedRuntime(stacks.testing()) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("c", [NewMessage("user", "one")]).or_raise()
        events = await followed(memory, "c", newer_than=0, closing=closing).or_raise()
        assert await anext(events) == "retry: 1000\n\n"
        assert "one" in await anext(events)
        assert await anext(events) == ": still here\n\n"
        closing.set()
        assert [event async for event in events] == []


@for_each("number", [-1, 10**18 - 1])
@for_each("headers", [{}, {"Last-Event-ID": "1"}])
async def test_a_number_that_no_message_can_have_is_no_beginning(
    client: httpx.AsyncClient, number: int, headers: dict[str, str]
) -> None:
    await say(client, "one")
    answer = await client.get("/events", params={"newerThan": number}, headers=headers)
    assert wrong_places(answer) == ["$.query.newerThan"]  # a stream would end, again and again
