"""The installed command keeps the manners of the shell, whatever it is given."""

import json
import os
import pty
import re
import shlex
import signal
import sqlite3
import stat
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

import pytest
from click.testing import CliRunner
from past_chats_command import HISTORIES, PROGRAM, Agent

from chatmemory.programs.pastchats.program import COMMANDS, NAME, program
from tests.patience import PATIENCE_SECONDS
from tests.thorough import thorough
from tests.unit.sqlite.desktop_files import change

TAUGHT_BY_EXAMPLE = {"index", "search", "recall", "show", "export", "import", "forget", "watch"}


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Let Ctrl-C reach what is started here, also where the tests themselves run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_each_command_is_listed_explains_itself_and_teaches_by_example(indexed: Agent) -> None:
    shown = indexed.answer("pastchats-memory --help")
    assert len(shown.splitlines()) <= 25
    assert [command for command in COMMANDS if command not in re.split(r"[\s,.]+", shown)] == []
    assert {*TAUGHT_BY_EXAMPLE, "doctor", "hook", "init", "prune", "service", "stats"} <= {*COMMANDS}
    for command in COMMANDS:
        explained = CliRunner().invoke(program, [command, "--help"], prog_name=NAME)
        assert (explained.exit_code, explained.stderr) == (0, "")
        assert explained.stdout.startswith(f"Usage: pastchats-memory {command} ")
        if command in TAUGHT_BY_EXAMPLE:
            assert f"\n    pastchats-memory {command} " in explained.stdout, command


def test_without_a_command_it_prints_what_is_on_this_disk_and_what_to_type_next(indexed: Agent) -> None:
    session = indexed.folder / ".claude" / "projects" / "tea" / "1.jsonl"
    session.parent.mkdir(parents=True)
    session.write_text("{}")
    shown = indexed.answer("pastchats-memory")
    assert len(shown.splitlines()) <= 10
    assert re.search(r"^Found:  claude_code 1 file$", shown, re.MULTILINE)
    assert re.search(r"^Index:  [\d,]+ turns of [\d,]+ conversations, last indexed 20", shown, re.MULTILINE)
    assert "pastchats-memory recall" in shown


def test_completion_prints_scripts_and_knows_commands_and_options(indexed: Agent) -> None:
    for shell in ("bash", "zsh", "fish"):
        script = indexed.answer(f"pastchats-memory completion {shell}")
        assert "_PASTCHATS_MEMORY_COMPLETE" in script, shell
    asked = {"_PASTCHATS_MEMORY_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    environment = {**os.environ, **asked, "COMP_WORDS": "pastchats-memory re"}
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert {line.partition(",")[2] for line in done.stdout.split()} == {"recall", "reindex", "re-embed"}


DATES = ("--since yesterdayish", "--since 5000y", "--until 9999-12-31T23:59-12:00")
EMPTY = ("index ''", "index . --input ''", "watch ''")
USAGE = (
    "search",
    "serach x",
    "search x --limit 0",
    *(f"search x {date}" for date in DATES),
    *EMPTY,
    "forget",
)
FAILURES = {
    1: ("hook no-such-event", "hook stop --no-such-option"),
    2: (*USAGE, "index --roles nobody", "import /nowhere/at/all.jsonl"),
    3: ("index --format no_such_format .",),
    4: ("show nowhere.jsonl#3", "show ''"),
    5: ("recall x --db ''", "forget --project relay --yes --db ''"),
    7: ("stats --config /nowhere/chatmemory.toml",),
}


@pytest.mark.parametrize(
    ("command", "code"), [(command, code) for code, each in FAILURES.items() for command in each]
)
def test_a_failure_is_short_and_has_a_number_of_its_own(indexed: Agent, command: str, code: int) -> None:
    done = indexed.run(f"pastchats-memory {command}")
    assert (done.returncode, done.stdout) == (code, "")
    assert 0 < len(done.stderr.splitlines()) <= 6
    assert not command.startswith("serach") or "Did you mean 'search'?" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_export_did_not_write_is_not_imported_and_what_could_not_be_read_is_told(fresh: Agent) -> None:
    done = fresh.run(f"pastchats-memory import {HISTORIES}/README.md")
    assert done.returncode == 1
    assert "use index to read histories" in done.stderr
    lines = "no record\n" * 13
    done = fresh.run("pastchats-memory import", given=lines)
    assert "... and 3 more; --json shows all" in done.stderr
    told = json.loads(fresh.run("pastchats-memory import --json", given=lines).stdout)
    assert len(told["issues"]) == 13


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("search retries --project rely", "no turn has the project 'rely': did you mean 'relay'?"),
        ("recall retries --project elsewhere", "no turn has the project 'elsewhere': the projects are "),
        ("search retries --format 聊天", "no turn has the format '聊天': the formats are aider, "),
        ("recall retries --format claude-code", "the format 'claude-code': did you mean 'claude_code'?"),
        ("forget --project rely", "no turn has the project 'rely': did you mean 'relay'?"),
        ("search retries --project RELAY --since 2100-01-01", ""),
        ("search retries --since 2100-01-01", ""),
    ],
)
def test_a_name_that_nothing_bears_is_told_if_nothing_fits(indexed: Agent, command: str, told: str) -> None:
    done = indexed.run(f"pastchats-memory {command}")
    assert done.returncode == 0
    assert told in done.stderr
    assert bool(told) == bool(done.stderr)
    assert "within --project" not in done.stdout or "--project" in command


def test_without_an_index_a_reader_says_what_to_do_and_a_closed_input_is_an_empty_one(fresh: Agent) -> None:
    for command in ("search x", "recall x", "show x", "stats", "doctor", "export"):
        done = fresh.run(f"pastchats-memory {command}")
        assert (done.returncode, done.stdout) == (5, ""), command
        assert "pastchats-memory index" in done.stderr
        assert not fresh.db.exists()
    for command, code in (("hook stop", 0), ("import", 1)):
        closed = f"{PROGRAM} --db {fresh.db} {command} <&-"
        done = subprocess.run(closed, shell=True, capture_output=True, text=True, check=False)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), command


def test_an_input_that_is_not_there_fails_the_run(fresh: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HISTORIES)
    done = fresh.run("pastchats-memory index aider ./没有.zip --json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["read"] == {"aider": 1}
    assert "./没有.zip: unreadable" in done.stderr
    (fresh.folder / "bad.zip").write_bytes(b"PK")
    monkeypatch.chdir(fresh.folder)
    assert fresh.run(f"pastchats-memory index {HISTORIES / 'aider'} bad.zip").returncode == 1
    assert fresh.run(f"pastchats-memory index {HISTORIES / 'aider'} .").returncode == 0  # not named itself


def test_each_file_is_named_once_and_a_watch_names_a_path_that_is_not_there(fresh: Agent) -> None:
    notes = fresh.folder / "notes"
    notes.mkdir()
    (notes / "diary.md").write_text("今天下雨。\n", encoding="utf-8")
    (notes / "empty.json").touch()
    done = fresh.run(f"pastchats-memory index {notes} --verbose")
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [*map(str, sorted(notes.iterdir()))]
    gone = notes / "没有"
    with running(PROGRAM, "--db", fresh.db, "watch", gone) as (process, _, errors):
        assert f"{gone}: unreadable" in errors.readline().decode()
        process.kill()


def test_results_alone_go_to_stdout_in_any_locale_and_nothing_found_is_said(indexed: Agent) -> None:
    done = indexed.run("pastchats-memory search 'webhook retries' --json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["mode"] == "hybrid"
    assert "nothing found" in indexed.answer("pastchats-memory search --lexical xylophone-quux").lower()
    recalled = indexed.run("pastchats-memory recall --query webhooks --project no-such-project")
    assert recalled.returncode == 0
    assert recalled.stdout.startswith("# Memory Recall")
    assert "nothing found" in recalled.stdout.lower()
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [PROGRAM, "--db", indexed.db, "search", "全文检索"]
    shown = subprocess.run(command, env=environment, capture_output=True, check=True).stdout.decode("utf-8")
    assert "\x1b" not in shown
    assert "全文" in shown


@pytest.mark.parametrize(("wish", "is_colourful"), [("", True), ("1", False)])
def test_a_terminal_gets_colours_unless_it_wants_none(indexed: Agent, wish: str, is_colourful: bool) -> None:
    seen, terminal = pty.openpty()
    try:
        environment = {**os.environ, "NO_COLOR": wish}
        command = [PROGRAM, "--db", indexed.db, "search", "webhook", "--limit", "1"]
        subprocess.run(command, stdout=terminal, env=environment, check=True)
        assert (b"\x1b[1m" in os.read(seen, 4096)) == is_colourful
    finally:
        os.close(terminal)
        os.close(seen)


def test_control_characters_of_a_history_reach_no_terminal(fresh: Agent) -> None:
    said = {"role": "user", "content": "clear \x1b[2J\x1b]0;owned\x07 the zebra screen \u202e backwards"}
    reply = {"role": "assistant", "content": "\x1b[31mdone\x1b[0m"}
    history = fresh.folder / "chat.jsonl"
    history.write_text(json.dumps({"messages": [said, reply]}) + "\n", encoding="utf-8")
    fresh.answer(f"pastchats-memory index {history}")
    for command in ("search zebra", "recall zebra", f"show {history}#0", "export"):
        shown = fresh.answer(f"pastchats-memory {command}")
        assert "zebra" in shown
        assert not {"\x1b", "\x07", "\u202e"} & set(shown) or command == "export"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
def test_an_answer_that_nobody_takes_is_one_line(indexed: Agent) -> None:
    command = [PROGRAM, "--db", indexed.db, "stats"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "No space left" in done.stderr


def test_without_a_home_a_file_can_still_be_named(fresh: Agent) -> None:
    without = "import pwd\ndef nobody(_): raise KeyError\npwd.getpwuid = nobody\n"
    (fresh.folder / "sitecustomize.py").write_text(without, encoding="utf-8")
    homeless = {key: value for key, value in os.environ.items() if key not in {"HOME", "XDG_DATA_HOME"}}
    for arguments, code in (
        (["stats"], 5),
        (["--db", "~/x.db", "init"], 5),
        (["--db", fresh.db, "index"], 0),
    ):
        done = subprocess.run(
            [PROGRAM, *arguments],
            env={**homeless, "PYTHONPATH": str(fresh.folder)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert ("name a file with --db" in done.stderr) == (code == 5)


def test_who_stops_reading_is_not_told_off(indexed: Agent) -> None:
    with running(PROGRAM, "--db", indexed.db, "export") as (process, said, errors):
        said.close()
        assert process.wait(timeout=PATIENCE_SECONDS) == 1
        assert errors.read() == b""


@contextmanager
def running(
    *command: str | Path, **environment: str
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    """Lend a running program, what it says and what it says on the side."""
    piped = subprocess.PIPE
    with subprocess.Popen(command, stdout=piped, stderr=piped, env={**os.environ, **environment}) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        yield process, process.stdout, process.stderr


def test_a_turn_is_shown_by_its_name_or_path(indexed: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    found = indexed.answer("pastchats-memory search /exit --format aider --limit 1")
    (named,) = (line.split(": ", 1)[1] for line in found.splitlines() if line.startswith("   Conversation: "))
    (place,) = (line.split(": ", 1)[1] for line in found.splitlines() if line.startswith("   Source: "))
    shown = indexed.answer(f"pastchats-memory show {shlex.quote(named)} -A 0 -B 0")
    assert shown.startswith("> #")
    assert shown.endswith("/exit\n")
    assert indexed.answer(f"pastchats-memory show {shlex.quote(place)}").count("conversation aider:") == 2
    file = HISTORIES / "aider/relay/.aider.chat.history.md"
    monkeypatch.chdir(file.parent)
    assert "> #1 " in indexed.answer(f"pastchats-memory show ./{file.name}#1")
    whole = indexed.answer(f"pastchats-memory show {file.name}")
    assert whole == indexed.answer(f"pastchats-memory show {file}")


def test_a_watch_outlives_a_locked_index_and_ctrl_c_ends_it_quietly(fresh: Agent) -> None:
    fresh.answer("pastchats-memory init --json")
    impatient = {"CHATMEMORY_MEMORY_PAST_CHATS_BUSY_TIMEOUT_SECONDS": "0.1", "PYTHONUNBUFFERED": "1"}
    watch = (PROGRAM, "--db", fresh.db, "watch", HISTORIES, "--every", "0.2")
    with closing(sqlite3.connect(fresh.db, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with running(*watch, **impatient) as (process, said, errors):
            assert b"busy" in errors.readline()
            writer.execute("ROLLBACK")
            assert b"new turns indexed" in said.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=PATIENCE_SECONDS) == 130
            assert b"Traceback" not in errors.read()


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("index --dry-run {histories}", {"files", "turns", "issues"}),
        ("forget --project relay --dry-run", {"turns", "isDryRun"}),
        ("prune --dry-run", {"turns", "isDryRun"}),
        ("reindex", {"turns"}),
        ("re-embed", {"turns"}),
        ("init", {"path", "prompts"}),
    ],
)
def test_json_is_one_object(indexed: Agent, command: str, keys: set[str]) -> None:
    told = indexed.json(f"pastchats-memory {command.format(histories=HISTORIES)}")
    assert keys <= set(told)


def test_an_index_is_for_its_owner_and_doctor_tells_a_healthy_one_from_a_broken_one(
    indexed: Agent, fresh: Agent, index_of_histories: Path
) -> None:
    assert stat.S_IMODE(indexed.db.stat().st_mode) == 0o600
    fresh.begin_with(index_of_histories)
    assert fresh.run("pastchats-memory doctor").returncode == 0
    change(fresh.db, "DELETE FROM prompt_embeddings WHERE prompt_id IN (SELECT min(id) FROM prompts)")
    done = fresh.run("pastchats-memory doctor")
    assert done.returncode == 1
    assert "repair:" in done.stdout


ANYWHERE = ("a b", "记忆", "q?x#y%20z", "quo'te", '"', "new\nline", "-n")


@pytest.mark.parametrize(
    "name",
    ["-n a b 记忆 q?x#y%20z quo'te \" new\nline", *(pytest.param(name, marks=thorough) for name in ANYWHERE)],
)
def test_an_index_may_lie_anywhere(tmp_path: Path, name: str) -> None:
    agent = Agent(tmp_path / name)
    assert agent.run(f"pastchats-memory index {HISTORIES}/aider").returncode == 0
    assert agent.db.stat().st_size > 4096
    assert "Source:" in agent.answer("pastchats-memory recall 'flaky test'")


def test_a_dry_run_tells_what_is_new_and_neither_makes_nor_changes_an_index(fresh: Agent) -> None:
    assert "would be indexed" in fresh.answer(f"pastchats-memory index --dry-run {HISTORIES}")
    assert not fresh.db.exists()
    assert fresh.json(f"pastchats-memory index {HISTORIES}/aider")["turns"]["new"] > 0
    before = fresh.db.read_bytes()
    report = fresh.json(f"pastchats-memory index --dry-run {HISTORIES}")
    assert (report["read"].get("aider"), report["unchanged"]) == (None, 1)
    assert report["turns"]["new"] > 50
    assert fresh.db.read_bytes() == before


def test_what_was_exported_is_taken_in_by_an_empty_index_as_it_was(indexed: Agent, fresh: Agent) -> None:
    exported = indexed.answer("pastchats-memory export")
    assert fresh.run("pastchats-memory import", given=exported).returncode == 0
    assert records(fresh.answer("pastchats-memory export")) == records(exported)
    query = "pastchats-memory search 'webhook retries' --json"
    one, other = (json.loads(agent.answer(query))["results"] for agent in (fresh, indexed))
    assert [hit["source"] for hit in one] == [hit["source"] for hit in other]


def test_what_is_forgotten_stays_forgotten(fresh: Agent, index_of_histories: Path) -> None:
    def found() -> list[str]:
        told = json.loads(fresh.answer("pastchats-memory search 'webhook retries' --limit 200 --json"))
        return [hit["path"] for hit in told["results"]]

    fresh.begin_with(index_of_histories)
    source = found()[0]
    refused = fresh.run(f"pastchats-memory forget --source {source}", given="n\n")
    assert refused.returncode != 0
    assert "nothing was deleted" in refused.stderr
    relative = shlex.quote(os.path.relpath(source))
    again = json.loads(fresh.answer(f"pastchats-memory index {HISTORIES} --json"))
    assert (again["turns"]["new"], again["read"]) == (0, {})
    assert not fresh.answer(f"pastchats-memory forget --source {relative} --dry-run").startswith("0 turns")
    assert "nothing to do" in fresh.answer(f"pastchats-memory forget --source {source}x --yes")
    fresh.answer(f"pastchats-memory forget --source {source} --yes")
    fresh.answer(f"pastchats-memory index {HISTORIES}")
    assert source not in found()


def test_the_file_of_the_index_can_be_named_in_four_ways(fresh: Agent) -> None:
    other, config = fresh.folder / "other.db", fresh.folder / "chatmemory.toml"
    for command in (f"--db {other} init", f"init --db {other}"):
        other.unlink(missing_ok=True)
        assert fresh.run(f"pastchats-memory {command}").returncode == 0
        assert other.is_file()
    assert not fresh.db.exists()
    config.write_text(f'[memory.pastChats]\npath = "{fresh.folder}/third.db"\n', encoding="utf-8")
    fresh.environment = {"PASTCHATS_DB": ""}
    assert fresh.run(f"pastchats-memory init --config {config}").returncode == 0
    assert (fresh.folder / "third.db").is_file()
    assert fresh.run("pastchats-memory init").returncode == 0
    assert (fresh.folder / "chatmemory/pastchats.db").is_file()


def records(exported: str) -> list[dict[str, object]]:
    return [{**json.loads(line), "created_at": None} for line in exported.splitlines()]
