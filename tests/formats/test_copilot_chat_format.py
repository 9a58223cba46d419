"""Chats of Visual Studio Code: exports, and the log of mutations that its own files are."""

import json
from datetime import UTC, datetime
from typing import Any

from chatmemory.pastchats.formats.copilot.copilot_chat import copilot_chat
from tests.formats.exported import certainty, issues, parsed, said, tagged, turns, unknown
from tests.formats.large_history import lines

LOG = "/home/mei/.config/Code/User/workspaceStorage/ab12/chatSessions/s-1.jsonl"


def request(number: int, text: str, *response: Any, **fields: Any) -> dict[str, Any]:
    said = {"message": {"text": text, "parts": []}, "response": list(response)}
    about = {"timestamp": 1757720474534 + number, "modelId": "copilot/claude-sonnet-4"}
    return {"requestId": f"request_{number}", **said, **about, **fields}


def export(*requests: Any, **fields: Any) -> dict[str, Any]:
    people = {"requesterUsername": "mei", "responderUsername": "GitHub Copilot"}
    return {**people, "requests": list(requests), **fields}


def value(text: str) -> dict[str, Any]:
    return {"value": text, "supportThemeIcons": False, "baseUri": {"path": "/home/mei/repo/"}}


def put(key: list[Any], new: Any) -> dict[str, Any]:
    return {"kind": 1, "k": key, "v": new}


def push(key: list[Any], *new: Any, **at: int) -> dict[str, Any]:
    return {"kind": 2, "k": key, "v": list(new), **at}


def test_a_request_is_a_question_and_its_answer() -> None:
    document = export(request(1, "写个 PRD", value("好的。")), sessionId="s-1", customTitle="PRD")
    found = parsed(copilot_chat, document)
    assert said(found) == [("user", "写个 PRD"), ("assistant", "好的。")]
    question, answer = turns(found)
    assert (question.conversation_id, question.project) == ("copilot_chat:s-1", "/home/mei/repo")
    assert answer.timestamp == datetime(2025, 9, 12, 23, 41, 14, 535000, UTC)
    assert answer.metadata == {"title": "PRD", "model": "copilot/claude-sonnet-4"}


def test_an_export_goes_by_its_first_request() -> None:
    requests = [request(1, "a", value("b")), request(2, "c", value("d"))]
    for count in (1, 2):
        found = turns(parsed(copilot_chat, export(*requests[:count])))
        assert {turn.conversation_id for turn in found} == {"copilot_chat:request_1"}


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


def test_what_the_editor_asked_by_itself_is_no_persons_question_and_no_object_is_an_issue() -> None:
    own = request(1, "Terminal finished", value("ok"), isSystemInitiated=True)
    found = parsed(copilot_chat, export(own, "?"))
    assert said(found) == [("assistant", "ok")]
    assert tagged(found) == [("harness", "Terminal finished")]
    assert issues(found) == [("malformed_record", "a request that is no object, the 1.")]


START: dict[str, Any] = {"kind": 0, "v": export(sessionId="s-1", version=3)}
ONE = push(["requests"], request(1, "一", value("1")))


def test_a_log_is_replayed_to_its_end() -> None:
    content = lines(
        START,
        put(["customTitle"], "重试"),
        push(["requests"], request(1, "怎么重试？")),
        push(["requests", 0, "response"], value("第一"), value("稿")),
        push(["requests", 0, "response"], value("版"), i=1),
        push(["requests"], request(2, "作废的问题", value("作废的答案"))),
        push(["requests"], request(3, "改过的问题"), i=1),
        put(["requests", 1, "response"], [value("答案")]),
        put(["requests", 0, "modelState"], {"value": 1}),
        put(["requests", 7, "response"], [value("nobody")]),
        {"kind": 3, "k": ["inputState"]},
    )
    found = parsed(copilot_chat, content, LOG)
    assert said(found) == [
        ("user", "怎么重试？"),
        ("assistant", "第一版"),
        ("user", "改过的问题"),
        ("assistant", "答案"),
    ]
    first = turns(found)[0]
    assert (first.conversation_id, first.metadata) == ("copilot_chat:s-1", {"title": "重试"})
    assert issues(found) == []


def test_requests_come_in_their_order_in_a_log_that_was_compacted_too() -> None:
    late = push(["requests", 0, "response"], value("1"))
    requests = [request(1, "一", value("1")), request(2, "二", value("2"))]
    whole = {"kind": 0, "v": export(*requests, sessionId="s-1")}
    grown = lines(START, push(["requests"], request(1, "一"), requests[1]), late)
    for content in (grown, lines(whole), json.dumps(whole)):
        assert certainty(copilot_chat, content, LOG) > 0
        assert [text for _, text in said(parsed(copilot_chat, content, LOG))] == ["一", "1", "二", "2"]


def test_a_log_that_lost_its_beginning_or_its_end_is_replayed() -> None:
    for content, codes in (
        (lines(START, ONE) + '{"kind":1,"k":["re', ["truncated_tail"]),
        (lines(ONE, put([], 1)), []),
    ):
        found = parsed(copilot_chat, content, LOG)
        assert said(found) == [("user", "一"), ("assistant", "1")]
        assert [code for code, _ in issues(found)] == codes


def test_a_log_is_known_without_the_name_of_who_answers() -> None:
    empty: dict[str, Any] = {"version": 3, "requests": []}
    for state, is_known in (
        ({**empty, "sessionId": "s-1"}, True),
        (empty, True),
        ({"sessionId": "s-1"}, False),
    ):
        assert bool(certainty(copilot_chat, lines({"kind": 0, "v": state}))) == is_known


def test_the_project_is_what_the_editor_had_open_or_where_the_session_says_that_it_worked() -> None:
    folder = {"folder": "file:///c%3A/%E9%A1%B9%E7%9B%AE"}
    beside = {LOG.replace("chatSessions/s-1.jsonl", "workspace.json"): folder}
    found = turns(parsed(copilot_chat, lines(START, ONE), LOG, others=beside))
    assert {turn.project for turn in found} == {"c:/项目"}
    state = export(request(1, "在哪？", {"value": "这里。"}), workingDirectory="file:///home/mei/log%20dir")
    question, _ = turns(parsed(copilot_chat, lines({"kind": 0, "v": state})))
    assert question.project == "/home/mei/log dir"
