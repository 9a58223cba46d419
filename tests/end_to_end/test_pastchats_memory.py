"""The installed command keeps the manners of the shell, whatever it is given."""

import json
import os
import pty
import shlex
import signal
import sqlite3
import stat
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from past_chats_command import HISTORIES, PROGRAM, Agent

from chatmemory.programs.pastchats.program import NAME, program
from tests.for_each import for_each
from tests.thorough import thorough

COMMANDS = [
    "init",
    "index",
    "recall",
    "search",
    "show",
    "stats",
    "doctor",
    "watch",
    "service",
    "hook",
    "forget",
    "prune",
    "reindex",
    "re-embed",
    "export",
    "import",
    "completion",
]


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Let Ctrl-C reach what is started here, also where the tests themselves run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# --- help -----------------------------------------------------------------------------------------------------------


def test_each_command_is_listed(indexed: Agent) -> None:
    shown = indexed.answer("pastchats-memory --help")
    assert [command for command in COMMANDS if f"\n  {command} " in shown] == COMMANDS


@for_each("command", COMMANDS)
def test_each_command_explains_itself(command: str) -> None:
    assert explained(command).startswith(f"Usage: pastchats-memory {command} ")


@for_each("command", ["index", "search", "recall", "show", "export", "import", "forget", "watch"])
def test_help_teaches_by_example(command: str) -> None:
    assert f"\n    pastchats-memory {command} " in explained(command)


def explained(command: str) -> str:
    """Return what a command says of itself, asked in this process."""
    done = CliRunner().invoke(program, [command, "--help"], prog_name=NAME)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_asks_the_program(indexed: Agent, shell: str) -> None:
    assert "_PASTCHATS_MEMORY_COMPLETE" in indexed.answer(f"pastchats-memory completion {shell}")


def test_completion_knows_commands_and_options(indexed: Agent) -> None:
    environment = {**os.environ, "_PASTCHATS_MEMORY_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    words = {"COMP_WORDS": "pastchats-memory re"}
    done = subprocess.run(
        [PROGRAM], env={**environment, **words}, capture_output=True, text=True, check=False
    )
    assert {line.partition(",")[2] for line in done.stdout.split()} == {"recall", "reindex", "re-embed"}


# --- failures: one line, a number, no traceback ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("search", 2),
        ("serach x", 2),
        ("search x --limit 0", 2),
        ("search x --since yesterdayish", 2),
        ("search x --since 5000y", 2),
        ("search x --until 9999-12-31T23:59-12:00", 2),
        ("hook no-such-event", 1),
        ("hook-stop --no-such-option", 1),
        ("index --roles nobody", 2),
        ("forget", 2),
        ("import /nowhere/at/all.jsonl", 2),
        ("index --format no_such_format .", 3),
        ("show nowhere.jsonl#3", 4),
        ("show ''", 4),
        ("index ''", 2),
        ("index . --input ''", 2),
        ("watch ''", 2),
        ("stats --config /nowhere/chatmemory.toml", 7),
    ],
)
def test_a_failure_is_short_and_has_a_number_of_its_own(indexed: Agent, command: str, code: int) -> None:
    done = indexed.run(f"pastchats-memory {command}")
    assert (done.returncode, done.stdout) == (code, "")
    assert 0 < len(done.stderr.splitlines()) <= 6
    assert "Traceback" not in done.stderr


def test_a_misspelt_command_is_guessed(indexed: Agent) -> None:
    assert "Did you mean 'search'?" in indexed.run("pastchats-memory serach x").stderr


def test_what_export_did_not_write_is_not_imported_silently(fresh: Agent) -> None:
    done = fresh.run(f"pastchats-memory import {HISTORIES}/README.md")
    assert done.returncode == 1
    assert "use index to read histories" in done.stderr


def test_what_import_could_not_read_is_told_by_an_option_that_it_has(fresh: Agent) -> None:
    lines = "no record\n" * 13
    done = fresh.run("pastchats-memory import", given=lines)
    assert "... and 3 more; --json shows all" in done.stderr
    told = json.loads(fresh.run("pastchats-memory import --json", given=lines).stdout)
    assert len(told["issues"]) == 13


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("search retries --project rely", "no turn has the project 'rely': did you mean 'relay'?"),
        ("search retries --format 聊天", "no turn has the format '聊天': the formats are aider, "),
        ("recall retries --format claude-code", "the format 'claude-code': did you mean 'claude_code'?"),
        ("forget --project rely", "no turn has the project 'rely': did you mean 'relay'?"),
        ("search retries --project RELAY --since 2100-01-01", ""),
    ],
)
def test_a_name_that_nothing_bears_is_told_where_nothing_was_found(
    indexed: Agent, command: str, told: str
) -> None:
    done = indexed.run(f"pastchats-memory {command}")
    assert done.returncode == 0
    assert told in done.stderr
    assert bool(told) == bool(done.stderr)


@pytest.mark.parametrize("command", ["search x", "recall x", "show x", "stats", "doctor", "export"])
def test_without_an_index_a_reader_says_what_to_do_and_makes_none(fresh: Agent, command: str) -> None:
    done = fresh.run(f"pastchats-memory {command}")
    assert (done.returncode, done.stdout) == (5, "")
    assert "pastchats-memory index" in done.stderr
    assert not fresh.db.exists()


@pytest.mark.parametrize("content", [b"", b"no database at all" * 99, b"SQLite format 3\0" + bytes(999)])
def test_a_file_that_is_no_index_is_left_as_it_is(fresh: Agent, content: bytes) -> None:
    fresh.db.write_bytes(content)
    for command in ("stats", "search x"):
        done = fresh.run(f"pastchats-memory {command}")
        assert done.returncode == 5, command
        assert "Traceback" not in done.stderr
    assert fresh.db.read_bytes() == content


def test_another_programs_database_is_refused_untouched(fresh: Agent) -> None:
    with closing(sqlite3.connect(fresh.db)) as connection:
        connection.execute("CREATE TABLE diary (entry TEXT)")
        connection.commit()
    before = fresh.db.read_bytes()
    done = fresh.run(f"pastchats-memory index {HISTORIES}")
    assert (done.returncode, done.stdout) == (5, "")
    assert "diary" in done.stderr
    assert fresh.db.read_bytes() == before


def test_an_input_that_does_not_exist_is_named_and_fails_the_run(fresh: Agent) -> None:
    done = fresh.run("pastchats-memory index /nowhere/at/all")
    assert done.returncode == 1
    assert "/nowhere/at/all" in done.stderr


def test_what_can_be_read_is_read_beside_an_input_that_does_not_exist_which_fails_the_run_all_the_same(
    fresh: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HISTORIES)
    done = fresh.run("pastchats-memory index aider ./没有.zip --json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["read"] == {"aider": 1}
    assert "./没有.zip: unreadable" in done.stderr
    (fresh.folder / "bad.zip").write_bytes(b"PK")
    monkeypatch.chdir(fresh.folder)
    assert fresh.run(f"pastchats-memory index {HISTORIES / 'aider'} bad.zip").returncode == 1
    assert fresh.run(f"pastchats-memory index {HISTORIES / 'aider'} .").returncode == 0  # not named itself


# --- text ------------------------------------------------------------------------------------------------------------


def test_results_go_to_stdout_and_nothing_else_does(indexed: Agent) -> None:
    done = indexed.run("pastchats-memory search 'webhook retries' --json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["mode"] == "hybrid"


def test_nothing_found_is_said_and_is_no_failure(indexed: Agent) -> None:
    assert "nothing found" in indexed.answer("pastchats-memory search --lexical xylophone-quux").lower()
    recalled = indexed.run("pastchats-memory recall --query webhooks --project no-such-project")
    assert recalled.returncode == 0
    assert recalled.stdout.startswith("# Memory Recall")
    assert "nothing found" in recalled.stdout.lower()


def test_a_pipe_gets_no_colour_and_chinese_survives_the_c_locale(indexed: Agent) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [PROGRAM, "--db", indexed.db, "search", "全文检索"]
    shown = subprocess.run(command, env=environment, capture_output=True, check=True).stdout.decode("utf-8")
    assert "\x1b" not in shown
    assert "全文" in shown


@pytest.mark.parametrize(("wish", "is_colourful"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_gets_colours_unless_it_wants_none(
    indexed: Agent, wish: dict[str, str], *, is_colourful: bool
) -> None:
    seen, terminal = pty.openpty()
    try:
        environment = {**os.environ, **wish} if wish else {**os.environ, "NO_COLOR": ""}
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
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [PROGRAM, "--db", indexed.db, "stats"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "No space left" in done.stderr


def test_an_input_that_is_closed_is_an_empty_one(fresh: Agent) -> None:
    for command, code in (("hook stop", 0), ("import", 0)):
        done = subprocess.run(
            f"{PROGRAM} --db {fresh.db} {command} <&-",
            shell=True,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), command


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
    with subprocess.Popen(
        [PROGRAM, "--db", indexed.db, "export"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.wait(timeout=300) == 1
        assert running.stderr.read() == b""


def test_ctrl_c_ends_a_watch_quietly(fresh: Agent) -> None:
    with subprocess.Popen(
        [PROGRAM, "--db", fresh.db, "watch", HISTORIES, "--every", "0.2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert b"new turns indexed" in running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=300) == 130
        assert b"Traceback" not in running.stderr.read()


def test_a_turn_of_a_file_with_several_conversations_is_shown_by_the_name_that_search_prints(
    indexed: Agent,
) -> None:
    found = indexed.answer("pastchats-memory search /exit --format aider --limit 1")
    (named,) = (line.split(": ", 1)[1] for line in found.splitlines() if line.startswith("   Conversation: "))
    (place,) = (line.split(": ", 1)[1] for line in found.splitlines() if line.startswith("   Source: "))
    shown = indexed.answer(f"pastchats-memory show {shlex.quote(named)} -A 0 -B 0")
    assert shown.startswith("> #")
    assert shown.endswith("/exit\n")
    assert indexed.answer(f"pastchats-memory show {shlex.quote(place)}").count("conversation aider:") == 2


def test_a_source_is_shown_by_its_path_from_the_folder_that_one_is_in(
    indexed: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = HISTORIES / "aider/relay/.aider.chat.history.md"
    monkeypatch.chdir(file.parent)
    assert "> #1 " in indexed.answer(f"pastchats-memory show ./{file.name}#1")
    whole = indexed.answer(f"pastchats-memory show {file.name}")
    assert whole == indexed.answer(f"pastchats-memory show {file}")


def test_a_watch_outlives_a_locked_index(fresh: Agent) -> None:
    fresh.answer("pastchats-memory init --json")
    impatient = {"CHATMEMORY_MEMORY_PAST_CHATS_BUSY_TIMEOUT_SECONDS": "0.1", "PYTHONUNBUFFERED": "1"}
    with closing(sqlite3.connect(fresh.db, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with subprocess.Popen(
            [PROGRAM, "--db", fresh.db, "watch", HISTORIES, "--every", "0.2", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **impatient},
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            assert b"busy" in running.stderr.readline()
            writer.execute("ROLLBACK")
            assert json.loads(running.stdout.readline())["turns"]["new"] > 50
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=300) == 130


# --- JSON: one object, whatever the command -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def source(indexed: Agent) -> str:
    """Where a turn of the index is from."""
    found: str = indexed.json("pastchats-memory search webhook")["results"][0]["source"]
    return found


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("stats", {"path", "prompts", "embeddings", "byFormat"}),
        ("doctor", {"isHealthy", "findings"}),
        ("search 全文检索", {"query", "mode", "reason", "results"}),
        ("recall 'webhook retries'", {"query", "mode", "reason", "text", "memories"}),
        ("show {source}", {"around", "turns"}),
        ("index --dry-run {histories}", {"files", "turns", "issues"}),
        ("forget --project relay --dry-run", {"turns", "isDryRun"}),
        ("prune --dry-run", {"turns", "isDryRun"}),
        ("reindex", {"turns"}),
        ("re-embed", {"turns"}),
        ("init", {"path", "prompts"}),
    ],
)
def test_json_is_one_object(indexed: Agent, source: str, command: str, keys: set[str]) -> None:
    told = indexed.json(f"pastchats-memory {command.format(source=source, histories=HISTORIES)}")
    assert keys <= set(told)


# --- the index -------------------------------------------------------------------------------------------------------


def test_the_index_is_for_its_owner_only(indexed: Agent) -> None:
    assert stat.S_IMODE(indexed.db.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "name",
    [
        "-n a b 记忆 q?x#y%20z quo'te \" new\nline",
        *(
            pytest.param(name, marks=thorough)
            for name in ("a b", "记忆", "q?x#y%20z", "quo'te", '"', "new\nline", "-n")
        ),
    ],
)
def test_an_index_may_lie_anywhere(tmp_path: Path, name: str) -> None:
    agent = Agent(tmp_path / name)
    assert agent.run(f"pastchats-memory index {HISTORIES}/aider").returncode == 0
    assert agent.db.stat().st_size > 4096
    assert "Source:" in agent.answer("pastchats-memory recall 'flaky test'")


def test_a_dry_run_says_what_would_be_done_and_makes_no_file(fresh: Agent) -> None:
    shown = fresh.answer(f"pastchats-memory index --dry-run {HISTORIES}")
    assert "would be indexed" in shown
    assert not fresh.db.exists()


def test_a_dry_run_over_an_index_tells_what_is_new_and_writes_nothing(fresh: Agent) -> None:
    fresh.answer(f"pastchats-memory index {HISTORIES}/aider")
    before = fresh.db.read_bytes()
    report = json.loads(fresh.run(f"pastchats-memory index --dry-run --json {HISTORIES}").stdout)
    assert (report["read"].get("aider"), report["unchanged"]) == (None, 1)
    assert report["turns"]["new"] > 50
    assert fresh.db.read_bytes() == before


def test_indexing_again_finds_nothing_new(fresh: Agent) -> None:
    first = json.loads(fresh.run(f"pastchats-memory index --json {HISTORIES}").stdout)
    again = json.loads(fresh.run(f"pastchats-memory index --json {HISTORIES}").stdout)
    assert first["turns"]["new"] > 50
    assert (again["turns"]["new"], again["unchanged"], again["read"]) == (0, sum(first["read"].values()), {})


def test_what_was_exported_is_taken_in_by_an_empty_index_with_all_that_belongs_to_it(
    indexed: Agent, fresh: Agent
) -> None:
    exported = indexed.answer("pastchats-memory export")
    assert fresh.run("pastchats-memory import", given=exported).returncode == 0
    assert records(fresh.answer("pastchats-memory export")) == records(exported)
    query = "pastchats-memory search 'webhook retries' --json"
    assert [hit["source"] for hit in json.loads(fresh.answer(query))["results"]] == [
        hit["source"] for hit in json.loads(indexed.answer(query))["results"]
    ]


def test_what_is_forgotten_stays_forgotten(fresh: Agent, index_of_histories: Path) -> None:
    fresh.begin_with(index_of_histories)
    source = json.loads(fresh.answer("pastchats-memory search 'webhook retries' --json"))["results"][0][
        "path"
    ]
    refused = fresh.run(f"pastchats-memory forget --source {source}", given="n\n")
    assert refused.returncode != 0
    assert "nothing was deleted" in refused.stderr
    relative = shlex.quote(os.path.relpath(source))
    assert not fresh.answer(f"pastchats-memory forget --source {relative} --dry-run").startswith("0 turns")
    assert "nothing to do" in fresh.answer(f"pastchats-memory forget --source {source}x --yes")
    fresh.answer(f"pastchats-memory forget --source {source} --yes")
    fresh.answer(f"pastchats-memory index {HISTORIES}")
    found = json.loads(fresh.answer("pastchats-memory search 'webhook retries' --limit 200 --json"))[
        "results"
    ]
    assert source not in {hit["path"] for hit in found}


def test_doctor_finds_a_healthy_index_healthy_and_a_broken_one_broken(
    fresh: Agent, index_of_histories: Path
) -> None:
    fresh.begin_with(index_of_histories)
    assert fresh.run("pastchats-memory doctor").returncode == 0
    with closing(sqlite3.connect(fresh.db)) as connection:
        connection.execute("DELETE FROM prompt_embeddings WHERE prompt_id IN (SELECT min(id) FROM prompts)")
        connection.commit()
    done = fresh.run("pastchats-memory doctor")
    assert done.returncode == 1
    assert "repair:" in done.stdout


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
    """Return all but when a row came into its store."""
    return [{**json.loads(line), "created_at": None} for line in exported.splitlines()]
