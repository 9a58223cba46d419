"""Copilot CLI: which events are somebody's words, where they belong, and the sessions of its first versions."""

import json

from read_turns import as_lines, claimed, confidence, prefixes, read

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.copilot.copilot_cli import copilot_cli
from chatmemory.pastchats.formats.histories import PromptTurn
from chatmemory.pastchats.formats.reading.text_reader import TextReader

SESSION = "96ef38f0-9d09-45c3-8124-6448c36090ed"
PATH = f"/home/mei/.copilot/session-state/{SESSION}/events.jsonl"


def event(number: int, kind: str, **data: Json) -> JsonObject:
    return {
        "type": kind,
        "data": data,
        "id": f"event-{number}",
        "timestamp": f"2026-03-02T09:12:{number:02d}.043Z",
        "parentId": f"event-{number - 1}" if number else None,
    }


CONTEXT: JsonObject = {"cwd": "/home/mei/relay", "gitRoot": "/home/mei/relay", "branch": "重试"}
START = event(0, "session.start", sessionId=SESSION, version=1, producer="copilot-agent", context=CONTEXT)
CALLS: Json = [{"toolCallId": "call_1", "name": "bash", "arguments": {"command": "pytest"}}]


def test_words_thoughts_and_results_of_tools_are_parted() -> None:
    history = as_lines(
        [
            START,
            event(1, "session.model_change", newModel="claude-sonnet-4.6"),
            event(2, "system.message", role="system", content="You are the GitHub Copilot CLI"),
            event(
                3,
                "user.message",
                content="跑一下测试",
                transformedContent="<current_datetime>…</current_datetime>\n跑一下测试",
            ),
            event(4, "assistant.turn_start", turnId="0"),
            event(
                5, "assistant.message", messageId="m1", content="", toolRequests=CALLS, reasoningText="先跑"
            ),
            event(
                6,
                "tool.execution_complete",
                toolCallId="call_1",
                success=True,
                result={"content": "3 failed"},
            ),
            event(7, "assistant.message", messageId="m2", content="Three fail.", toolRequests=CALLS),
            event(8, "session.shutdown", shutdownType="routine"),
        ]
    )
    found = read(copilot_cli, history, path=PATH)
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
    assert answer.metadata == {
        "git_branch": "重试",
        "model": "claude-sonnet-4.6",
        "tool_calls": ({"name": "bash", "id": "call_1"},),
    }


def test_what_the_autopilot_says_for_the_user_is_tagged() -> None:
    history = as_lines(
        [
            START,
            event(
                1, "user.message", content="", transformedContent="You have not marked the task as complete."
            ),
            event(2, "user.message", content="继续", source="autopilot"),
            event(3, "user.message", content="是我", source="user"),
        ]
    )
    assert [turn.kind for turn in read(copilot_cli, history).turns] == ["harness", "harness", "typed"]


def test_a_subagent_is_a_conversation_of_its_own() -> None:
    history = as_lines(
        [
            START,
            event(1, "user.message", content="问一个代理"),
            event(2, "assistant.message", content="Looking", parentToolCallId="call_1"),
            {**event(3, "assistant.message", content="看过了"), "agentId": "agent-7"},
            event(4, "assistant.message", content="Done"),
        ]
    )
    found = read(copilot_cli, history)
    assert found.conversations == [f"copilot_cli:{SESSION}{rest}" for rest in ("", "/call_1", "/agent-7")]
    assert found.kept[1].metadata["parent_session"] == SESSION


def test_what_somebody_went_back_behind_is_kept_and_marked() -> None:
    history = as_lines(
        [
            START,
            event(1, "user.message", content="用 Redis"),
            event(2, "assistant.message", content="Redis it is"),
            event(3, "session.snapshot_rewind", upToEventId="event-1", eventsRemoved=2),
            event(4, "user.message", content="用 SQLite"),
        ]
    )
    kept = read(copilot_cli, history, block_bytes=7).kept
    assert [turn.metadata.get("on_current_path") for turn in kept] == [False, False, None]


def test_a_compaction_is_a_summary() -> None:
    history = as_lines(
        [START, event(1, "session.compaction_complete", success=True, summaryContent="修好了重试")]
    )
    assert [(turn.role, turn.kind) for turn in read(copilot_cli, history).kept] == [("summary", "summary")]


def test_the_workspace_names_the_folder_and_the_session() -> None:
    workspace = f'id: {SESSION}\ncwd: /home/mei/relay\nsummary: "修复重试"\nbranch: main\nuser_named: false\n'
    events = as_lines([event(0, "session.start", sessionId=SESSION), event(1, "user.message", content="?")])
    files = {PATH: events, PATH.replace("events.jsonl", "workspace.yaml"): workspace}
    (turn,) = copilot_cli.parse(TextReader(PATH, files))
    assert isinstance(turn, PromptTurn)
    assert (turn.project, turn.metadata["title"]) == ("/home/mei/relay", "修复重试")


def test_a_session_without_a_start_is_called_after_its_folder() -> None:
    events = as_lines([event(1, "user.message", content="?")])
    assert read(copilot_cli, events, path=PATH).conversations == [f"copilot_cli:{SESSION}"]
    legacy = PATH.replace("/events.jsonl", ".jsonl")
    assert read(copilot_cli, events, path=legacy).conversations == [f"copilot_cli:{SESSION}"]


def test_sessions_of_the_first_versions_are_read() -> None:
    document = {
        "sessionId": SESSION,
        "startTime": "2025-10-02T09:12:00.000Z",
        "chatMessages": [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "Hello"}],
        "timeline": [
            {"id": "t1", "timestamp": "2025-10-02T09:12:01.000Z", "type": "user", "text": "你好"},
            {
                "id": "t2",
                "timestamp": "2025-10-02T09:12:02.000Z",
                "type": "tool_call_completed",
                "name": "bash",
            },
            {"id": "t3", "timestamp": "2025-10-02T09:12:03.000Z", "type": "copilot", "text": "Hello"},
            {"id": "t4", "timestamp": "2025-10-02T09:12:04.000Z", "type": "info", "text": "Model changed"},
            {"id": "t5", "timestamp": "2025-10-02T09:12:05.000Z", "type": "hologram", "text": "?"},
        ],
        "selectedModel": "gpt-5",
    }
    for indent in (None, 2):
        history = json.dumps(document, ensure_ascii=False, indent=indent)
        found = read(copilot_cli, history, path="/x/session_1.json")
        assert found.said == [("user", "你好"), ("assistant", "Hello")]
        assert found.conversations == [f"copilot_cli:{SESSION}"]
        assert found.kept[1].metadata == {"model": "gpt-5"}
        assert found.unknown == ["hologram"]
        assert confidence(copilot_cli, history) >= 90


def test_unknown_events_are_named_and_damage_costs_its_line() -> None:
    history = as_lines(
        [START, event(1, "hologram.shown"), event(2, "hook.start"), event(3, "user.message", content="还在")]
    )
    found = read(copilot_cli, history + "[1]\nnot json\n" + '{"type"')
    assert found.unknown == ["hologram.shown"]
    assert found.said == [("user", "还在")]
    assert [issue.code for issue in found.issues] == [
        "malformed_record",
        "malformed_record",
        "truncated_tail",
    ]


def test_a_session_that_is_being_written_loses_nothing_that_is_whole() -> None:
    history = as_lines(
        [START, event(1, "user.message", content="问"), event(2, "assistant.message", content="答")]
    )
    whole = read(copilot_cli, history).said
    for prefix in prefixes(history, every=23):
        said = read(copilot_cli, prefix, block_bytes=5).said
        assert said == whole[: len(said)]
    assert len(whole) == 2


def test_it_knows_its_own_by_content_alone_and_leaves_others_alone() -> None:
    assert confidence(copilot_cli, as_lines([START])) >= 95
    assert confidence(copilot_cli, as_lines([event(1, "user.message", content="?")])) >= 90
    assert claimed(copilot_cli, as_lines([{"type": "user.message", "content": "?"}])) is None
    assert claimed(copilot_cli, as_lines([{"type": "human", "data": {"content": "?"}}])) is None


def test_the_partitions_of_two_sessions_are_conversations_of_their_own() -> None:
    history = as_lines([{"type": "user.message", "data": {"content": "你好"}}])
    assert confidence(copilot_cli, history) >= 90
    ids = {
        read(copilot_cli, history, path=f"/home/mei/.copilot/jb/{session}/partition-1.jsonl")
        .turns[0]
        .conversation_id
        for session in ("a", "b")
    }
    assert ids == {"copilot_cli:a/partition-1", "copilot_cli:b/partition-1"}
