"""What others have written reaches an agent as data, and what an agent asks for stays within what the person allows."""

import json
import os
import re
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'chatmemory-effect[mcp]'")

from chatmemory_layers.files.file_reader import FileReader
from chatmemory_layers.files.paths import AllowedFolders
from tests.injections import injections
from tests.integrations.mcp.mcp_clients import in_process, refused, store_turn, told

MARK = re.compile(r"^<(/?)recalled-data ([0-9a-f]{16})>$")
TURN = {"type": "user", "sessionId": "s", "timestamp": "2026-03-01T10:00:00Z"}


def turn_of(content: str, number: int = 0) -> str:
    return json.dumps(
        {**TURN, "uuid": f"{number}", "message": {"role": "user", "content": content}}, ensure_ascii=False
    )


def outside_of_fences(text: str) -> list[str]:
    """Return the lines that no fence encloses, and check that fences close."""
    outside: list[str] = []
    fence = None
    for line in text.split("\n"):
        mark = MARK.match(line)
        if fence is None and mark and not mark[1]:
            fence = mark[2]
        elif fence is not None and mark:
            assert mark[1]
            assert mark[2] == fence
            fence = None
        elif fence is None:
            outside.append(line)
    assert fence is None
    return outside


async def test_no_memory_message_or_past_turn_breaks_out_of_the_fence(tmp_path: Path) -> None:
    corpus = [text for text in injections(fence="0123456789abcdef").values() if text.strip()]
    folder = tmp_path / "chats"
    folder.mkdir()
    lines = [turn_of(f"webhook {text[:2000]}", number) for number, text in enumerate(corpus)]
    (folder / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    async with in_process(tmp_path, folders=[str(folder)]) as client:
        for number, text in enumerate(corpus):
            await told(client, "remember", content=f"约定 {number}: {text[:3000]}", key="约定")
        memories = await told(client, "search", query="约定", where="memories", limit=50)
        for number, text in enumerate(corpus[:30]):
            await store_turn(client, "c", text[:2000], text[:2000], event=str(number))
        context = await told(client, "get_context", conversationId="c", userMessage="and now?")
        (contents,) = (await client.read_resource("chatmemory://conversations/c")).contents
        indexed = await told(client, "index_paths", paths=[str(folder)], format="claude_code")
        past = await told(client, "search", query="webhook", where="past_chats", limit=50)
    assert len(memories["memories"]) >= 40
    assert indexed["turns"]["new"] > 40
    assert len(past["pastChats"]) == 50
    for found in (memories, past):
        assert [line for line in outside_of_fences(found["text"]) if line] == found["notes"]
    assert "约定" not in json.dumps({**memories, "text": ""}, ensure_ascii=False)
    for text in (context["text"], contents.text):
        assert [line for line in outside_of_fences(text) if line] == []
        assert "<system" not in text


async def test_folders_that_nobody_has_allowed_are_not_read(tmp_path: Path) -> None:
    allowed, secret = tmp_path / "chats", tmp_path / "chats of others"
    for folder in (allowed, secret):
        folder.mkdir()
        (folder / "a.jsonl").write_text(turn_of(f"webhook in {folder.name}"), encoding="utf-8")
    (allowed / "link").symlink_to(secret)
    (allowed / "b.jsonl").symlink_to(secret / "a.jsonl")
    ways_out = [
        str(secret),
        f"{allowed}/../{secret.name}",
        f"{allowed}/link",
        f"{allowed}/b.jsonl",
        "/",
        "~",
        "\0",
    ]
    async with in_process(tmp_path, folders=[str(allowed)]) as client:
        for path in ways_out:
            problem = await refused(client, "index_paths", paths=[str(allowed), path], format="claude_code")
            assert [one["path"] for one in problem["problems"]] == ["$.paths[1]"]
        indexed = await told(client, "index_paths", paths=[str(allowed)], format="claude_code")
        found = await told(client, "search", query="webhook", where="past_chats")
    assert indexed["turns"]["new"] == 1
    assert "chats of others" not in found["text"]


def test_a_history_names_no_file_outside_of_the_allowed_folders(tmp_path: Path) -> None:
    allowed = tmp_path / "a" / "message"
    allowed.mkdir(parents=True)
    (tmp_path / "part").mkdir()
    (allowed / "one.jsonl").write_text("{}", encoding="utf-8")
    (allowed / "out").symlink_to(tmp_path / "part")
    (tmp_path / "part" / "secret.json").write_text("{}", encoding="utf-8")
    confined = FileReader(os.fspath(allowed / "one.jsonl"), allowed=AllowedFolders([str(allowed)]))
    free = FileReader(os.fspath(allowed / "one.jsonl"))
    for near in ("../../part/secret.json", "out/secret.json"):
        assert free.sibling(near) is not None
        assert confined.sibling(near) is None
    assert free.entries("out") == ["secret.json"]
    assert confined.entries("out") == ()
    assert confined.sibling("one.jsonl") is not None
