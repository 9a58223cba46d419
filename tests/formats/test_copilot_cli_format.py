"""Copilot CLI: which events are somebody's words, where they belong, and the sessions of its first versions."""

import json
from datetime import UTC, datetime
from typing import Any

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.tools.copilot_chat import copilot_chat
from chatmemory.pastchats.formats.tools.copilot_cli import copilot_cli
from tests.for_each import for_each
from tests.formats.large_history import as_json, lines
from tests.formats.read_turns import Read, certainty, claimed, parsed, read

SESSION = "96ef38f0-9d09-45c3-8124-6448c36090ed"
PATH = f"/home/mei/.copilot/session-state/{SESSION}/events.jsonl"


def event(number: int, kind: str, **data: Json) -> JsonObject:
    time = f"2026-03-02T09:12:{number:02d}.043Z"
    parent = f"event-{number - 1}" if number else None
    return {"type": kind, "data": data, "id": f"event-{number}", "timestamp": time, "parentId": parent}


def user(number: int, content: str, **data: Json) -> JsonObject:
    return event(number, "user.message", content=content, **data)


def assistant(number: int, content: str, **data: Json) -> JsonObject:
    return event(number, "assistant.message", content=content, **data)


CONTEXT: JsonObject = {"cwd": "/home/mei/relay", "gitRoot": "/home/mei/relay", "branch": "重试"}
START = event(0, "session.start", sessionId=SESSION, version=1, producer="copilot-agent", context=CONTEXT)


def reads(*events: JsonObject) -> Read:
    return read(copilot_cli, lines(START, *events), path=PATH, block_bytes=7)


def test_words_thoughts_and_results_of_tools_are_parted() -> None:
    calls: Json = [{"toolCallId": "call_1", "name": "bash", "arguments": {"command": "pytest"}}]
    result: JsonObject = {"toolCallId": "call_1", "success": True, "result": {"content": "3 failed"}}
    found = reads(
        event(1, "session.model_change", newModel="claude-sonnet-4.6"),
        event(2, "system.message", role="system", content="You are the GitHub Copilot CLI"),
        user(3, "跑一下测试", transformedContent="<current_datetime>…</current_datetime>\n跑一下测试"),
        event(4, "assistant.turn_start", turnId="0"),
        assistant(5, "", messageId="m1", toolRequests=calls, reasoningText="先跑"),
        event(6, "tool.execution_complete", **result),
        assistant(7, "Three fail.", messageId="m2", toolRequests=calls),
        event(8, "session.shutdown", shutdownType="routine"),
    )
    assert [(turn.role, turn.kind, turn.content) for turn in found.turns] == [
        ("system", "harness", "You are the GitHub Copilot CLI"),
        ("user", "typed", "跑一下测试"),
        ("assistant", "thinking", "先跑"),
        ("tool", "tool_result", "3 failed"),
        ("assistant", "typed", "Three fail."),
    ]
    answer = found.kept[-1]
    assert answer.conversation_id == f"copilot_cli:{SESSION}"
    assert (answer.project, answer.native_id) == ("/home/mei/relay", "event-7")
    about = {"git_branch": "重试", "model": "claude-sonnet-4.6"}
    assert answer.metadata == {**about, "tool_calls": ({"name": "bash", "id": "call_1"},)}


def test_subagents_and_what_was_taken_back_are_kept_apart_from_what_the_autopilot_says() -> None:
    found = reads(
        user(1, "", transformedContent="You have not marked the task as complete."),
        user(2, "继续", source="autopilot"),
        user(3, "是我", source="user"),
        event(4, "session.compaction_complete", success=True, summaryContent="修好了重试"),
    )
    assert [turn.kind for turn in found.turns] == ["harness", "harness", "typed", "summary"]
    assert found.said[-1] == ("summary", "修好了重试")
    named: JsonObject = {**assistant(3, "看过了"), "agentId": "agent-7"}
    called = assistant(2, "Looking", parentToolCallId="call_1")
    found = reads(user(1, "问一个代理"), called, named, assistant(4, "Done"))
    assert found.conversations == [f"copilot_cli:{SESSION}{rest}" for rest in ("", "/call_1", "/agent-7")]
    assert found.kept[1].metadata["parent_session"] == SESSION
    back = event(3, "session.snapshot_rewind", upToEventId="event-1", eventsRemoved=2)
    kept = reads(user(1, "用 Redis"), assistant(2, "Redis it is"), back, user(4, "用 SQLite")).kept
    assert [turn.metadata.get("on_current_path") for turn in kept] == [False, False, None]


def test_the_workspace_names_the_folder_and_the_session_which_is_else_called_after_its_folder() -> None:
    workspace = f'id: {SESSION}\ncwd: /home/mei/relay\nsummary: "修复重试"\nbranch: main\nuser_named: false\n'
    events = lines(event(0, "session.start", sessionId=SESSION), user(1, "?"))
    beside = {PATH.replace("events.jsonl", "workspace.yaml"): workspace}
    (turn,) = parsed(copilot_cli, events, PATH, beside).kept
    assert (turn.project, turn.metadata["title"]) == ("/home/mei/relay", "修复重试")
    partition = "/home/mei/.copilot/jb/{0}/partition-1.jsonl"
    for path, name in (
        (PATH, SESSION),
        (PATH.replace("/events.jsonl", ".jsonl"), SESSION),
        (partition.format("a"), "a/partition-1"),
        (partition.format("b"), "b/partition-1"),
    ):
        assert read(copilot_cli, lines(user(1, "?")), path=path).conversations == [f"copilot_cli:{name}"]


@for_each("indent", [None, 2])
def test_sessions_of_the_first_versions_are_read(indent: int | None) -> None:
    def shown(number: int, kind: str, **fields: Any) -> dict[str, Any]:
        return {"id": f"t{number}", "timestamp": f"2025-10-02T09:12:0{number}.000Z", "type": kind, **fields}

    said = [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "Hello"}]
    timeline = [
        shown(1, "user", text="你好"),
        shown(2, "tool_call_completed", name="bash"),
        shown(3, "copilot", text="Hello"),
        shown(4, "info", text="Model changed"),
        shown(5, "hologram", text="?"),
    ]
    about = {"sessionId": SESSION, "startTime": "2025-10-02T09:12:00.000Z", "selectedModel": "gpt-5"}
    document = {**about, "chatMessages": said, "timeline": timeline}
    history = as_json(document, indent=indent)
    found = read(copilot_cli, history, path="/x/session_1.json")
    assert found.said == [("user", "你好"), ("assistant", "Hello")]
    assert found.conversations == [f"copilot_cli:{SESSION}"]
    assert found.kept[1].metadata == {"model": "gpt-5"}
    assert found.unknown == ["hologram"]
    assert certainty(copilot_cli, history) >= 90


def test_it_names_unknown_events_and_knows_its_own_by_content_alone() -> None:
    history = lines(START, event(1, "hologram.shown"), event(2, "hook.start"), user(3, "还在"))
    found = read(copilot_cli, history + '[1]\nnot json\n{"type"')
    assert (found.unknown, found.said) == (["hologram.shown"], [("user", "还在")])
    codes = ["malformed_record", "malformed_record", "truncated_tail"]
    assert [issue.code for issue in found.issues] == codes
    bare = {"type": "user.message", "data": {"content": "你好"}}
    for own, least in ((START, 95), (user(1, "?"), 90), (bare, 90)):
        assert certainty(copilot_cli, lines(own)) >= least
    for other in ({"type": "user.message", "content": "?"}, {"type": "human", "data": {"content": "?"}}):
        assert claimed(copilot_cli, lines(other)) is None


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


def test_a_request_is_a_question_and_its_answer_in_the_project_that_was_open() -> None:
    document = export(request(1, "写个 PRD", value("好的。")), sessionId="s-1", customTitle="PRD")
    found = parsed(copilot_chat, document)
    assert found.said == [("user", "写个 PRD"), ("assistant", "好的。")]
    question, answer = found.kept
    assert (question.conversation_id, question.project) == ("copilot_chat:s-1", "/home/mei/repo")
    assert answer.timestamp == datetime(2025, 9, 12, 23, 41, 14, 535000, UTC)
    assert answer.metadata == {"title": "PRD", "model": "copilot/claude-sonnet-4"}
    requests = [request(1, "a", value("b")), request(2, "c", value("d"))]
    for count in (1, 2):
        said_by = parsed(copilot_chat, export(*requests[:count])).kept
        assert {turn.conversation_id for turn in said_by} == {"copilot_chat:request_1"}
    folder = {"folder": "file:///c%3A/%E9%A1%B9%E7%9B%AE"}
    beside = {LOG.replace("chatSessions/s-1.jsonl", "workspace.json"): folder}
    found = parsed(copilot_chat, lines(LOG_START, ONE), LOG, others=beside).kept
    assert {turn.project for turn in found} == {"c:/项目"}
    state = export(request(1, "在哪？", {"value": "这里。"}), workingDirectory="file:///home/mei/log%20dir")
    question, _ = parsed(copilot_chat, lines({"kind": 0, "v": state})).kept
    assert question.project == "/home/mei/log dir"


def test_an_answer_is_put_together_from_its_parts_and_the_editors_own_question_tagged() -> None:
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
    assert found.kept[1].content == "The BRAINSTORM.md file exists.\n\n先改。\n\n完成了。"
    assert found.kept[1].metadata["tool_calls"] == [{"name": "copilot_readFile", "id": "t1"}]
    assert found.tagged == [("thinking", "想一想")]
    assert found.unknown == ["response hologram"]
    own = request(1, "Terminal finished", value("ok"), isSystemInitiated=True)
    found = parsed(copilot_chat, export(own, "?"))
    assert found.said == [("assistant", "ok")]
    assert found.tagged == [("harness", "Terminal finished")]
    assert found.issue_details == [("malformed_record", "a request that is no object, the 1.")]


LOG_START: dict[str, Any] = {"kind": 0, "v": export(sessionId="s-1", version=3)}
ONE = push(["requests"], request(1, "一", value("1")))


def test_a_log_is_replayed_to_its_end() -> None:
    content = lines(
        LOG_START,
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
    assert found.said == [
        ("user", "怎么重试？"),
        ("assistant", "第一版"),
        ("user", "改过的问题"),
        ("assistant", "答案"),
    ]
    first = found.kept[0]
    assert (first.conversation_id, first.metadata) == ("copilot_chat:s-1", {"title": "重试"})
    assert found.issue_details == []


def test_a_log_is_replayed_whole_compacted_or_cut() -> None:
    late = push(["requests", 0, "response"], value("1"))
    requests = [request(1, "一", value("1")), request(2, "二", value("2"))]
    whole = {"kind": 0, "v": export(*requests, sessionId="s-1")}
    grown = lines(LOG_START, push(["requests"], request(1, "一"), requests[1]), late)
    for content in (grown, lines(whole), json.dumps(whole)):
        assert certainty(copilot_chat, content, LOG) > 0
        assert [text for _, text in parsed(copilot_chat, content, LOG).said] == ["一", "1", "二", "2"]
    for content, codes in (
        (lines(LOG_START, ONE) + '{"kind":1,"k":["re', ["truncated_tail"]),
        (lines(ONE, put([], 1)), []),
    ):
        found = parsed(copilot_chat, content, LOG)
        assert found.said == [("user", "一"), ("assistant", "1")]
        assert [(issue.code, issue.line) for issue in found.issues] == [(code, 3) for code in codes]
    empty: dict[str, Any] = {"version": 3, "requests": []}
    for state, is_known in (
        ({**empty, "sessionId": "s-1"}, True),
        (empty, True),
        ({"sessionId": "s-1"}, False),
    ):
        assert bool(certainty(copilot_chat, lines({"kind": 0, "v": state}))) == is_known
