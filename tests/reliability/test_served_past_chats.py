"""Past chats in a program with an event loop: in a thread of their own, over a file that comes, goes and changes."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from attrs import evolve

from chatmemory.effect import EffectInterrupted, ManagedRuntime
from chatmemory.errors import EmbeddingError, GenericMemoryError
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.contract import PastChats, PastChatsService
from chatmemory.pastchats.finding.prompt_hits import PromptSearchResult
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.server.served_past_chats import THREAD_NAME, served_past_chats
from tests.embeddings_endpoint import embeddings
from tests.http_server import HttpServer, Reply, Request, http_server
from tests.indexed import open_index, role_list
from tests.past_chats_command import Agent
from tests.reliability.store import reason_of

LOCKED = (("user", "数据库被锁住了怎么办？"), ("assistant", "开启 WAL 模式，并设置 busy_timeout。"))
RETRIES = (("user", "How should webhook retries work?"), ("assistant", "With exponential backoff."))
HASHED = EmbeddingSettings(provider="hashed")


def endpoint(server: HttpServer) -> EmbeddingSettings:
    return EmbeddingSettings(provider="openai_compatible", base_url=server.url, model="small")


@asynccontextmanager
async def serving(path: Path, embedding: EmbeddingSettings = HASHED) -> AsyncGenerator[PastChats]:
    # The SQLite of open_index: two of them in one process take each other's locks away.
    settings = PastChatsSettings(path=str(path), use_sqlite_vec=False)
    async with ManagedRuntime(served_past_chats(settings, embedding)) as runtime:
        yield await runtime.service(PastChatsService)


def make_index(folder: Path, *turns: tuple[str, str]) -> Path:
    """Index one session, and return the file."""
    folder.mkdir()
    with open_index(folder) as indexed:
        indexed.write("session.jsonl", *turns)
        indexed.index()
    return indexed.database


def texts_of(found: PromptSearchResult) -> list[str]:
    return [hit.prompt.content for hit in found.hits]


async def texts(chats: PastChats, query: str = "怎么办 webhook") -> list[str]:
    return texts_of((await chats.search(query)).unwrap())


async def problem(chats: PastChats) -> str:
    return reason_of(await chats.statistics()).problem


async def test_an_index_that_comes_later_is_found_a_damaged_one_told_one_lost_missed(tmp_path: Path) -> None:
    path = tmp_path / "past.db"
    async with serving(path) as chats:
        assert await problem(chats) == "missing"
        path.touch()  # somebody has begun to make it
        assert await problem(chats) == "missing"
        make_index(tmp_path / "a", *LOCKED).replace(path)
        assert await texts(chats) == [text for _, text in LOCKED]
        make_index(tmp_path / "b", *RETRIES).replace(path)
        assert set(await texts(chats)) == {text for _, text in RETRIES}
        path.unlink()
        assert await problem(chats) == "missing"
    damaged = make_index(tmp_path / "c", *LOCKED)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: -8 * 1024])
    async with serving(damaged) as chats:
        assert await problem(chats) == "damaged"
        damaged.write_bytes(whole)
        assert len(await texts(chats)) == 2


async def test_what_another_process_indexes_meanwhile_is_found_again_and_again(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    histories = tmp_path / "histories"
    histories.mkdir()
    settings = PastChatsSettings(path=str(agent.db))
    async with ManagedRuntime(served_past_chats(settings)) as runtime:
        chats = await runtime.service(PastChatsService)
        for number in range(2):
            question = f"question {number} about the lighthouse 灯塔"
            chat = role_list([("user", question), ("assistant", f"answer {number}")])
            (histories / f"{number}.json").write_text(chat, encoding="utf-8")
            await asyncio.to_thread(agent.answer, f"pastchats-memory index {histories}")
            for mode in ("lexical", "hybrid"):
                found = (await chats.search("灯塔 lighthouse", mode=mode)).unwrap()
                assert question in texts_of(found)
            assert (await chats.statistics()).unwrap().conversations == number + 1
            assert len((await chats.conversations()).unwrap().conversations) == number + 1
        assert not hasattr(chats, "forget")  # what the contract lacks is missing at once, not in the thread
        await asyncio.to_thread(agent.answer, "pastchats-memory forget --role user --role assistant --yes")
        assert texts_of((await chats.search("灯塔 lighthouse")).unwrap()) == []


class Reader:
    """Takes an export, and holds the thread of past chats at its first turn until it is released."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.released = threading.Event()
        self.taken: list[str] = []

    def take(self, _: JsonObject) -> None:
        self.taken.append(threading.current_thread().name)
        self.has_begun.set()
        assert self.released.wait(10)


async def test_the_event_loop_goes_on_and_callers_wait_for_their_turn(tmp_path: Path) -> None:
    async with serving(make_index(tmp_path / "a", *LOCKED)) as chats:
        reader = Reader()
        export = asyncio.ensure_future(chats.export(to=reader.take))
        await asyncio.to_thread(reader.has_begun.wait)  # the loop is here while the thread is held
        waiting = asyncio.ensure_future(texts(chats))
        await asyncio.sleep(0)
        assert not waiting.done()
        reader.released.set()
        assert len(await waiting) == 2
        assert (await export).unwrap() == 2
        assert set(reader.taken) == {THREAD_NAME}


async def test_a_caller_who_is_cancelled_leaves_nothing_locked_and_spoils_no_opening(tmp_path: Path) -> None:
    path = make_index(tmp_path / "a", *LOCKED)
    async with serving(path) as chats:
        held, queued = Reader(), Reader()
        readers = [held, *[queued] * 50]
        running = [asyncio.ensure_future(chats.export(to=reader.take)) for reader in readers]
        await asyncio.to_thread(held.has_begun.wait)
        for task in running:
            task.cancel()
        await asyncio.sleep(0)  # they are told while the thread is held; what it has begun it ends first
        held.released.set()
        ends = await asyncio.gather(*running, return_exceptions=True)
        assert {type(end) for end in ends} == {asyncio.CancelledError}
        assert len(await texts(chats)) == 2
        assert queued.taken == []
    for turns_of_the_loop in range(1, 6):
        async with serving(path) as chats:
            opening = asyncio.ensure_future(chats.statistics())
            for _ in range(turns_of_the_loop):
                await asyncio.sleep(0)
            opening.cancel()
            assert len(await texts(chats)) == 2


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted as Linux shows them")
async def test_its_thread_and_its_files_go_with_the_layer(tmp_path: Path) -> None:
    path = make_index(tmp_path / "a", *LOCKED)
    async with serving(path) as chats:
        assert len(await texts(chats)) == 2
        make_index(tmp_path / "b", *RETRIES).replace(path)
        assert len(await texts(chats)) == 2
        assert len([name for name in open_files() if name.startswith(str(path))]) > 0
    assert [name for name in open_files() if name.startswith(str(tmp_path))] == []
    assert THREAD_NAME not in {thread.name for thread in threading.enumerate()}


def open_files() -> list[str]:
    return [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]


async def test_an_endpoint_for_vectors_is_asked_from_there_or_told_as_wrong(tmp_path: Path) -> None:
    path = make_index(tmp_path / "a", *LOCKED)
    async with http_server(embeddings([0.6, 0.8])) as server:
        async with serving(path, endpoint(server)) as chats:
            found = await asyncio.gather(*(texts(chats, "数据库") for _ in range(5)))
        assert len(server.requests) == 5
        assert all("数据库被锁住了怎么办？" in each for each in found)
    async with serving(path, EmbeddingSettings(provider="openai_compatible", base_url="nonsense")) as chats:
        error = (await chats.statistics()).failure()
        assert isinstance(error, GenericMemoryError)
        assert isinstance(error.reason, EmbeddingError)
        assert (error.reason.problem, "baseUrl" in str(error)) == ("not_configured", True)


@asynccontextmanager
async def silent_endpoint() -> AsyncGenerator[tuple[EmbeddingSettings, asyncio.Event]]:
    """Give an embedder that never answers, and the event that it was asked."""
    is_asked = asyncio.Event()

    def say_nothing(_: Request) -> Reply:
        is_asked.set()
        return Reply(misbehaviour="hang")

    async with http_server(say_nothing) as server:
        yield evolve(endpoint(server), timeout_seconds=60, max_retries=0), is_asked


async def test_an_endpoint_that_says_nothing_holds_up_who_asks_it_alone(tmp_path: Path) -> None:
    path = make_index(tmp_path / "a", *LOCKED)
    async with silent_endpoint() as (embedding, is_asked), serving(path, embedding) as chats:
        asking = asyncio.ensure_future(texts(chats))
        await is_asked.wait()
        assert len((await chats.conversations()).unwrap().conversations) == 1
        # Its file may even be replaced: the one that is asked stays open for whoever still waits for it.
        make_index(tmp_path / "b", *RETRIES).replace(path)
        assert (await chats.statistics()).unwrap().prompts == 2
        assert not asking.done()
        asking.cancel()
    path = make_index(tmp_path / "c", *LOCKED)
    async with silent_endpoint() as (embedding, is_asked):
        settings = PastChatsSettings(path=str(path), use_sqlite_vec=False)
        async with ManagedRuntime(served_past_chats(settings, embedding)) as runtime:
            searching = PastChatsService.use(lambda chats: chats.search("锁"))
            waiting = asyncio.ensure_future(runtime.run(searching))
            await is_asked.wait()
        assert isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], EffectInterrupted)
    assert THREAD_NAME not in {thread.name for thread in threading.enumerate()}
