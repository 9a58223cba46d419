"""The hooks of coding agents never keep an agent from working."""

import json
import socket
import sqlite3
from contextlib import closing

import pytest
from past_chats_command import HISTORIES, Agent

from tests.patience import PATIENCE_SECONDS

BUILD = "Please build webhook retries with backoff for the relay service"


def prompted(agent: Agent, prompt: str) -> str:
    payload = {"session_id": "s1", "cwd": "/app", "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    done = agent.run("pastchats-memory hook user-prompt-submit", given=json.dumps(payload))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_substantial_prompt_gets_a_recall_beside_it(indexed: Agent) -> None:
    told = json.loads(prompted(indexed, BUILD))["hookSpecificOutput"]
    assert told["hookEventName"] == "UserPromptSubmit"
    assert told["additionalContext"].startswith("# Memory Recall\n")


def test_a_prompt_that_asks_nothing_gets_nothing(indexed: Agent) -> None:
    assert prompted(indexed, "/compact") == prompted(indexed, "好的") == ""


def test_a_session_is_indexed_when_its_agent_has_answered(fresh: Agent) -> None:
    (session,) = HISTORIES.glob("codex-cli/**/*.jsonl")
    done = fresh.run("pastchats-memory hook stop", given=json.dumps({"transcript_path": str(session)}))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads(fresh.answer("pastchats-memory stats --json"))["sources"] == 1


@pytest.mark.parametrize("hook", ["hook user-prompt-submit", "hook stop"])
@pytest.mark.parametrize(
    "payload",
    ["", "no JSON", "[]", '{"prompt": 7}', "[" * 100_000, "\ud800".encode("utf-8", "replace").decode()],
)
def test_what_no_agent_sends_is_one_line_and_no_failure(fresh: Agent, hook: str, payload: str) -> None:
    done = fresh.run(f"pastchats-memory {hook}", given=payload)
    assert (done.returncode, done.stdout) == (0, "")
    assert len(done.stderr.splitlines()) <= 1


def test_an_endpoint_that_says_nothing_keeps_no_agent_waiting(indexed: Agent) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        indexed.environment = {
            "CHATMEMORY_MEMORY_EMBEDDING_PROVIDER": "openai_compatible",
            "CHATMEMORY_MEMORY_EMBEDDING_BASE_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/v1",
            "CHATMEMORY_MEMORY_EMBEDDING_MODEL": "silent",
            "CHATMEMORY_MEMORY_EMBEDDING_TIMEOUT_SECONDS": str(10 * PATIENCE_SECONDS),
        }
        try:
            given = json.dumps({"prompt": BUILD})
            done = indexed.run("pastchats-memory hook user-prompt-submit", given=given, may_hang=True)
        finally:
            indexed.environment = {}
    assert done.returncode == 0
    assert "webhook" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_a_locked_index_or_none_keeps_no_agent_waiting(fresh: Agent) -> None:
    done = fresh.run("pastchats-memory hook user-prompt-submit", given=json.dumps({"prompt": BUILD}))
    assert (done.returncode, done.stdout) == (0, "")
    assert len(done.stderr.splitlines()) == 1
    (session,) = HISTORIES.glob("codex-cli/**/*.jsonl")
    fresh.answer("pastchats-memory init --json")
    fresh.environment = {"CHATMEMORY_MEMORY_PAST_CHATS_BUSY_TIMEOUT_SECONDS": str(10 * PATIENCE_SECONDS)}
    with closing(sqlite3.connect(fresh.db, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        given = json.dumps({"transcript_path": str(session)})
        done = fresh.run("pastchats-memory hook stop", given=given, may_hang=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert "busy" in done.stderr
