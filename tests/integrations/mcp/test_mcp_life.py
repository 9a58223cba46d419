"""The server as a process: what it writes where, and how it ends."""

import json
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'chatmemory-effect[mcp]'")

from tests.for_each import for_each
from tests.forked import Forked, run_forked
from tests.integrations.mcp.mcp_clients import command, environment, write_histories

SECONDS = 60
SECRET = "我的秘密是蓝色的"


class Wire:
    """The protocol, line by line, with a process at its other end."""

    def __init__(self, process: Forked) -> None:
        self.process = process

    def send(self, line: bytes) -> None:
        self.process.stdin.buffer.write(line + b"\n")
        self.process.stdin.buffer.flush()

    def ask(self, number: int, method: str, **params: Any) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())

    def answer(self) -> Any:
        """Return the next answer; a server that gives none is killed."""
        killer = threading.Timer(SECONDS, self.process.kill)
        killer.start()
        try:
            return json.loads(self.process.stdout.buffer.readline())
        finally:
            killer.cancel()

    def begin(self) -> Any:
        """Shake hands."""
        client = {"name": "test", "version": "1"}
        self.ask(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        greeting = self.answer()
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return greeting

    def remember(self, number: int, content: str) -> None:
        self.ask(number, "tools/call", name="remember", arguments={"content": content})


@contextmanager
def wired(folder: Path, *options: str, **settings: str) -> Generator[Wire]:
    words = command(folder, *options)
    variables = {**environment(folder), **settings}
    with Forked(*words, environment=variables, errors_to=folder / "server.log") as process:
        yield Wire(process)


def test_standard_output_bears_the_protocol_and_the_log_no_content(tmp_path: Path) -> None:
    with wired(tmp_path) as wire:
        greeting = wire.begin()
        wire.send(b"no JSON, " + SECRET.encode())
        wire.send(b"[" * 100_000)
        wire.remember(1, SECRET)
        wire.ask(2, "tools/call", name="recall", arguments={"query": SECRET, "limit": 0})
        answers = {(answer := wire.answer())["id"]: answer["result"] for _ in range(2)}
        wire.process.stdin.close()
        assert wire.process.stdout.buffer.read() == b""
        assert wire.process.wait(SECONDS) == 0
    assert greeting["result"]["serverInfo"]["name"] == "chatmemory"
    assert {number: result.get("isError", False) for number, result in answers.items()} == {1: False, 2: True}
    log = (tmp_path / "server.log").read_text(encoding="utf-8")
    assert "remember: answered" in log
    assert "秘密" not in log
    assert "Traceback" not in log


def test_half_a_character_is_replaced_and_the_call_is_answered(tmp_path: Path) -> None:
    with wired(tmp_path) as wire:
        wire.begin()
        wire.remember(1, "cut \ud83d, whole \U0001f600, C:\\ud83d")
        wire.answer()
        wire.ask(2, "tools/call", name="list_memories", arguments={})
        kept = wire.answer()["result"]["structuredContent"]["memories"]
        wire.process.stdin.close()
    assert [memory["content"] for memory in kept] == ["cut \ufffd, whole \U0001f600, C:\\ud83d"]


@for_each(
    ("options", "code", "said"),
    [
        (["--config", "wrong.toml"], 7, "server.port"),
        (["--config", "nowhere.toml"], 7, "nowhere.toml: No such file"),
        (["--store", "nowhere/记忆.db"], 5, "nowhere/记忆.db: No such file or directory"),
        (["--store", "."], 5, "is a folder"),
        (["--store", "wrong.toml"], 5, "file is not a database"),
        (["--port", "8643"], 2, "--host and --port need --http"),
        (["--port", "99999"], 2, "99999"),
        (["--user", ""], 7, "server.user"),
        (["--stdio"], 2, "No such option"),
    ],
)
def test_what_is_wrong_is_said_before_anything_begins(
    tmp_path: Path, options: list[str], code: int, said: str
) -> None:
    (tmp_path / "wrong.toml").write_text("[server]\nport = 'many'\n", encoding="utf-8")
    ended = run_to_its_end(tmp_path, *options)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_store_that_another_process_holds_is_waited_for_and_named(tmp_path: Path) -> None:
    settings = {"CHATMEMORY_MEMORY_STORE_SQLITE_BUSY_TIMEOUT_SECONDS": "0.5"}
    with wired(tmp_path, **settings) as wire:
        wire.begin()
        with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as holder:
            holder.execute("BEGIN EXCLUSIVE")
            wire.remember(1, "第一")
            refused = wire.answer()["result"]
        wire.remember(2, "第二")
        assert not wire.answer()["result"].get("isError")
    assert refused["isError"]
    assert "another writer holds the store; try again" in refused["content"][0]["text"]


def test_a_server_that_stands_still_holds_nobody_up(tmp_path: Path) -> None:
    """As those do whose agent was suspended, or forgot them."""
    with wired(tmp_path) as still, wired(tmp_path) as other:
        for wire in (still, other):
            wire.begin()
        still.remember(1, "第一")
        assert not still.answer()["result"].get("isError")
        still.process.send_signal(signal.SIGSTOP)
        other.remember(1, "第二")
        assert not other.answer()["result"].get("isError")
        still.process.send_signal(signal.SIGCONT)
        still.ask(2, "tools/call", name="search", arguments={"query": "第二", "where": "memories"})
        assert "第二" in still.answer()["result"]["content"][0]["text"]


def test_a_path_may_begin_with_the_home_folder_as_no_shell_has_read_it(tmp_path: Path) -> None:
    """Coding agents hand over what stands in their configuration as it is."""
    (tmp_path / "记 忆").mkdir()
    ended = run_to_its_end(tmp_path, "--store", "~/记 忆/a.db", "--allow-index", "~/nowhere")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert (tmp_path / "记 忆" / "a.db").exists()
    assert "--allow-index ~/nowhere: there is nothing of this name yet" in ended.stderr


@pytest.mark.parametrize("end", ["reads on", "dies", signal.SIGTERM, signal.SIGINT])
def test_a_client_that_leaves_while_it_indexes_takes_the_server_with_it(
    tmp_path: Path, end: str | signal.Signals
) -> None:
    folder = write_histories(tmp_path / "对话", 200)
    asked = {"paths": [str(folder)], "format": "claude_code"}
    with wired(tmp_path, "--allow-index", str(folder)) as wire:
        wire.begin()
        wire.ask(1, "tools/call", name="index_paths", arguments=asked, _meta={"progressToken": "进度"})
        assert wire.answer()["params"]["progressToken"] == "进度"
        if isinstance(end, signal.Signals):
            wire.process.send_signal(end)
        else:
            wire.process.stdin.close()
        if end == "dies":
            wire.process.stdout.close()
        assert wire.process.wait(SECONDS) == 0
    with wired(tmp_path, "--allow-index", str(folder)) as wire:
        wire.begin()
        wire.ask(1, "tools/call", name="index_paths", arguments=asked)
        turns = wire.answer()["result"]["structuredContent"]["turns"]
        if isinstance(end, signal.Signals):
            wire.process.send_signal(end)  # while it waits
            assert wire.process.wait(SECONDS) == 0
    assert 0 < turns["new"] < 200, "what was finished is kept"
    assert "Traceback" not in (tmp_path / "server.log").read_text(encoding="utf-8")


def run_to_its_end(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Start the command in *folder* with nobody at its other end."""
    return run_forked(*command(folder, *options), cwd=folder, environment=environment(folder))
