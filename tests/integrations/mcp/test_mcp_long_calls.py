"""A call that takes long: its client is told how far it is, may give it up, and gets an answer before hosts lose patience."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Never

import anyio
import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'chatmemory-effect[mcp]'")

from mcp import Client

from chatmemory.effect import Effect, Layer, ManagedRuntime, Success
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.pastchats.contract import PastChatsIndexService
from chatmemory.pastchats.past_chats import IndexProgress, IndexRequest
from chatmemory.programs.mcp.indexing import LONGEST_SECONDS
from chatmemory.programs.mcp.server import memory_server
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.server.served_index import ServedIndex
from chatmemory_layers.stacks.past_chats import OFFLINE
from tests.integrations.mcp.mcp_clients import OWNER, over_stdio, told, write_histories
from tests.patience import PATIENCE_SECONDS

FILES = 40


class Endless:
    """An index that says how far it is, unless it is 0 of 0, and goes on until somebody stops it."""

    def __init__(self, files_done: int = 3, files: int = 10, turns: int = 7) -> None:
        self.progress = IndexProgress(files_done=files_done, files=files, turns=turns, source="a.jsonl")
        self.has_begun = anyio.Event()
        self.has_ended = anyio.Event()

    def index(
        self, request: IndexRequest, /, *, on_progress: Callable[[IndexProgress], None]
    ) -> Effect[Any, Never]:
        async def run() -> Any:
            if self.progress.files:
                on_progress(self.progress)
            self.has_begun.set()
            try:
                await anyio.sleep_forever()
            finally:
                self.has_ended.set()

        return Effect.from_outcome(run)


@asynccontextmanager
async def endless_server(index: Endless, clock: TestClock) -> AsyncGenerator[Client]:
    layer: Any = Layer.mock(PastChatsIndexService, index=index.index) | Layer.succeed(ClockTag, clock)
    async with ManagedRuntime(layer) as runtime, Client(memory_server(runtime, lambda _: OWNER)) as client:
        yield client


class Heard:
    """What a client was told while it waited."""

    def __init__(self) -> None:
        self.all: list[tuple[float, float | None, str | None]] = []
        self.first = anyio.Event()

    async def note(self, progress: float, total: float | None, message: str | None) -> None:
        self.all.append((progress, total, message))
        self.first.set()


async def test_a_client_is_told_how_far_the_indexing_is(tmp_path: Path) -> None:
    folder, heard = write_histories(tmp_path / "对话", FILES), Heard()
    async with over_stdio(tmp_path, "--allow-index", str(folder)) as client:
        asked = {"paths": [str(folder)], "format": "claude_code"}
        result = await client.call_tool("index_paths", asked, progress_callback=heard.note)
    done = [progress for progress, _, _ in heard.all]
    assert not result.is_error
    assert done == sorted(set(done)), "the protocol wants numbers that grow"
    assert heard.all[-1] == (FILES, FILES, f"{FILES} of {FILES} files are done, {FILES} turns")


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (Endless(), "3 of 10 files are done, 7 turns"),
        (Endless(0, 0, 0), "nothing was read in time; another run may be in progress"),
    ],
    ids=["read", "waited"],
)
async def test_hosts_get_an_answer_before_they_lose_patience(index: Endless, text: str) -> None:
    clock, answers = TestClock(), []
    async with (
        endless_server(index, clock) as client,
        asyncio.timeout(PATIENCE_SECONDS),
        anyio.create_task_group() as group,
    ):

        async def ask() -> None:
            answers.append(await told(client, "index_paths"))

        group.start_soon(ask)
        await index.has_begun.wait()
        await clock.advance(LONGEST_SECONDS - 1)
        assert not index.has_ended.is_set()
        await clock.advance(1)
    (answer,) = answers
    assert index.has_ended.is_set()
    assert (answer["isComplete"], answer["files"]) == (False, index.progress.files_done)
    assert answer["text"] == f"{text}: call again to continue"


async def test_what_a_client_gives_up_ends_and_others_are_answered(caplog: pytest.LogCaptureFixture) -> None:
    index = Endless()
    caplog.set_level("INFO", "chatmemory.mcp")
    async with endless_server(index, TestClock()) as client, asyncio.timeout(PATIENCE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "index_paths", {})
            await index.has_begun.wait()
            group.cancel_scope.cancel()
        await index.has_ended.wait()
        assert len((await client.list_tools()).tools) == 9
    assert "index_paths: cancelled" in caplog.text


async def test_a_run_that_is_cancelled_has_kept_what_it_had_finished(tmp_path: Path) -> None:
    folder = write_histories(tmp_path / "chats", FILES)
    settings = PastChatsSettings(path=str(tmp_path / "pastchats.db"))
    index = ServedIndex(settings, OFFLINE, [str(folder)])
    request = IndexRequest(inputs=(str(folder),), format="claude_code")
    loop, seen, is_cancelled = asyncio.get_running_loop(), [0], threading.Event()

    def give_up(progress: IndexProgress) -> None:
        seen[0] = progress.files_done
        if progress.files_done == FILES // 2 and not is_cancelled.is_set():
            loop.call_soon_threadsafe(run.cancel)
            loop.call_soon_threadsafe(loop.call_later, 0.1, is_cancelled.set)
            assert is_cancelled.wait(30)

    async def indexed() -> object:
        return await index.index(request, on_progress=give_up)

    run = asyncio.ensure_future(indexed())
    with pytest.raises(asyncio.CancelledError):
        await run
    assert seen == [FILES // 2]
    again = await index.index(request)
    assert isinstance(again, Success)
    assert again.unwrap().turns.new == FILES - FILES // 2
    assert again.unwrap().unchanged == FILES // 2
