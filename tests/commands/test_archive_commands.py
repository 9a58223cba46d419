"""A store moves to another place by two commands."""

import io
import json
import signal
import sys
from pathlib import Path

import pytest

from chatmemory.programs.archive.rivals.reading import RIVALS
from chatmemory.programs.commands.archive_commands import OWN, TOOLS
from tests.commands.test_conversation_commands import say
from tests.commands.typed import Typed

HELD = {"messages": 3, "branches": 1, "memories": 3}


def filled(typed: Typed) -> None:
    say(typed.place)
    typed.answer("fork trip rail --at m2 --user mei")
    typed.remember("我住在杭州", id_="hangzhou")
    typed.answer("remember 我现在住在上海了 --id shanghai")
    typed.answer("remember 'Wang drinks tea.' --id tea --user wang")


def test_everything_moves_to_another_store(typed_anywhere: Typed, tmp_path: Path) -> None:
    typed = typed_anywhere
    filled(typed)
    lines = typed.answer("export")
    exported, other = tmp_path / "all.jsonl", tmp_path / "other.db"
    typed.answer(f"export -o {exported} --vectors")
    assert len(exported.read_text(encoding="utf-8").splitlines()) == len(lines.splitlines())
    told = typed.run(f"import {exported} --dry-run --store {other}")
    assert told.code == 0
    assert "3 memories new" in told.out
    assert "nothing was written" in told.out
    report = typed.json(f"import {exported} --store {other}")
    assert (report["messages"], report["branches"]) == ({"new": 3, "known": 0}, {"new": 1, "known": 0})
    assert (report["isWhole"], report["issues"]) == (True, [])
    assert typed.answer(f"export --store {other}") == lines
    known = [f"0 {what} new, {count} already here\n" for what, count in HELD.items()]
    assert typed.answer(f"import {exported} --store {other}") == "".join(known)


def test_memories_without_vectors_get_some_and_bad_lines_are_told(typed: Typed, tmp_path: Path) -> None:
    filled(typed)
    exported, other = tmp_path / "all.jsonl", tmp_path / "other.db"
    typed.answer(f"export -o {exported}")
    typed.answer(f"import {exported} --store {other}")
    (memory,) = typed.json(f"memories --store {other} --user wang")["memories"]
    assert memory["embedding"]["model"]
    lines = typed.answer("export").splitlines()
    exported.write_text("\n".join([*lines[:-1], "{"]), encoding="utf-8")
    ended = typed.run(f"import {exported} --store {tmp_path / 'another.db'}")
    assert ended.code == 0
    assert f"line {len(lines)}: " in ended.err
    assert "cut off" in ended.err
    for nothing in ("# notes\n", ""):
        exported.write_text(nothing, encoding="utf-8")
        assert typed.run(f"import {exported}").code == 1
    assert typed.run("import /nowhere/at/all.jsonl").code == 2


def test_memories_of_all_users_are_embedded_again(
    typed_anywhere: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = typed_anywhere
    for provider in ("none", "hashed"):
        monkeypatch.setenv("CHATMEMORY_MEMORY_EMBEDDING_PROVIDER", provider)
        for user in ("ada", "安娜", "zoe"):
            typed.answer(f"remember 'Redis {provider}' --user {user}")
    assert typed.json("re-embed") == {"memories": 3}
    assert typed.answer("re-embed") == "0 memories embedded\n"
    monkeypatch.setenv("CHATMEMORY_MEMORY_EMBEDDING_PROVIDER", "none")
    assert typed.run("re-embed").code == 6


def test_what_was_forgotten_stays_away(typed: Typed, tmp_path: Path) -> None:
    filled(typed)
    exported = tmp_path / "all.jsonl"
    typed.answer(f"export -o {exported}")
    typed.answer("forget tea --user wang --yes")
    assert "left out, because they were forgotten here: tea" in typed.answer(f"import {exported}")
    assert json.loads(typed.answer(f"import {exported} --json"))["forgotten"] == ["tea"]
    assert typed.run("history tea --user wang").code == 0


class Waiting(io.BytesIO):
    """Hears Ctrl-C while it waits for its first line."""

    waits_on = False

    def __next__(self) -> bytes:
        signal.raise_signal(signal.SIGINT)
        self.waits_on = True
        raise StopIteration


def test_ctrl_c_ends_an_import_that_waits_for_its_input(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = Waiting()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert typed.run("import") == (130, "", "")
        assert not given.waits_on
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_command_knows_every_reader(typed: Typed) -> None:
    assert (OWN, *RIVALS) == TOOLS
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    export = Path(typed.place).with_name("all.json")
    export.write_text(f'[{{"id": "x", "memory": "the token is {secret}"}}]', encoding="utf-8")
    assert "1 memory new" in typed.answer(f"import --from mem0 {export} --dry-run")
    assert "secrets redacted" in typed.answer(f"import --from mem0 {export}")
    assert secret not in typed.answer("memories")
    assert typed.run("import --from mem0").code == 2
