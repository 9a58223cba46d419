"""Large texts: pages end earlier and lead on, answers are whole, and what takes long leaves the event loop free."""

import json
from pathlib import Path
from threading import get_ident
from typing import Any
from urllib.parse import quote

import httpx

from chatmemory.effect import Effect
from chatmemory.programs.http.large_answers import MOST_CHARACTERS
from chatmemory.text.long_work import in_worker_thread
from chatmemory_layers import stacks
from tests.http_api import api, said
from tests.indexed import open_index

LARGE = "tea " * (MOST_CHARACTERS // 20)  # a fifth of an answer, and less than a body may have
COUNT = 10
JSON = {"Content-Type": "application/json"}


def body(value: Any) -> bytes:
    """Return JSON of a text that stays below a million bytes."""
    return json.dumps(value, ensure_ascii=False).encode()


async def walk(client: httpx.AsyncClient, path: str, kind: str, cursor: str, after: str) -> list[list[str]]:
    """Return the beginnings of the texts of each page, following *cursor* as *after*."""
    pages: list[list[str]] = []
    parameters: dict[str, str] = {"newerThan": "0"} if kind == "messages" else {}
    while True:
        page = (await client.get(path, params=parameters)).json()
        if not page[kind]:
            return pages
        pages.append([one["content"][:2] for one in page[kind]])
        if page[cursor] is None:
            return pages
        parameters = {after: page[cursor]}


async def test_a_page_of_large_memories_ends_earlier_and_leads_on_and_a_recall_says_what_it_leaves_out(
    client: httpx.AsyncClient,
) -> None:
    for number in range(COUNT):
        saved = {"memories": [{"content": f"{number} {LARGE}"}]}
        await client.post("/memories", content=body(saved), headers=JSON)
    pages = await walk(client, "/memories", "memories", "next", "after")
    assert [len(page) for page in pages] == [4, 4, 2]
    assert sorted(text for page in pages for text in page) == [f"{number} " for number in range(COUNT)]
    found = (await client.post("/memories/recall", json={"query": "tea", "limit": COUNT})).json()
    assert len(found["hits"]) == 4
    assert "6 of 10 hits are left out" in found["reason"]


async def test_a_page_of_large_messages_ends_earlier_and_leads_on(client: httpx.AsyncClient) -> None:
    for number in range(COUNT):
        await client.post("/conversations/c/messages", content=body(said(f"{number} {LARGE}")), headers=JSON)
    newest = (await client.get("/conversations/c/messages")).json()
    assert [one["content"][:2] for one in newest["messages"]] == ["6 ", "7 ", "8 ", "9 "]
    older = {"olderThan": newest["older"]}
    before = (await client.get("/conversations/c/messages", params=older)).json()
    assert [one["content"][:2] for one in before["messages"]] == ["2 ", "3 ", "4 ", "5 "]
    pages = await walk(client, "/conversations/c/messages", "messages", "newer", "newerThan")
    assert [text for page in pages for text in page] == [f"{number} " for number in range(COUNT)]


async def test_a_page_of_large_past_turns_ends_earlier_and_a_search_says_what_it_leaves_out(
    tmp_path: Path,
) -> None:
    with open_index(tmp_path) as indexed:
        indexed.write("session.jsonl", *(("user", f"{number} {LARGE}") for number in range(COUNT)))
        indexed.index()
    async with api(stacks.testing(), past_chats=indexed.database) as past:
        (one,) = (await past.get("/past-chats/conversations")).json()["conversations"]
        path = f"/past-chats/conversations/{quote(one['conversationId'], safe='')}"
        pages = await walk(past, path, "turns", "next", "newerThan")
        assert [len(page) for page in pages] == [4, 4, 2]
        assert [text for page in pages for text in page] == [f"{number} " for number in range(COUNT)]
        found = (await past.post("/past-chats/search", json={"query": "tea", "limit": COUNT})).json()
        assert len(found["hits"]) == 4
        assert "6 of 10 hits are left out" in found["reason"]
        assert f"{found['hits'][0]['prompt']['conversationId']} after " in found["reason"]


async def test_long_work_runs_in_another_thread_one_at_a_time() -> None:
    running: list[int] = []

    def work() -> tuple[int, int]:
        running.append(1)
        most = len(running)
        running.pop()
        return get_ident(), most

    done = await Effect.all([in_worker_thread(work) for _ in range(20)], concurrency=20).or_raise()
    assert get_ident() not in {thread for thread, _ in done}
    assert {most for _, most in done} == {1}


def test_long_work_runs_here_without_an_event_loop() -> None:
    assert in_worker_thread(get_ident).run_sync().unwrap() == get_ident()
