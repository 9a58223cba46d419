"""Chats of Visual Studio Code: exports, and the log of mutations that its own files are."""

import json
from datetime import UTC, datetime
from typing import Any

from chatmemory.pastchats.formats.copilot.copilot_chat import copilot_chat
from tests.formats.exported import claim, issues, parsed, said, tagged, turns, unknown

LOG = "/home/mei/.config/Code/User/workspaceStorage/ab12/chatSessions/s-1.jsonl"


def request(number: int, text: str, *response: Any, **fields: Any) -> dict[str, Any]:
    return {
        "requestId": f"request_{number}",
        "message": {"text": text, "parts": []},
        "response": list(response),
        "timestamp": 1757720474534 + number,
        "modelId": "copilot/claude-sonnet-4",
        **fields,
    }


def export(*requests: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "requesterUsername": "mei",
        "responderUsername": "GitHub Copilot",
        "requests": list(requests),
        **fields,
    }


def value(text: str) -> dict[str, Any]:
    return {"value": text, "supportThemeIcons": False, "baseUri": {"path": "/home/mei/repo/"}}


def log(*entries: dict[str, Any]) -> str:
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)


def test_a_request_is_a_question_and_its_answer() -> None:
    document = export(request(1, "写个 PRD", value("好的。")), sessionId="s-1", customTitle="PRD")
    question, answer = turns(parsed(copilot_chat, document))
    assert (question.role, question.content, answer.role, answer.content) == (
        "user",
        "写个 PRD",
        "assistant",
        "好的。",
    )
    assert question.conversation_id == "copilot_chat:s-1"
    assert answer.timestamp == datetime(2025, 9, 12, 23, 41, 14, 535000, UTC)
    assert answer.metadata == {"title": "PRD", "model": "copilot/claude-sonnet-4"}
    assert question.project == "/home/mei/repo"


def test_an_export_goes_by_its_first_request() -> None:
    shorter = turns(parsed(copilot_chat, export(request(1, "a", value("b")))))
    longer = turns(parsed(copilot_chat, export(request(1, "a", value("b")), request(2, "c", value("d")))))
    assert {turn.conversation_id for turn in (*shorter, *longer)} == {"copilot_chat:request_1"}


def test_an_answer_is_put_together_from_its_parts() -> None:
    answer = [
        value("The "),
        {"kind": "inlineReference", "inlineReference": {"path": "/repo/BRAINSTORM.md", "scheme": "file"}},
        value(" file exists."),
        {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "toolCallId": "t1"},
        {"kind": "thinking", "value": "想一想"},
        value("先改。"),
        {"kind": "progressMessage", "content": {"value": "..."}},
        value("\n```\n"),
        {"kind": "undoStop", "id": "x"},
        {"kind": "textEditGroup", "edits": []},
        value("\n```\n"),
        {"kind": "markdownContent", "content": {"value": "完成了。"}},
        {"kind": "hologram"},
    ]
    found = parsed(copilot_chat, export(request(1, "?", *answer)))
    assert turns(found)[1].content == "The BRAINSTORM.md file exists.\n\n先改。\n\n完成了。"
    assert turns(found)[1].metadata["tool_calls"] == [{"name": "copilot_readFile", "id": "t1"}]
    assert tagged(found) == [("thinking", "想一想")]
    assert unknown(found) == ["response hologram"]


def test_what_the_editor_asked_by_itself_is_no_persons_question() -> None:
    found = parsed(copilot_chat, export(request(1, "Terminal finished", value("ok"), isSystemInitiated=True)))
    assert said(found) == [("assistant", "ok")]
    assert tagged(found) == [("harness", "Terminal finished")]


def test_a_request_that_is_no_object_is_an_issue() -> None:
    document = export(request(1, "a", value("b")))
    document["requests"].append("?")
    assert issues(parsed(copilot_chat, document)) == [
        ("malformed_record", "a request that is no object, the 1.")
    ]


START: dict[str, Any] = {"kind": 0, "v": export(sessionId="s-1", version=3)}


def test_a_log_is_replayed_to_its_end() -> None:
    content = log(
        START,
        {"kind": 1, "k": ["customTitle"], "v": "重试"},
        {"kind": 2, "k": ["requests"], "v": [request(1, "怎么重试？")]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [value("第一"), value("稿")]},
        {"kind": 2, "k": ["requests", 0, "response"], "i": 1, "v": [value("版")]},
        {"kind": 2, "k": ["requests"], "v": [request(2, "作废的问题", value("作废的答案"))]},
        {"kind": 2, "k": ["requests"], "i": 1, "v": [request(3, "改过的问题")]},
        {"kind": 1, "k": ["requests", 1, "response"], "v": [value("答案")]},
        {"kind": 1, "k": ["requests", 0, "modelState"], "v": {"value": 1}},
        {"kind": 1, "k": ["requests", 7, "response"], "v": [value("nobody")]},
        {"kind": 3, "k": ["inputState"]},
    )
    found = parsed(copilot_chat, content, LOG)
    assert said(found) == [
        ("user", "怎么重试？"),
        ("assistant", "第一版"),
        ("user", "改过的问题"),
        ("assistant", "答案"),
    ]
    assert turns(found)[0].conversation_id == "copilot_chat:s-1"
    assert turns(found)[0].metadata == {"title": "重试"}
    assert issues(found) == []


def test_requests_come_in_their_order_though_the_first_changes_last() -> None:
    content = log(
        START,
        {"kind": 2, "k": ["requests"], "v": [request(1, "一"), request(2, "二", value("2"))]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [value("1")]},
    )
    assert [text for _, text in said(parsed(copilot_chat, content, LOG))] == ["一", "1", "二", "2"]


def test_a_log_that_was_compacted_to_one_line_reads_the_same() -> None:
    whole = export(request(1, "一", value("1")), request(2, "二", value("2")), sessionId="s-1")
    for content in (log({"kind": 0, "v": whole}), json.dumps({"kind": 0, "v": whole})):
        assert claim(copilot_chat, content, LOG) is not None
        assert [text for _, text in said(parsed(copilot_chat, content, LOG))] == ["一", "1", "二", "2"]


def test_a_damaged_line_of_a_log_is_an_issue_and_the_rest_is_replayed() -> None:
    content = (
        log(START, {"kind": 2, "k": ["requests"], "v": [request(1, "一", value("1"))]}) + '{"kind":1,"k":["re'
    )
    found = parsed(copilot_chat, content, LOG)
    assert said(found) == [("user", "一"), ("assistant", "1")]
    assert [code for code, _ in issues(found)] == ["truncated_tail"]


def test_the_project_is_the_folder_that_the_editor_had_open() -> None:
    beside = {
        LOG.replace("chatSessions/s-1.jsonl", "workspace.json"): {"folder": "file:///c%3A/%E9%A1%B9%E7%9B%AE"}
    }
    content = log(START, {"kind": 2, "k": ["requests"], "v": [request(1, "一", value("1"))]})
    assert {turn.project for turn in turns(parsed(copilot_chat, content, LOG, others=beside))} == {"c:/项目"}


def test_a_log_without_its_beginning_is_no_reason_to_fail() -> None:
    content = log(
        {"kind": 2, "k": ["requests"], "v": [request(1, "一", value("1"))]}, {"kind": 1, "k": [], "v": 1}
    )
    assert said(parsed(copilot_chat, content, LOG)) == [("user", "一"), ("assistant", "1")]


def test_a_log_is_known_without_the_name_of_who_answers() -> None:
    state: dict[str, Any] = {"version": 3, "sessionId": "s-1", "requests": []}
    found = claim(copilot_chat, log({"kind": 0, "v": state}))
    assert found is not None
    assert claim(copilot_chat, log({"kind": 0, "v": {"version": 3, "requests": []}})) is not None
    assert claim(copilot_chat, log({"kind": 0, "v": {"sessionId": "s-1"}})) is None


def test_a_session_may_say_where_it_worked() -> None:
    state = export(request(1, "在哪？", {"kind": "markdownContent", "content": {"value": "这里。"}}))
    state["workingDirectory"] = "file:///home/mei/log%20dir"
    question, answer = turns(parsed(copilot_chat, log({"kind": 0, "v": state})))
    assert (question.project, answer.content) == ("/home/mei/log dir", "这里。")
