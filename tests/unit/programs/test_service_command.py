"""``service`` prints what systemd and launchd read, whatever the command's path holds."""

import plistlib
from configparser import ConfigParser
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chatmemory.programs.pastchats.program import run
from chatmemory.programs.pastchats.service_command import unit_file

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


def test_it_watches_the_same_index_from_any_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["/opt/bin/pastchats-memory"])
    for manager in ("systemd", "launchd"):
        host = SimpleNamespace(db=None, config=None)
        command = ["service", manager, "--db", "/data/past.db", "--every", "60"]
        assert run(cast("Any", host), command) == 0
        said = capsys.readouterr()
        for word in ("/opt/bin/pastchats-memory", "watch", "60", "--db", "/data/past.db"):
            assert word in said.out
        assert said.err.startswith("next: ")
