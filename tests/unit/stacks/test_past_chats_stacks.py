"""The stack of past chats that keeps nothing, for tests of whoever builds on it."""

import json
from pathlib import Path

from chatmemory.effect import ManagedRuntime
from chatmemory.pastchats.contract import PastChatsIndexService, PastChatsService
from chatmemory.pastchats.past_chats import IndexReport, IndexRequest
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory_layers.stacks import past_chats as past_chats_stacks

HISTORY = [
    {"role": "user", "content": "数据库被锁住了怎么办？ The database is locked."},
    {"role": "assistant", "content": "Set busy_timeout，并开启 WAL。"},
]


def indexed(runtime: ManagedRuntime[PastChatsIndexService | PastChatsService], folder: Path) -> IndexReport:
    (folder / "chat.json").write_text(json.dumps(HISTORY), encoding="utf-8")
    request = IndexRequest(inputs=(str(folder),))
    return runtime.run_sync(PastChatsIndexService.use(lambda past: past.index(request))).unwrap()


def test_what_was_indexed_in_memory_is_found_in_the_same_runtime_and_in_no_other(tmp_path: Path) -> None:
    for provider in ("static", "hashed", "none"):
        with ManagedRuntime(past_chats_stacks.testing(EmbeddingSettings(provider=provider))) as runtime:
            assert indexed(runtime, tmp_path).turns.new == 2
            past = runtime.run_sync(PastChatsService.get()).unwrap()
            (first, *_) = runtime.run_sync(past.search("busy_timeout")).unwrap().hits
            assert first.prompt.content == HISTORY[1]["content"]
            recalled = runtime.run_sync(past.recall("数据库被锁住")).unwrap().text
            assert "busy_timeout，并开启 WAL" in recalled
