"""A file system of texts: what is written is found, read, changed and gone, as on a disk."""

import json
from typing import Any

import pytest

from chatmemory.effect import Effect, Layer, ManagedRuntime
from chatmemory.pastchats.contract import PastChatsIndexService
from chatmemory.pastchats.formats.history_format import KnownRoot, UnreadableHistoryError
from chatmemory.pastchats.indexing.history_files import HistoryFilesTag
from chatmemory.pastchats.past_chats import IndexRequest
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory.testing import TextFiles
from chatmemory_layers.stacks import past_chats as past_chats_stacks

CLAUDE = "/home/梅/.claude/projects/tea"


@pytest.fixture
def disk() -> TextFiles:
    files = {
        f"{CLAUDE}/1.jsonl": "one",
        f"{CLAUDE}/1/tools.json": "{}",
        "/home/梅/notes.md": "# 笔记",
        "/srv/.git/log.jsonl": "no history",
    }
    return TextFiles(files, home="/home/梅")


def value(effect: Effect[Any]) -> Any:
    return effect.run_sync().unwrap()


def paths(disk: TextFiles, *inputs: str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [file.path for file in value(disk.find(inputs, exclude=exclude)).files]


def test_files_are_found_sorted_and_none_twice_and_what_is_not_there_is_an_issue(disk: TextFiles) -> None:
    everything = [f"{CLAUDE}/1.jsonl", f"{CLAUDE}/1/tools.json", "/home/梅/notes.md"]
    assert paths(disk, "~", f"{CLAUDE}/1.jsonl") == everything
    assert paths(disk, "/home/梅/notes.md") == everything[2:]
    assert paths(disk, "/srv") == []
    assert paths(disk, "/home", exclude=("*.json", "~/notes.md")) == [f"{CLAUDE}/1.jsonl"]
    found = value(disk.find(["/home/梅/notes", "~/nowhere"]))
    assert found.roots == ("/home/梅/notes", "/home/梅/nowhere")
    expected = [("unreadable", root) for root in found.roots]
    assert [(issue.code, issue.path) for issue in found.issues] == expected
    root = KnownRoot("~/.claude/projects/*", ("**/*.json",))
    found = value(disk.find_known([root, KnownRoot("$CODEX_HOME/sessions", ("*",))]))
    assert [file.path for file in found.files] == [f"{CLAUDE}/1/tools.json"]
    assert found.roots == (CLAUDE,)


def test_a_reader_notes_what_it_looked_at_and_the_disk_says_what_changed(disk: TextFiles) -> None:
    (file,) = value(disk.find([f"{CLAUDE}/1.jsonl"])).files
    reader = disk.reader(file)
    assert (reader.name, b"".join(reader.blocks())) == ("1.jsonl", b"one")
    tools = reader.sibling("1/tools.json")
    assert tools is not None
    assert b"".join(tools.blocks()) == b"{}"
    assert reader.sibling("1/none.json") is None
    assert reader.entries("1") == ["tools.json"]
    assert set(reader.also) == {f"{CLAUDE}/1/tools.json", f"{CLAUDE}/1/none.json", f"{CLAUDE}/1"}
    assert not disk.has_changed(reader.also)
    disk.write(f"{CLAUDE}/1/none.json", "now there is one")
    assert disk.has_changed(reader.also)
    (file,) = value(disk.find(["~/notes.md"])).files
    assert not disk.is_gone(file.source)
    disk.remove(file.path)
    assert disk.is_gone(file.source)
    with pytest.raises(UnreadableHistoryError, match="no such file"):
        b"".join(disk.reader(file).blocks())


def test_an_index_is_made_of_it_and_follows_its_changes() -> None:
    def said(*texts: str) -> str:
        turns = [{"role": "user", "content": text} for text in texts]
        return json.dumps({"messages": turns}, ensure_ascii=False)

    disk = TextFiles({"/chats/1.jsonl": said("重试 webhook")})
    settings = PastChatsSettings(path=":memory:")
    stack = past_chats_stacks.indexing(settings, files=Layer.succeed(HistoryFilesTag, disk))
    with ManagedRuntime(stack) as runtime:
        index = PastChatsIndexService.use(lambda past: past.index(IndexRequest(inputs=("/chats",))))
        assert runtime.run_sync(index).unwrap().turns.new == 1
        assert runtime.run_sync(index).unwrap().unchanged == 1
        disk.write("/chats/1.jsonl", said("重试 webhook", "再试一次"))
        disk.write("/chats/2.jsonl", said("another"))
        assert runtime.run_sync(index).unwrap().turns.new == 2
        disk.remove("/chats/2.jsonl")
        assert runtime.run_sync(index).unwrap().missing == 1
