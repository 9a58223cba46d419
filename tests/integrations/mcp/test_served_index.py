"""``served_index``: a run that is given up ends soon, and has kept what it had finished."""

import asyncio
import json
import threading
from pathlib import Path

import pytest

from chatmemory.effect import Success
from chatmemory.pastchats.past_chats import IndexProgress, IndexRequest
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.server.served_index import ServedIndex
from chatmemory_layers.stacks.past_chats import OFFLINE

FILES = 60


async def test_a_run_that_is_cancelled_has_kept_what_it_had_finished(tmp_path: Path) -> None:
    folder = tmp_path / "chats"
    write_histories(folder)
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


def write_histories(folder: Path) -> None:
    folder.mkdir()
    for number in range(FILES):
        turn = {
            "type": "user",
            "sessionId": f"s{number}",
            "uuid": f"u{number}",
            "timestamp": "2026-03-01T10:00:00Z",
            "message": {"role": "user", "content": f"问题 {number}"},
        }
        (folder / f"{number}.jsonl").write_text(json.dumps(turn), encoding="utf-8")
