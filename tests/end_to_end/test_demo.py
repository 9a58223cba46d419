"""The demo runs, tells the truth, and can be read in a pipe."""

import os
import subprocess
import sys
from pathlib import Path

from chatmemory import NewMessage
from chatmemory.structure import read_json

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_demo_recalls_past_chats_shows_a_summary_both_views_the_same_after_a_restart_and_what_outlives_a_conversation(
    tmp_path: Path,
) -> None:
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
    assert "2 memories, each counted as used once:" in shown
    assert shown.count("[used 1 time]") == 2
    assert "\x1b" not in shown
    assert list(tmp_path.iterdir()) == []


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
