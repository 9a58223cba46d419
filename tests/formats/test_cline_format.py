"""Cline's tasks: what its window showed, what it sent to the model, and that neither is indexed twice."""

from datetime import UTC, datetime
from typing import Any

from chatmemory.pastchats.formats.cline.cline import cline
from tests.for_each import for_each
from tests.formats.exported import claim, issues, parsed, said, tagged, turns, unknown

TASK = "/home/mei/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1751700000000"
DISPLAY, SENT = f"{TASK}/ui_messages.json", f"{TASK}/api_conversation_history.json"

STATE = "<environment_details>\n# Current Working Directory (/home/mei/app) Files\nmain.py\n</environment_details>"


def shown(ts: int, kind: str, name: str, text: str = "", **fields: Any) -> dict[str, Any]:
    return {"ts": 1751700000000 + ts, "type": kind, kind: name, "text": text, **fields}


WINDOW = [
    shown(0, "say", "text", "给登录页加上重试"),
    shown(1, "say", "api_req_started", '{"request":"<task>...</task>\\n' + STATE.replace("\n", "\\n") + '"}'),
    shown(2, "say", "reasoning", "先看文件"),
    shown(3, "say", "text", "我先读 main.py", partial=False),
    shown(4, "ask", "tool", '{"tool":"readFile","path":"main.py"}'),
    shown(5, "ask", "followup", '{"question":"重试几次？","options":["3","5"]}'),
    shown(6, "say", "user_feedback", "三次"),
    shown(7, "say", "command_output", "5 passed"),
    shown(8, "say", "completion_result", "完成了"),
    shown(9, "ask", "completion_result", "完成了"),
    shown(10, "say", "checkpoint_created"),
    shown(11, "say", "hologram", "?"),
]

REQUESTS = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "<task>\n给登录页加上重试\n</task>"},
            {"type": "text", "text": STATE},
        ],
    },
    {
        "role": "assistant",
        "content": "<thinking>先看文件</thinking>\n我先读 main.py\n<read_file>\n<path>main.py</path>\n</read_file>",
        "ts": 1751700000004,
    },
    {"role": "user", "content": [{"type": "text", "text": "[read_file for 'main.py'] Result:\nprint(1)"}]},
    {
        "role": "assistant",
        "content": "<ask_followup_question><question>重试几次？</question></ask_followup_question>",
    },
    {
        "role": "user",
        "content": [
            {
                "type": "text",
                "text": "[ask_followup_question for '重试几次？'] Result:\n<answer>\n三次\n</answer>",
            }
        ],
    },
    {
        "role": "assistant",
        "content": "<attempt_completion>\n<result>\n完成了\n</result>\n</attempt_completion>",
    },
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
    assert said(found) == SAID
    assert tagged(found) == [("thinking", "先看文件"), ("tool_result", "5 passed")]
    assert unknown(found) == ["say hologram"]
    assert issues(found) == []
    first, second = turns(found)[:2]
    assert first.conversation_id == "cline:1751700000000"
    assert first.timestamp == datetime(2025, 7, 5, 7, 20, tzinfo=UTC)
    assert first.project == "/home/mei/app"
    assert second.metadata["tool_calls"] == [{"name": "readFile", "id": "1751700000004"}]


def test_of_a_text_that_grew_the_last_one_counts() -> None:
    grown = [
        WINDOW[0],
        shown(3, "say", "text", "我先", partial=True),
        shown(3, "say", "text", "嗯，先读", partial=True),
        shown(3, "say", "text", "我先读", partial=True),
        shown(4, "say", "text", "我先读 main.py", partial=False),
        shown(5, "say", "text", "我先读 main.py 然后测试"),
    ]
    assert [text for _, text in said(parsed(cline, grown, DISPLAY))[1:]] == [
        "我先读 main.py",
        "我先读 main.py 然后测试",
    ]


def test_what_was_sent_reads_as_what_was_shown() -> None:
    found = parsed(cline, REQUESTS, SENT)
    assert said(found) == SAID
    assert tagged(found) == [
        ("thinking", "先看文件"),
        ("tool_result", "[read_file for 'main.py'] Result:\nprint(1)"),
        ("tool_result", "[ask_followup_question for '重试几次？'] Result:"),
    ]
    assert turns(found)[1].metadata == {"cwd": "/home/mei/app", "tool_calls": [{"name": "read_file"}]}
    assert turns(found)[0].conversation_id == "cline:1751700000000"


def test_a_task_with_both_files_is_read_once() -> None:
    beside = {DISPLAY: WINDOW}
    assert said(parsed(cline, REQUESTS, SENT, others=beside)) == []
    assert issues(parsed(cline, REQUESTS, SENT, others=beside)) == [
        ("not_a_transcript", "the same task is read from ui_messages.json beside it")
    ]
    assert said(parsed(cline, REQUESTS, SENT, others={DISPLAY: []})) == SAID
    assert said(parsed(cline, WINDOW, DISPLAY, others={SENT: REQUESTS})) == SAID


def test_a_refusal_of_a_tool_is_a_persons_word() -> None:
    denied = "The user denied this operation and provided the following feedback:\n<feedback>\n不要改这个\n</feedback>"
    request = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": denied}]}
    found = parsed(cline, [*REQUESTS[:1], request], SENT)
    assert said(found)[1] == ("user", "不要改这个")


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_what_a_tool_gave_is_no_persons_word_though_it_stands_in_a_block_of_its_own() -> None:
    named, command = "[read_file for 'main.py'] Result:", "[execute_command for 'cat <<E\n1\nE'] Result:\n1"
    question = "[ask_followup_question for '几次？'] Result:"
    requests = [
        {"role": "user", "content": [text(named), text("print(1)"), text(STATE)]},
        {"role": "user", "content": [text(command), text(question), text("<answer>\n三次\n</answer>")]},
    ]
    found = parsed(cline, [*REQUESTS[:1], *requests], SENT)
    assert said(found) == [*SAID[:1], ("user", "三次")]
    assert tagged(found) == [
        ("tool_result", f"{named}\n\nprint(1)"),
        ("tool_result", f"{command}\n\n{question}"),
    ]


def test_what_an_answer_tells_by_a_tool_is_read() -> None:
    call = {"type": "tool_use", "id": "t", "name": "attempt_completion", "input": {"result": "完成了"}}
    found = parsed(cline, [*REQUESTS[:1], {"role": "assistant", "content": [text("好"), call]}], SENT)
    assert said(found)[1] == ("assistant", "好\n\n完成了")


def test_a_session_of_the_sdk_is_read() -> None:
    document = {
        "version": 1,
        "agent": "lead",
        "messages": [
            {"id": "m1", "role": "user", "content": "你好", "ts": 1783376868634},
            {
                "id": "m2",
                "role": "assistant",
                "content": [{"type": "text", "text": "Hi"}],
                "ts": 1783376868635,
            },
        ],
        "sessionId": "s-1",
    }
    assert claim(cline, document) is not None
    beside = {"/home/mei/s-1.json": {"session_id": "s-1", "cwd": "/home/mei/app"}}
    found = parsed(cline, document, "/home/mei/s-1.messages.json", others=beside)
    assert said(found) == [("user", "你好"), ("assistant", "Hi")]
    assert (turns(found)[0].conversation_id, turns(found)[0].project) == ("cline:s-1", "/home/mei/app")


@for_each(("document", "path"), [(WINDOW, "/x.json"), (REQUESTS, "/x.json"), (REQUESTS[3:4], SENT)])
def test_a_task_is_claimed_by_what_it_holds(document: Any, path: str) -> None:
    claimed = claim(cline, document, path)
    assert claimed is not None
    assert claimed.confidence >= 90


def test_lists_of_tasks_are_no_transcripts_and_other_lists_are_not_its_own() -> None:
    claimed = claim(cline, [{"id": "1", "ts": 1, "task": "x", "tokensIn": 3}])
    assert claimed is not None
    assert not claimed.is_transcript
    assert claim(cline, [{"role": "user", "content": "hi"}]) is None
    assert claim(cline, [{"ts": 1, "type": "message", "text": "slack"}]) is None


def test_a_part_of_a_text_is_no_turn_once_the_whole_has_come() -> None:
    window = [
        shown(0, "say", "text", "Why is it slow?"),
        shown(1, "say", "text", "Let me look ", partial=True),
        shown(2, "say", "api_req_started", "{}"),
        shown(3, "say", "text", "Let me look at main.py.", partial=False),
        shown(4, "say", "text", "It waits", partial=True),
        shown(5, "say", "text", "It waits for the log.", partial=True),
        shown(6, "say", "text", "It waits for the log.", partial=False),
        shown(7, "say", "text", "And the reader was stopp", partial=True),
        shown(8, "say", "user_feedback", "never mind"),
    ]
    assert said(parsed(cline, window, DISPLAY)) == [
        ("user", "Why is it slow?"),
        ("assistant", "Let me look at main.py."),
        ("assistant", "It waits for the log."),
        ("assistant", "And the reader was stopp"),
        ("user", "never mind"),
    ]
