"""``recall`` and the hook of a prompt mean the same whether click reads their arguments or nobody has to load it."""

import io
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chatmemory.effect import Effect
from chatmemory.pastchats.prompt import PromptFilter
from chatmemory.programs.pastchats.host import Host
from chatmemory.programs.pastchats.program import run
from chatmemory.programs.pastchats.quick_commands import run_quickly
from chatmemory.programs.shell.exit_codes import UNWRITABLE

HOOK_TOKENS = 600


class Listening:
    """A host that notes what it is asked, and answers that nothing was found."""

    def __init__(self) -> None:
        self.db: str | None = None
        self.config: str | None = None
        self.longest_wait_seconds: float | None = None
        self.asked: list[tuple[str, dict[str, object], str | None, str | None, float | None]] = []

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
    ["hook-user-prompt-submit", "--db", "x.db", '{"prompt": "build the webhook retries with backoff"}'],
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
        assert run_quickly(cast("Host", quick), arguments) == 0
        said = capsys.readouterr()
        assert run(cast("Host", slow), arguments) == 0
        assert capsys.readouterr() == said
        assert quick.asked
        assert repr(quick.asked) == repr(slow.asked)
    host = Listening()
    run_quickly(cast("Host", host), ["recall", "x"])
    ((_, more, *_),) = host.asked
    assert (more["which"], more["limit"], more["tokens"]) == (PromptFilter(), 5, None)  # everything


def test_everything_else_is_left_to_click_untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in CLICK:
        host = Listening()
        assert run_quickly(cast("Host", host), arguments) is None, arguments
        assert (host.asked, host.db, host.config, host.longest_wait_seconds) == ([], None, None, None)
    monkeypatch.setenv("_PASTCHATS_MEMORY_COMPLETE", "bash_complete")  # a shell that completes
    assert run_quickly(cast("Host", Listening()), ["recall", "x"]) is None


def test_an_answer_that_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, _: str, /) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    assert run_quickly(cast("Host", Listening()), ["recall", "x"]) == UNWRITABLE
