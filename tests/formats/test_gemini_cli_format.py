"""Gemini CLI: what a chat held in the end, in lines that were changed and taken back, and in documents."""

import json

from read_turns import as_lines, claimed, confidence, prefixes, read

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.gemini.gemini_cli import gemini_cli
from chatmemory.pastchats.formats.histories import PromptTurn
from chatmemory.pastchats.formats.reading.text_reader import TextReader
from tests.for_each import for_each

SESSION = "0ab84937-9fe7-4284-986a-33c832af0b6a"
HASH = "9da8b3dfb8655182ac1f0e66601c367e34f8d18447a29759eeba4d7e45dc60ea"
PATH = f"/home/mei/.gemini/tmp/{HASH}/chats/session-2026-03-02T09-12-0ab84937.jsonl"
HEADER: JsonObject = {
    "sessionId": SESSION,
    "projectHash": HASH,
    "startTime": "2026-03-02T09:12:00.000Z",
    "kind": "main",
}


def message(id_: str, kind: str, content: Json, **fields: Json) -> JsonObject:
    return {"id": id_, "timestamp": "2026-03-02T09:12:01.500Z", "type": kind, "content": content, **fields}


def user(id_: str, *texts: str, **fields: Json) -> JsonObject:
    return message(id_, "user", [{"text": text} for text in texts], **fields)


def gemini(id_: str, text: str, **fields: Json) -> JsonObject:
    return message(id_, "gemini", text, model="gemini-3-flash-preview", thoughts=[], **fields)


TOUCHED: JsonObject = {"$set": {"lastUpdated": "2026-03-02T09:13:00.000Z"}}
RESPONSE: JsonObject = {
    "functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "uv run"}}
}
TOOL_CALLS: Json = [{"id": "c1", "name": "read_file", "args": {}, "result": [RESPONSE], "status": "success"}]


def test_the_last_of_an_id_counts_and_stands_where_the_first_stood() -> None:
    history = as_lines(
        [
            HEADER,
            user("u1", "改用 uv run"),
            TOUCHED,
            gemini("g1", "I"),
            user("u2", "好了吗？"),
            gemini("g1", "I have read it.", toolCalls=TOOL_CALLS),
            TOUCHED,
        ]
    )
    found = read(gemini_cli, history, path=PATH)
    assert found.said == [("user", "改用 uv run"), ("assistant", "I have read it."), ("user", "好了吗？")]
    answer = found.kept[1]
    assert answer.metadata["tool_calls"] == ({"name": "read_file", "id": "c1", "status": "success"},)
    assert [(turn.kind, turn.content) for turn in found.turns if turn.role == "tool"] == [
        ("tool_result", "uv run")
    ]


def test_what_was_taken_back_is_gone_with_all_behind_it() -> None:
    said = [HEADER, user("u1", "一"), gemini("g1", "二"), user("u2", "三"), gemini("g2", "四")]
    again = user("u3", "重来")
    assert [text for _, text in read(gemini_cli, as_lines([*said, {"$rewindTo": "u2"}, again])).said] == [
        "一",
        "二",
        "重来",
    ]
    assert [text for _, text in read(gemini_cli, as_lines([*said, {"$rewindTo": "gone"}, again])).said] == [
        "重来"
    ]


def test_what_a_compression_left_out_was_said_all_the_same() -> None:
    snapshot = user("s1", "<state_snapshot>用户要求重试</state_snapshot>")
    history = as_lines(
        [
            HEADER,
            user("u1", "最早的问题"),
            gemini("g1", "The first answer"),
            {"$set": {"messages": [snapshot, gemini("g1", "[masked]")]}},
            user("u2", "然后呢？"),
        ]
    )
    assert read(gemini_cli, history).said == [
        ("user", "最早的问题"),
        ("assistant", "The first answer"),
        ("summary", "<state_snapshot>用户要求重试</state_snapshot>"),
        ("user", "然后呢？"),
    ]


def test_commands_and_the_tools_own_prompts_are_no_words_of_a_person() -> None:
    history = as_lines(
        [
            HEADER,
            user(
                "u1",
                "You are an AI agent that brings the power of Gemini",
                displayContent=[{"text": "/init"}],
            ),
            user("u2", "System: Please continue."),
            user("u3", "/chat save 重试"),
            user("u4", "/home is full", displayContent=[{"text": "the disk is full"}]),
            user(
                "u5", "This is the Gemini CLI. We are setting up the context for our chat.\nToday is Monday"
            ),
            message("i1", "info", "Request cancelled."),
        ]
    )
    turns = read(gemini_cli, history).turns
    assert [turn.kind for turn in turns] == ["command", "command", "command", "typed", "harness", "harness"]
    assert turns[0].metadata["display"] == "/init"


def test_thoughts_and_parts_are_parted_from_words() -> None:
    parts: Json = [
        {"text": "想一想", "thought": True},
        {"text": "第一段"},
        "Second",
        {"functionCall": {"name": "ls"}},
    ]
    thoughts: Json = [{"subject": "Plan", "description": "read it"}]
    history = as_lines(
        [HEADER, message("g1", "gemini", parts, thoughts=thoughts), user("u1", "@a.py 解释", "--- a.py ---")]
    )
    assert [(turn.kind, turn.content) for turn in read(gemini_cli, history).turns] == [
        ("thinking", "Plan: read it\n\n想一想"),
        ("typed", "第一段\n\nSecond"),
        ("typed", "@a.py 解释\n\n--- a.py ---"),
    ]


@for_each("indent", [None, 2])
@for_each("header_first", [True, False])
def test_a_session_in_one_document_is_read(indent: int | None, header_first: bool) -> None:
    messages: JsonObject = {
        "messages": [user("u1", "你好"), message("g1", "gemini", "Hi!", model="gemini-3")]
    }
    document = {**HEADER, **messages} if header_first else {**messages, **HEADER}
    history = json.dumps(document, ensure_ascii=False, indent=indent)
    found = read(gemini_cli, history, path=PATH.removesuffix("l"))
    assert found.said == [("user", "你好"), ("assistant", "Hi!")]
    assert found.conversations == [f"gemini_cli:{SESSION}"]
    assert found.kept[1].metadata["model"] == "gemini-3"
    assert confidence(gemini_cli, history) >= 90


def test_the_name_of_a_session_is_found_behind_long_messages() -> None:
    document = {"messages": [user("u1", "长" * 40_000)], **HEADER}
    assert read(gemini_cli, json.dumps(document, indent=1)).conversations == [f"gemini_cli:{SESSION}"]


def test_a_session_in_both_shapes_is_one_conversation_with_the_same_turns() -> None:
    messages = [user("u1", "你好"), gemini("g1", "Hi!")]
    lines = read(gemini_cli, as_lines([HEADER, *messages]), path=PATH).turns
    document = read(
        gemini_cli, json.dumps({**HEADER, "messages": messages}), path=PATH.removesuffix("l")
    ).turns
    assert lines == document


def test_checkpoints_of_the_first_versions_are_read() -> None:
    history: list[Json] = [
        {"role": "user", "parts": [{"text": "为什么？"}], "ts": 1772442720},
        {"role": "model", "parts": [{"text": "Because."}], "ts": 1772442725},
        {"role": "user", "parts": [RESPONSE]},
    ]
    for document in (history, {"history": history}):
        found = read(gemini_cli, json.dumps(document), path="/x/checkpoint-tag.json")
        assert found.said == [("user", "为什么？"), ("assistant", "Because.")]
        assert confidence(gemini_cli, json.dumps(document, indent=1)) >= 80
        assert found.kept[0].timestamp is not None
        assert found.kept[0].timestamp.year == 2026


def test_the_project_is_named_where_it_can_be_and_hashed_where_not() -> None:
    history = as_lines([HEADER, user("u1", "?")])
    files = {PATH: history, f"/home/mei/.gemini/tmp/{HASH}/.project_root": "/home/mei/relay\n"}
    (named,) = gemini_cli.parse(TextReader(PATH, files))
    assert isinstance(named, PromptTurn)
    assert named.project == "/home/mei/relay"
    assert read(gemini_cli, history, path=PATH).turns[0].project == HASH[:8]


def test_a_subagent_names_the_session_that_it_worked_for() -> None:
    header: JsonObject = {
        **HEADER,
        "sessionId": "sub-1",
        "kind": "subagent",
        "directories": ["/home/mei/relay"],
    }
    path = f"/home/mei/.gemini/tmp/relay/chats/{SESSION}/sub-1.jsonl"
    (turn,) = read(gemini_cli, as_lines([header, user("u1", "查找")]), path=path).turns
    assert (turn.conversation_id, turn.project) == ("gemini_cli:sub-1", "/home/mei/relay")
    assert turn.metadata["parent_session"] == SESSION


def test_unknown_records_are_named_and_damage_costs_its_line() -> None:
    history = as_lines([HEADER, message("x1", "hologram", "?"), {"type": "other"}, user("u1", "还在")])
    found = read(gemini_cli, history + "{]\n" + '{"id"')
    assert found.unknown == ["hologram", "other"]
    assert found.said == [("user", "还在")]
    assert [issue.code for issue in found.issues] == ["malformed_record", "truncated_tail"]


def test_a_chat_that_is_being_written_loses_nothing_that_is_whole() -> None:
    history = as_lines([HEADER, user("u1", "问"), TOUCHED, gemini("g1", "答"), user("u2", "再问")])
    whole = read(gemini_cli, history).said
    for prefix in prefixes(history, every=29):
        said = read(gemini_cli, prefix, block_bytes=11).said
        assert said == whole[: len(said)]
    assert len(whole) == 3


def test_it_knows_its_own_by_content_alone_and_leaves_others_alone() -> None:
    assert confidence(gemini_cli, as_lines([HEADER])) >= 95
    assert (
        claimed(gemini_cli, as_lines([{"type": "user", "sessionId": "s", "message": {"content": "?"}}]))
        is None
    )
    assert claimed(gemini_cli, json.dumps([{"role": "user", "content": "?"}])) is None
    log: list[JsonObject] = [
        {"sessionId": SESSION, "messageId": 0, "type": "user", "message": "?", "timestamp": "?"}
    ]
    claim = claimed(gemini_cli, json.dumps(log, indent=2))
    assert claim is not None
    assert not claim.is_transcript
