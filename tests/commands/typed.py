"""``Typed``: commands of ``chatmemory``, run in this process on a store of their own."""

import json
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chatmemory.programs.commands.program import run
from chatmemory_layers.server.memory_host import MemoryHost


class Ended(NamedTuple):
    code: int
    out: str
    err: str


class Typed:
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
        self.capsys.readouterr()
        code = run(MemoryHost, shlex.split(command))
        printed = self.capsys.readouterr()
        return Ended(code, printed.out, printed.err)

    def answer(self, command: str) -> str:
        ended = self.run(command)
        assert ended.code == 0, ended.err
        return ended.out

    def json(self, command: str) -> Any:
        return json.loads(self.answer(f"{command} --json"))

    def remember(self, text: str, *, id_: str) -> None:
        self.answer(f"remember {shlex.quote(text)} --id {id_}")


def sqlite_place(folder: Path) -> str:
    return str(folder / "记忆.db")
