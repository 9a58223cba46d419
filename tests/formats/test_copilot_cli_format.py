"""Copilot CLI: which events are somebody's words, where they belong, and the sessions of its first versions."""

import json
from typing import Any

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.copilot.copilot_cli import copilot_cli
from tests.for_each import for_each
from tests.formats.exported import certainty, parsed, turns
from tests.formats.large_history import lines
from tests.read_turns import Read, claimed, read

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
    """Read a session of these events behind its start."""
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


def test_what_the_autopilot_says_for_the_user_is_tagged_and_a_compaction_is_a_summary() -> None:
    found = reads(
        user(1, "", transformedContent="You have not marked the task as complete."),
        user(2, "继续", source="autopilot"),
        user(3, "是我", source="user"),
        event(4, "session.compaction_complete", success=True, summaryContent="修好了重试"),
    )
    assert [turn.kind for turn in found.turns] == ["harness", "harness", "typed", "summary"]
    assert found.said[-1] == ("summary", "修好了重试")


def test_a_subagent_is_a_conversation_of_its_own() -> None:
    named: JsonObject = {**assistant(3, "看过了"), "agentId": "agent-7"}
    called = assistant(2, "Looking", parentToolCallId="call_1")
    found = reads(user(1, "问一个代理"), called, named, assistant(4, "Done"))
    assert found.conversations == [f"copilot_cli:{SESSION}{rest}" for rest in ("", "/call_1", "/agent-7")]
    assert found.kept[1].metadata["parent_session"] == SESSION


def test_what_somebody_went_back_behind_is_kept_and_marked() -> None:
    back = event(3, "session.snapshot_rewind", upToEventId="event-1", eventsRemoved=2)
    kept = reads(user(1, "用 Redis"), assistant(2, "Redis it is"), back, user(4, "用 SQLite")).kept
    assert [turn.metadata.get("on_current_path") for turn in kept] == [False, False, None]


def test_the_workspace_names_the_folder_and_the_session() -> None:
    workspace = f'id: {SESSION}\ncwd: /home/mei/relay\nsummary: "修复重试"\nbranch: main\nuser_named: false\n'
    events = lines(event(0, "session.start", sessionId=SESSION), user(1, "?"))
    beside = {PATH.replace("events.jsonl", "workspace.yaml"): workspace}
    (turn,) = turns(parsed(copilot_cli, events, PATH, beside))
    assert (turn.project, turn.metadata["title"]) == ("/home/mei/relay", "修复重试")


def test_a_session_without_a_start_is_called_after_its_folder() -> None:
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

    document = {
        "sessionId": SESSION,
        "startTime": "2025-10-02T09:12:00.000Z",
        "chatMessages": [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "Hello"}],
        "timeline": [
            shown(1, "user", text="你好"),
            shown(2, "tool_call_completed", name="bash"),
            shown(3, "copilot", text="Hello"),
            shown(4, "info", text="Model changed"),
            shown(5, "hologram", text="?"),
        ],
        "selectedModel": "gpt-5",
    }
    history = json.dumps(document, ensure_ascii=False, indent=indent)
    found = read(copilot_cli, history, path="/x/session_1.json")
    assert found.said == [("user", "你好"), ("assistant", "Hello")]
    assert found.conversations == [f"copilot_cli:{SESSION}"]
    assert found.kept[1].metadata == {"model": "gpt-5"}
    assert found.unknown == ["hologram"]
    assert certainty(copilot_cli, history) >= 90


def test_unknown_events_are_named_and_damage_costs_its_line() -> None:
    history = lines(START, event(1, "hologram.shown"), event(2, "hook.start"), user(3, "还在"))
    found = read(copilot_cli, history + '[1]\nnot json\n{"type"')
    assert (found.unknown, found.said) == (["hologram.shown"], [("user", "还在")])
    codes = ["malformed_record", "malformed_record", "truncated_tail"]
    assert [issue.code for issue in found.issues] == codes


def test_it_knows_its_own_by_content_alone_and_leaves_others_alone() -> None:
    bare = {"type": "user.message", "data": {"content": "你好"}}
    for own, least in ((START, 95), (user(1, "?"), 90), (bare, 90)):
        assert certainty(copilot_cli, lines(own)) >= least
    for other in ({"type": "user.message", "content": "?"}, {"type": "human", "data": {"content": "?"}}):
        assert claimed(copilot_cli, lines(other)) is None
