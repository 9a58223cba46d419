"""Cline's tasks: what its window showed, what it sent to the model, and that neither is indexed twice."""

from datetime import UTC, datetime
from typing import Any

from chatmemory.pastchats.formats.tools.cline import cline
from tests.formats.large_history import text
from tests.formats.read_turns import certainty, is_beside, parsed

TASK = "/home/mei/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1751700000000"
DISPLAY, SENT = f"{TASK}/ui_messages.json", f"{TASK}/api_conversation_history.json"

STATE = "<environment_details>\n# Current Working Directory (/home/mei/app) Files\nmain.py\n</environment_details>"


def shown(ts: int, kind: str, name: str, text: str = "", **fields: Any) -> dict[str, Any]:
    return {"ts": 1751700000000 + ts, "type": kind, kind: name, "text": text, **fields}


def say(ts: int, words: str, **fields: Any) -> dict[str, Any]:
    return shown(ts, "say", "text", words, **fields)


def user(*blocks: str | dict[str, Any]) -> dict[str, Any]:
    parts = [part for one in blocks for part in (text(one) if isinstance(one, str) else [one])]
    return {"role": "user", "content": parts}


def assistant(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **fields}


WINDOW = [
    say(0, "给登录页加上重试"),
    shown(1, "say", "api_req_started", '{"request":"<task>...</task>\\n' + STATE.replace("\n", "\\n") + '"}'),
    shown(2, "say", "reasoning", "先看文件"),
    say(3, "我先读 main.py", partial=False),
    shown(4, "ask", "tool", '{"tool":"readFile","path":"main.py"}'),
    shown(5, "ask", "followup", '{"question":"重试几次？","options":["3","5"]}'),
    shown(6, "say", "user_feedback", "三次"),
    shown(7, "say", "command_output", "5 passed"),
    shown(8, "say", "completion_result", "完成了"),
    shown(9, "ask", "completion_result", "完成了"),
    shown(10, "say", "checkpoint_created"),
    shown(11, "say", "hologram", "?"),
]
READ, ASK = "<read_file>\n<path>main.py</path>\n</read_file>", "ask_followup_question"
REQUESTS = [
    user("<task>\n给登录页加上重试\n</task>", STATE),
    assistant(f"<thinking>先看文件</thinking>\n我先读 main.py\n{READ}", ts=1751700000004),
    user("[read_file for 'main.py'] Result:\nprint(1)"),
    assistant(f"<{ASK}><question>重试几次？</question></{ASK}>"),
    user(f"[{ASK} for '重试几次？'] Result:\n<answer>\n三次\n</answer>"),
    assistant("<attempt_completion>\n<result>\n完成了\n</result>\n</attempt_completion>"),
]
SAID = [
    ("user", "给登录页加上重试"),
    ("assistant", "我先读 main.py"),
    ("assistant", "重试几次？"),
    ("user", "三次"),
    ("assistant", "完成了"),
]


def test_what_the_window_showed_is_read() -> None:
    found = parsed(cline, WINDOW, DISPLAY)
    assert (found.said, found.unknown, found.issue_details) == (SAID, ["say hologram"], [])
    assert found.tagged == [("thinking", "先看文件"), ("tool_result", "5 passed")]
    first, second = found.kept[:2]
    assert (first.conversation_id, first.project) == ("cline:1751700000000", "/home/mei/app")
    assert first.timestamp == datetime(2025, 7, 5, 7, 20, tzinfo=UTC)
    assert second.metadata["tool_calls"] == [{"name": "readFile", "id": "1751700000004"}]


def test_of_a_text_that_grew_the_last_one_counts_and_no_part_is_a_turn_once_the_whole_has_come() -> None:
    window = [
        say(0, "Why is it slow?"),
        say(1, "Let me look ", partial=True),
        shown(2, "say", "api_req_started", "{}"),
        say(3, "Let me look at main.py.", partial=False),
        say(4, "嗯，它在等", partial=True),
        say(4, "It waits", partial=True),
        say(5, "It waits for the log.", partial=True),
        say(6, "It waits for the log.", partial=False),
        say(7, "It waits for the log. And the reader was stopp"),
        say(8, "Let me se", partial=True),
        shown(9, "say", "user_feedback", "never mind"),
    ]
    assert parsed(cline, window, DISPLAY).said == [
        ("user", "Why is it slow?"),
        ("assistant", "Let me look at main.py."),
        ("assistant", "It waits for the log."),
        ("assistant", "It waits for the log. And the reader was stopp"),
        ("assistant", "Let me se"),
        ("user", "never mind"),
    ]


def test_what_was_sent_reads_as_what_was_shown_and_a_task_with_both_files_is_read_once() -> None:
    found = parsed(cline, REQUESTS, SENT)
    assert found.said == SAID
    assert found.tagged == [
        ("thinking", "先看文件"),
        ("tool_result", "[read_file for 'main.py'] Result:\nprint(1)"),
        ("tool_result", f"[{ASK} for '重试几次？'] Result:"),
    ]
    assert found.kept[1].metadata == {"cwd": "/home/mei/app", "tool_calls": [{"name": "read_file"}]}
    assert found.kept[0].conversation_id == "cline:1751700000000"
    beside = parsed(cline, REQUESTS, SENT, others={DISPLAY: WINDOW})
    note = ("not_a_transcript", "the same task is read from ui_messages.json beside it")
    assert (beside.said, beside.issue_details) == ([], [note])
    assert parsed(cline, REQUESTS, SENT, others={DISPLAY: []}).said == SAID
    assert parsed(cline, WINDOW, DISPLAY, others={SENT: REQUESTS}).said == SAID


def test_what_a_tool_gave_is_no_persons_word_and_what_was_told_by_a_tool_is_one() -> None:
    named, command = "[read_file for 'main.py'] Result:", "[execute_command for 'cat <<E\n1\nE'] Result:\n1"
    question = "[ask_followup_question for '几次？'] Result:"
    given = [user(named, "print(1)", STATE), user(command, question, "<answer>\n三次\n</answer>")]
    found = parsed(cline, [REQUESTS[0], *given], SENT)
    assert found.said == [SAID[0], ("user", "三次")]
    results = [f"{named}\n\nprint(1)", f"{command}\n\n{question}"]
    assert found.tagged == [("tool_result", result) for result in results]
    denied = "The user denied this operation and provided the following feedback:\n<feedback>\n不要改这个\n</feedback>"
    refusal = user({"type": "tool_result", "tool_use_id": "t", "content": denied})
    assert parsed(cline, [REQUESTS[0], refusal], SENT).said[1] == ("user", "不要改这个")
    call = {"type": "tool_use", "id": "t", "name": "attempt_completion", "input": {"result": "完成了"}}
    found = parsed(cline, [REQUESTS[0], assistant([*text("好"), call])], SENT)
    assert found.said[1] == ("assistant", "好\n\n完成了")


def test_a_task_or_a_session_of_the_sdk_is_claimed_by_what_it_holds() -> None:
    messages = [
        {"id": "m1", "role": "user", "content": "你好", "ts": 1783376868634},
        {"id": "m2", "role": "assistant", "content": text("Hi"), "ts": 1783376868635},
    ]
    document = {"version": 1, "agent": "lead", "messages": messages, "sessionId": "s-1"}
    assert certainty(cline, document) > 0
    beside = {"/home/mei/s-1.json": {"session_id": "s-1", "cwd": "/home/mei/app"}}
    found = parsed(cline, document, "/home/mei/s-1.messages.json", others=beside)
    assert found.said == [("user", "你好"), ("assistant", "Hi")]
    assert (found.kept[0].conversation_id, found.kept[0].project) == ("cline:s-1", "/home/mei/app")
    for document, path in ((WINDOW, "/x.json"), (REQUESTS, "/x.json"), (REQUESTS[3:4], SENT)):
        assert certainty(cline, document, path) >= 90
    assert is_beside(cline, [{"id": "1", "ts": 1, "task": "x", "tokensIn": 3}])
    assert certainty(cline, [{"role": "user", "content": "hi"}]) == 0
    assert certainty(cline, [{"ts": 1, "type": "message", "text": "slack"}]) == 0
