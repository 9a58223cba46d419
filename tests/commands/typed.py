"""``Typed``: commands of ``chatmemory``, run in this process on a store of their own."""

import json
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chatmemory.programs.commands.program import run
from chatmemory_layers.server.main import MemoryHost


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


class Typed:
    """Runs commands on one store."""

    def __init__(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: str
    ) -> None:
        self.capsys = capsys
        if "://" in place:
            monkeypatch.setenv("CHATMEMORY_MEMORY_STORE_BACKEND", "postgres")
            monkeypatch.setenv("CHATMEMORY_MEMORY_STORE_POSTGRES_DSN", place)
        else:
            monkeypatch.setenv("CHATMEMORY_MEMORY_STORE_SQLITE_PATH", place)
        monkeypatch.setenv("CHATMEMORY_MEMORY_EMBEDDING_PROVIDER", "hashed")
        self.place = place

    def run(self, command: str) -> Ended:
        """Run *command*, without the name of the program."""
        self.capsys.readouterr()
        code = run(MemoryHost(), shlex.split(command))
        printed = self.capsys.readouterr()
        return Ended(code, printed.out, printed.err)

    def answer(self, command: str) -> str:
        """Run *command*, which succeeds, and return what it prints."""
        ended = self.run(command)
        assert ended.code == 0, ended.err
        return ended.out

    def json(self, command: str) -> Any:
        """Run *command* with ``--json``, and return what it prints."""
        return json.loads(self.answer(f"{command} --json"))

    def remember(self, text: str, *, id_: str) -> None:
        """Let a memory be stored."""
        self.answer(f"remember {shlex.quote(text)} --id {id_}")


def sqlite_place(folder: Path) -> str:
    """Return a file that is not there yet."""
    return str(folder / "记忆.db")
