"""Commands mean the same when click is not loaded, end quietly while they load, and print units for a service."""

import io
import plistlib
import subprocess
import sys
from collections.abc import Callable
from configparser import ConfigParser
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chatmemory import Effect, PromptFilter
from chatmemory.programs.pastchats.host import Host
from chatmemory.programs.pastchats.program import run
from chatmemory.programs.pastchats.quick_commands import run_quickly
from chatmemory.programs.pastchats.serving_commands import unit_file
from chatmemory.programs.shell.exit_codes import UNWRITABLE, USAGE
from tests.patience import PATIENCE_SECONDS

HOOK_TOKENS = 600


class Listening:
    """A host that notes what it is asked, and answers that nothing was found."""

    def __init__(self) -> None:
        self.db: str | None = None
        self.config: str | None = None
        self.longest_wait_seconds: float | None = None
        self.asked: list[tuple[str, dict[str, object], str | None, str | None, float | None]] = []

    def open(self, *, db: str | None = None, config: str | None = None) -> Host:
        self.db, self.config = db, config
        return cast("Host", self)

    def read(self, ask: Callable[[Any], Effect[Any, Any]], /) -> Any:
        return ask(SimpleNamespace(recall=self._recall)).run_sync().unwrap()

    def _recall(self, query: str, **more: object) -> Effect[Any, Any]:
        self.asked.append((query, more, self.db, self.config, self.longest_wait_seconds))
        return Effect.succeed(
            SimpleNamespace(
                text="# 回忆", mode="hybrid", exchanges=() if more["tokens"] == HOOK_TOKENS else ("one",)
            )
        )

    def settings(self) -> Any:
        return SimpleNamespace(hook_tokens=HOOK_TOKENS)

    def now(self) -> datetime:
        return datetime(2026, 5, 4, tzinfo=UTC)


BOTH = [
    ["recall", "--query", "webhook retries"],
    ["recall", "--query=a=b", "--db=x.db", "--config", "c.toml"],
    ["recall", "webhook", "retries", "-q", "中文", "-n", "7", "--tokens", "900"],
    ["recall", "-q", "first", "-q", "last", "--limit", "2", "--limit", "3"],
    ["recall", "x", "-p", "a", "--project", "b", "-r", "user", "-f", "claude_code", "-c", "claude_code:1"],
    ["recall", "", "--query", ""],
    ["hook", "user-prompt-submit", '{"prompt": "build the webhook retries with backoff"}'],
    ["hook", "user-prompt-submit", "--db", "x.db", '{"prompt": "build the webhook retries with backoff"}'],
]
CLICK = [
    [],
    ["--help"],
    ["--db", "x.db", "recall", "x"],
    ["recall"],
    ["recall", "--help"],
    ["recall", "x", "--since", "7d"],
    ["recall", "x", "--limit", "51"],
    ["recall", "x", "--limit", "0"],
    ["recall", "x", "--limit", "seven"],
    ["recall", "x", "--tokens", "0"],
    ["recall", "x", "-n7"],
    ["recall", "x", "-n=7"],
    ["recall", "x", "--query"],
    ["recall", "--query", "--json"],
    ["recall", "--", "-x"],
    ["recall", "x", "--role", "nobody"],
    ["recall", "x", "--unknown", "y"],
    ["hook"],
    ["hook", "user-prompt-submit", "{}", "{}"],
    ["hook", "stop", "{}"],
    ["search", "x"],
]


def test_what_is_read_quickly_is_what_click_reads(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in BOTH:
        quick, slow = Listening(), Listening()
        assert run_quickly(quick.open, arguments) == 0
        said = capsys.readouterr()
        assert run(slow.open, arguments) == 0
        assert capsys.readouterr() == said
        assert quick.asked
        assert repr(quick.asked) == repr(slow.asked)
    host = Listening()
    run_quickly(host.open, ["recall", "x"])
    ((_, more, *_),) = host.asked
    assert (more["which"], more["limit"], more["tokens"]) == (PromptFilter(), 5, None)  # everything


def test_everything_else_is_left_to_click_untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in CLICK:
        host = Listening()
        assert run_quickly(host.open, arguments) is None, arguments
        assert (host.asked, host.db, host.config, host.longest_wait_seconds) == ([], None, None, None)
    monkeypatch.setenv("_PASTCHATS_MEMORY_COMPLETE", "bash_complete")  # a shell that completes
    assert run_quickly(Listening().open, ["recall", "x"]) is None


def test_an_answer_that_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, _: str, /) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    assert run_quickly(Listening().open, ["recall", "x"]) == UNWRITABLE


COMMAND = ["/home/梅/a & b <c>/100 %/pastchats-memory", "watch", "--db", '/x "y" $HOME\\z']


def test_launchd_reads_the_command_word_for_word() -> None:
    read: dict[str, Any] = plistlib.loads(unit_file("launchd", COMMAND).encode())
    assert read["ProgramArguments"] == COMMAND
    assert read["KeepAlive"] == {"SuccessfulExit": False}


def test_systemd_reads_the_command_word_for_word() -> None:
    unit = ConfigParser(interpolation=None)
    unit.read_string(unit_file("systemd", COMMAND))
    written = unit["Service"]["ExecStart"]
    words = written.removeprefix('"').removesuffix('"').split('" "')
    for sign, special in (("%%", "%"), ("$$", "$"), ('\\"', '"'), ("\\\\", "\\")):
        words = [word.replace(sign, special) for word in words]
    assert words == COMMAND
    assert unit["Install"]["WantedBy"] == "default.target"


def test_it_watches_the_same_index(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["/opt/bin/pastchats-memory"])
    for manager in ("systemd", "launchd"):
        command = ["service", manager, "--db", "/data/past.db", "--every", "60"]
        assert run(Listening().open, command) == 0
        said = capsys.readouterr()
        for word in ("/opt/bin/pastchats-memory", "watch", "60", "--db", "/data/past.db"):
            assert word in said.out
        assert said.err.startswith("next: ")
        for path in ("/data/past\n.db", "/data/\udcff.db"):
            assert run(Listening().open, ["service", manager, "--db", path]) == USAGE
            said = capsys.readouterr()
            assert (said.out, "no unit file can name" in said.err) == ("", True)


INTERRUPTED_IMPORT = """
import sys

class CtrlC:
    @staticmethod
    def find_spec(name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC)
sys.argv = [{command!r}, {task!r}, "webhooks"]
from chatmemory_layers import entry
entry.{command}()
"""


def test_ctrl_c_prints_no_traceback_while_a_command_is_loaded() -> None:
    for command, task, module in (
        ("pastchats_memory", "recall", "chatmemory_layers.past_chats_host"),
        ("pastchats_memory", "recall", "chatmemory.programs.pastchats.quick_commands"),
        ("pastchats_memory", "search", "chatmemory.programs.pastchats.program"),
        ("pastchats_memory", "search", "chatmemory.programs.pastchats.find_commands"),
        ("chatmemory", "recall", "chatmemory_layers.server.memory_host"),
        ("chatmemory", "recall", "click"),
    ):
        program = [sys.executable, "-c", INTERRUPTED_IMPORT.format(command=command, task=task, module=module)]
        ended = subprocess.run(program, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr.strip()) == (130, "", ""), (command, module)
