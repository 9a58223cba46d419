"""The command as it is installed: help, completion, pipes, and what it loads."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from chatmemory.programs.commands.program import COMMANDS
from tests.commands.typed import Typed
from tests.for_each import for_each
from tests.http.served import CHATMEMORY
from tests.patience import PATIENCE_SECONDS
from tests.unit.sqlite.desktop_files import desktop_file
from tests.unit.test_import_cost import HEAVY

WITH_EXAMPLES = set(COMMANDS) - {"token", "completion"}


def test_each_command_explains_itself_and_completion_knows_it(typed: Typed) -> None:
    shown = typed.answer("--help")
    assert [name for name in COMMANDS if f"\n  {name} " in shown] == list(COMMANDS)
    for name in COMMANDS:
        told = typed.answer(f"{name} --help")
        assert told.startswith(f"Usage: chatmemory {name} ")
        assert name not in WITH_EXAMPLES or f"\n    chatmemory {name}" in told, name
    for shell in ("bash", "zsh", "fish"):
        assert "_CHATMEMORY_COMPLETE" in typed.answer(f"completion {shell}"), shell
    asked = {"_CHATMEMORY_COMPLETE": "bash_complete", "COMP_CWORD": "1", "COMP_WORDS": "chatmemory re"}
    environment = {**os.environ, **asked}
    done = subprocess.run([CHATMEMORY], env=environment, capture_output=True, text=True, check=False)
    assert {line.partition(",")[2] for line in done.stdout.split()} == {"remember", "recall", "re-embed"}


@for_each(
    ("words", "program"),
    [
        (["chatmemory", "--help"], "commands"),
        (["chatmemory", "recall", "--help"], "commands"),
        (["pastchats_memory", "--help"], "pastchats"),
    ],
)
def test_help_loads_no_service_and_no_driver(words: list[str], program: str) -> None:
    lines = f"import sys; sys.argv = {words}\nfrom chatmemory_layers import entry\n"
    lines += f"try: entry.{words[0]}()\nfinally: print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", lines]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS)
    loaded = set(done.stderr.split())
    assert f"chatmemory.programs.{program}.program" in loaded
    assert not {"chatmemory_layers.server.memory_host", "chatmemory_layers.past_chats_host"} & loaded
    assert loaded & (HEAVY | {"anyio", "asyncio", "chatmemory.settings.memory_settings"}) == set()
    assert program == "pastchats" or "attrs" not in loaded  # a recall, which is tried first, needs attrs


def test_a_pipe_gets_no_colour_every_script_and_no_traceback_when_its_reader_goes(typed: Typed) -> None:
    typed.remember("我住在杭州", id_="hangzhou")
    command = [CHATMEMORY, "recall", "杭州", "--store", typed.place]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"})
    assert "我住在杭州" in done.stdout.decode()
    assert b"\x1b" not in done.stdout
    for number in range(40):
        typed.remember(f"fact number {number} " + "很长" * 1000, id_=f"f{number}")
    piped = f"{CHATMEMORY} memories --json --limit 1000 --store {typed.place} | head -c 10"
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, check=False)
    assert done.stdout == '{"memories'
    assert "Traceback" not in done.stderr


def test_an_output_that_is_closed_is_told(typed: Typed) -> None:
    typed.remember("我住在杭州", id_="hangzhou")
    for command in (f"chatmemory export --store {typed.place}", "pastchats-memory --help"):
        closed = f"{CHATMEMORY.parent}/{command} >&-"
        done = subprocess.run(closed, shell=True, capture_output=True, text=True, check=False)
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr


def test_doctor_finds_a_sound_store_in_order_names_damage_and_changes_nothing(typed: Typed) -> None:
    typed.remember("我住在杭州", id_="hangzhou")
    told = typed.json("doctor")
    assert told["isHealthy"] is True
    assert {one["code"] for one in told["findings"]} >= {f"S00{number}" for number in range(1, 10)}
    assert "1 memories" in typed.answer("doctor")
    place = Path(typed.place)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA foreign_keys = OFF")
        with connection:
            connection.execute("DELETE FROM memory_space")
    before = place.read_bytes()
    ended = typed.run("doctor --json")
    assert ended.code == 1
    (error,) = [one for one in json.loads(ended.out)["findings"] if one["severity"] == "error"]
    assert error["code"] == "S003"
    assert error["repair"]
    assert place.read_bytes() == before


def test_doctor_knows_a_file_of_the_desktop_application(typed: Typed) -> None:
    desktop_file(Path(typed.place))
    findings = typed.json("doctor")["findings"]
    assert {one["code"]: one["severity"] for one in findings} == {
        "S001": "ok",
        "S002": "ok",
        "S004": "warning",
    }
    assert len(typed.json("memories")["memories"]) == 12
    assert len(typed.json("doctor")["findings"]) == 9


def test_doctor_asks_the_services_of_a_database(typed_anywhere: Typed) -> None:
    typed_anywhere.remember("我住在杭州", id_="hangzhou")
    told = json.loads(typed_anywhere.run("doctor --json").out)
    # The server of the tests does not sync what it writes, and doctor says so.
    assert {one["code"] for one in told["findings"] if one["severity"] == "error"} <= {"S014"}
    assert {"S001", "S005"} <= {one["code"] for one in told["findings"]}
