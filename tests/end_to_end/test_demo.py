"""The demo runs, tells the truth, and can be read in a pipe."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import httpx

from chatmemory import NewMessage
from chatmemory.input.structure import read_json
from tests.forked import run_forked
from tests.http.served import started

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_demo_shows_past_chats_summaries_and_what_outlives_a_conversation(tmp_path: Path) -> None:
    # The C locale is what a minimal container has; Chinese must not break there.
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "TMPDIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, EXAMPLES / "demo.py"],
        capture_output=True,
        check=False,
        env=environment,
        cwd=tmp_path,
    )
    assert (run.returncode, run.stderr) == (0, b"")
    shown = run.stdout.decode("utf-8")
    assert "\n72 new turns indexed (" in shown
    assert "\nsecrets redacted: 1\n" in shown
    assert "database is locked" in shown
    assert "\n# Memory Recall\n" in shown
    assert shown.count("\nWhat worked:\n") == shown.count("\nSource: ") > 1
    assert "\nWhat failed:\n" in shown
    assert "48 messages are added" in shown
    assert "after m21: a summary takes the place of " in shown
    assert shown.count("What a model gets") == 1
    assert shown.count('get_messages(view="full"), 50 messages') == 1
    assert "m07 stands in summary " in shown
    assert "支付失败是我们自己的客户端证书过期了" in shown
    assert "The last 3 messages are sent again" in shown
    assert "Both views are the same as before the restart: yes" in shown
    assert "ConversationNotFoundError: no conversation 'nobody'" in shown
    assert "-> fact: place of work = Hangzhou" in shown
    assert "-> preference: 饮品偏好 = 龙井茶" in shown
    assert "\n? Which city does she work in?\n  I work in Hangzhou   [" in shown
    assert "\n? 她爱喝什么?\n  我喜欢喝龙井茶   [" in shown
    assert "from getting-acquainted m3]" in shown
    assert shown.count("<recalled-data ") == 1
    assert "16 memories of earlier sessions are stored beside them" in shown
    # What answers one of the two questions of the message, and nothing that is merely near.
    assert (
        "2 memories, each counted as used once:\n"
        "  每周四晚上我们发布新版本   [used 1 time]\n"
        "  I like to write scripts in Python   [used 1 time]\n"
    ) in shown
    assert shown.count("[used 1 time]") == 2
    then, news, changed, before, undone = [
        shown.index(part)
        for part in (
            "[   now]  I work in Hangzhou\n     user | I work in Shanghai now.",
            "     user | I work in Shanghai now.",
            "[   now]  I work in Shanghai now",
            "[before]  I work in Hangzhou",
            "undone, because it was a slip of the tongue: 'I work in Hangzhou' is true again",
        )
    ]
    assert then < news < changed < before < undone
    assert "20 messages then, 21 now" in shown
    assert "\x1b" not in shown
    assert list(tmp_path.iterdir()) == []


def test_the_demo_deletes_no_store_of_somebody_else(tmp_path: Path) -> None:
    store = tmp_path / "agent.db"
    store.write_bytes("我的".encode())
    run = run_forked(sys.executable, EXAMPLES / "demo.py", tmp_path)
    assert (run.returncode, run.stdout) == (1, "")
    assert "agent.db is not the demo's" in run.stderr
    assert [*tmp_path.iterdir()] == [store]
    assert store.read_text(encoding="utf-8") == "我的"


def test_what_the_demo_leaves_is_opened_by_the_command_that_it_prints_last(tmp_path: Path) -> None:
    for _ in range(2):  # a second run begins anew
        run = run_forked(sys.executable, EXAMPLES / "demo.py", "数据", cwd=tmp_path)
    command = shlex.split(run.stdout.splitlines()[-1])
    assert command[1:4] == ["serve", "--store", "数据/agent.db"]
    with started(*command, "--port", "0", cwd=tmp_path) as server:
        listed = httpx.get(f"{server.url}conversations").json()["conversations"]
        assert {entry["conversation"]["conversationId"]: entry["opening"][:14] for entry in listed} == {
            "a-week-later": "Morning, Harbo",
            "getting-acquainted": "Hi, I'm Mei, a",
            "on-call-2025-03-14": "Morning Harbor",
            "what-if": "Morning Harbor",
        }
        kept = httpx.get(f"{server.url}memories").json()["memories"]
        assert len(kept) == 23


def test_the_conversation_of_the_demo_is_a_long_one_with_tool_calls_in_two_languages() -> None:
    lines = (EXAMPLES / "on_call.jsonl").read_text(encoding="utf-8").splitlines()
    messages = [read_json(line, NewMessage).unwrap() for line in lines]
    assert len(messages) >= 40
    assert len({message.id for message in messages}) == len(messages)
    instants = [message.timestamp for message in messages if message.timestamp is not None]
    assert instants == sorted(instants)
    assert len(instants) == len(messages)
    called = [call["id"] for message in messages for call in (message.metadata or {}).get("toolCalls", ())]
    answered = [(message.metadata or {})["toolCallId"] for message in messages if message.role == "tool"]
    assert called == answered
    assert sum("一" <= character <= "鿿" for message in messages for character in message.content) > 200
