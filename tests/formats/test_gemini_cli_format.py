"""Gemini CLI: what a chat held in the end, in lines that were changed and taken back, and in documents."""

import json

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.tools.gemini_cli import gemini_cli
from chatmemory.pastchats.formats.web.gemini_takeout import gemini_takeout
from tests.for_each import for_each
from tests.formats.large_history import as_json, lines
from tests.formats.read_turns import Read, certainty, claimed, is_beside, parsed, read
from tests.formats.small_histories import ANSWERED, ASKED, CLOSED, TALK, THANKED

SESSION = "0ab84937-9fe7-4284-986a-33c832af0b6a"
HASH = "9da8b3dfb8655182ac1f0e66601c367e34f8d18447a29759eeba4d7e45dc60ea"
PATH = f"/home/mei/.gemini/tmp/{HASH}/chats/session-2026-03-02T09-12-0ab84937.jsonl"
STARTED = "2026-03-02T09:12:00.000Z"
HEADER: JsonObject = {"sessionId": SESSION, "projectHash": HASH, "startTime": STARTED, "kind": "main"}


def message(id_: str, kind: str, content: Json, **fields: Json) -> JsonObject:
    return {"id": id_, "timestamp": "2026-03-02T09:12:01.500Z", "type": kind, "content": content, **fields}


def user(id_: str, *texts: str, **fields: Json) -> JsonObject:
    return message(id_, "user", [{"text": text} for text in texts], **fields)


def gemini(id_: str, text: str, **fields: Json) -> JsonObject:
    return message(id_, "gemini", text, model="gemini-3-flash-preview", thoughts=[], **fields)


def reads(*records: JsonObject) -> Read:
    return read(gemini_cli, lines(HEADER, *records), path=PATH)


TOUCHED: JsonObject = {"$set": {"lastUpdated": "2026-03-02T09:13:00.000Z"}}
RESULT: JsonObject = {"id": "c1", "name": "read_file", "response": {"output": "uv run"}}
RESPONSE: JsonObject = {"functionResponse": RESULT}
TOOL_CALLS: Json = [{"id": "c1", "name": "read_file", "args": {}, "result": [RESPONSE], "status": "success"}]


def test_the_last_of_an_id_counts_and_what_was_taken_back_is_marked_with_all_behind_it() -> None:
    found = reads(
        user("u1", "改用 uv run"),
        TOUCHED,
        gemini("g1", "I"),
        user("u2", "好了吗？"),
        gemini("g1", "I have read it.", toolCalls=TOOL_CALLS),
        TOUCHED,
    )
    assert found.said == [("user", "改用 uv run"), ("assistant", "I have read it."), ("user", "好了吗？")]
    calls = ({"name": "read_file", "id": "c1", "status": "success"},)
    assert found.kept[1].metadata["tool_calls"] == calls
    results = [(turn.kind, turn.content) for turn in found.turns if turn.role == "tool"]
    assert results == [("tool_result", "uv run")]
    said = [user("u1", "一"), gemini("g1", "二"), user("u2", "三"), gemini("g2", "四")]
    for back_to, left in (("u2", ["一", "二", "重来"]), ("gone", ["重来"])):
        found = reads(*said, {"$rewindTo": back_to}, user("u3", "重来"))
        assert (found.standing, len(found.said)) == (left, 5)
    snapshot = "<state_snapshot>用户要求重试</state_snapshot>"
    set_: JsonObject = {"$set": {"messages": [user("s1", snapshot), gemini("g1", "[masked]")]}}
    found = reads(user("u1", "最早的问题"), gemini("g1", "Because."), set_, user("u2", "然后呢？"))
    before = [("user", "最早的问题"), ("assistant", "Because.")]
    assert found.said == [*before, ("summary", snapshot), ("user", "然后呢？")]


def test_commands_prompts_of_the_tool_and_thoughts_are_parted_from_words() -> None:
    own = "This is the Gemini CLI. We are setting up the context for our chat.\nToday is Monday"
    turns = reads(
        user("u1", "You are an AI agent that brings the power of Gemini", displayContent=[{"text": "/init"}]),
        user("u2", "System: Please continue."),
        user("u3", "/chat save 重试"),
        user("u4", "/home is full", displayContent=[{"text": "the disk is full"}]),
        user("u5", own),
        message("i1", "info", "Request cancelled."),
    ).turns
    assert [turn.kind for turn in turns] == ["command", "command", "command", "typed", "harness", "harness"]
    assert turns[0].metadata["display"] == "/init"
    thought: JsonObject = {"text": "想一想", "thought": True}
    parts: Json = [thought, {"text": "第一段"}, "Second", {"functionCall": {"name": "ls"}}]
    thoughts: Json = [{"subject": "Plan", "description": "read it"}]
    answer = message("g1", "gemini", parts, thoughts=thoughts)
    parted = reads(answer, user("u1", "@a.py 解释", "--- a.py ---"))
    assert [(turn.kind, turn.content) for turn in parted.turns] == [
        ("thinking", "Plan: read it\n\n想一想"),
        ("typed", "第一段\n\nSecond"),
        ("typed", "@a.py 解释\n\n--- a.py ---"),
    ]


MESSAGES = [user("u1", "你好"), gemini("g1", "Hi!")]


@for_each("indent", [None, 2])
@for_each("document", [{**HEADER, "messages": MESSAGES}, {"messages": MESSAGES, **HEADER}])
def test_a_session_in_both_shapes_is_the_same_conversation(indent: int | None, document: JsonObject) -> None:
    history = as_json(document, indent=indent)
    found = read(gemini_cli, history, path=PATH.removesuffix("l"))
    assert found.said == [("user", "你好"), ("assistant", "Hi!")]
    assert found.conversations == [f"gemini_cli:{SESSION}"]
    assert found.kept[1].metadata["model"] == "gemini-3-flash-preview"
    assert found.turns == reads(*MESSAGES).turns
    assert certainty(gemini_cli, history) >= 90


def test_checkpoints_of_the_first_versions_and_names_behind_long_messages_are_read() -> None:
    history: list[Json] = [
        {"role": "user", "parts": [{"text": "为什么？"}], "ts": 1772442720},
        {"role": "model", "parts": [{"text": "Because."}], "ts": 1772442725},
        {"role": "user", "parts": [RESPONSE]},
    ]
    for document in (history, {"history": history}):
        found = read(gemini_cli, json.dumps(document), path="/x/checkpoint-tag.json")
        assert found.said == [("user", "为什么？"), ("assistant", "Because.")]
        assert certainty(gemini_cli, json.dumps(document, indent=1)) >= 80
        assert str(found.kept[0].timestamp).startswith("2026-")
    long: JsonObject = {"messages": [user("u1", "长" * 40_000)], **HEADER}
    assert read(gemini_cli, json.dumps(long, indent=1)).conversations == [f"gemini_cli:{SESSION}"]


def test_a_project_is_named_where_it_can_be_and_a_subagent_names_its_session() -> None:
    root = f"/home/mei/.gemini/tmp/{HASH}/.project_root"
    for others, project in (({root: "/home/mei/relay\n"}, "/home/mei/relay"), ({}, HASH[:8])):
        (turn,) = parsed(gemini_cli, lines(HEADER, user("u1", "?")), PATH, others).kept
        assert turn.project == project
    own: JsonObject = {"sessionId": "sub-1", "kind": "subagent", "directories": ["/home/mei/relay"]}
    path = f"/home/mei/.gemini/tmp/relay/chats/{SESSION}/sub-1.jsonl"
    (turn,) = read(gemini_cli, lines({**HEADER, **own}, user("u1", "查找")), path=path).turns
    assert (turn.conversation_id, turn.project) == ("gemini_cli:sub-1", "/home/mei/relay")
    assert turn.metadata["parent_session"] == SESSION


def test_it_names_unknown_records_and_knows_its_own_by_content_alone() -> None:
    history = lines(HEADER, message("x1", "hologram", "?"), {"type": "other"}, user("u1", "还在"))
    found = read(gemini_cli, history + '{]\n{"id"')
    assert found.unknown == ["hologram", "other"]
    assert found.said == [("user", "还在")]
    assert [issue.code for issue in found.issues] == ["malformed_record", "truncated_tail"]
    assert certainty(gemini_cli, lines(HEADER)) >= 95
    log = {"sessionId": SESSION, "messageId": 0, "type": "user", "message": "?", "timestamp": "?"}
    assert is_beside(gemini_cli, json.dumps([log], indent=2))
    of_claude = {"type": "user", "sessionId": "s", "message": {"content": "?"}}
    for others in (lines(of_claude), json.dumps([{"role": "user", "content": "?"}])):
        assert claimed(gemini_cli, others) is None


def test_a_chat_that_is_being_written_keeps_whole_lines_though_later_ones_may_take_them_back() -> None:
    records = lines(HEADER, user("u1", "问"), TOUCHED, gemini("g1", "答"), user("u2", "再问")).encode()
    whole = read(gemini_cli, records).said
    for end in range(0, len(records), 29):
        said = read(gemini_cli, records[:end], block_bytes=11).said
        assert said == whole[: len(said)]


def activity(title: str, time: str, html: str = "", header: str = "Gemini Apps") -> dict[str, object]:
    answer = {"safeHtmlItem": [{"html": html}]} if html else {}
    return {"header": header, "title": title, "time": time, "products": [header], **answer}


ACTIVITIES = [
    activity(f"Prompted {THANKED} Attached 2 files.", "2026-06-01T10:05:00.000Z", f"<p>{CLOSED}</p>"),
    activity(f"Prompted {ASKED}", "2026-06-01T10:00:00.000Z", f"<p>{ANSWERED}</p>"),
]


def test_activities_are_turns_in_order_shown_without_html_and_others_are_counted() -> None:
    assert certainty(gemini_takeout, ACTIVITIES) > 90
    found = parsed(gemini_takeout, ACTIVITIES).kept
    assert [(turn.role, turn.content) for turn in found] == list(TALK)
    assert {turn.conversation_id for turn in found} == {"gemini_takeout:2026-06-01"}
    assert len({turn.native_id for turn in found}) == 4
    html = "<h3>Why</h3><ul><li>a &amp; b</li><li>c</li></ul><pre><code>x &lt; 1\n  y</code></pre>"
    found = parsed(gemini_takeout, [activity("Asked Bard: hi", "2023-06-01T10:00:00Z", html, "Bard")])
    assert found.said == [("user", "hi"), ("assistant", "Why\n\n- a & b\n\n- c\n\nx < 1\n  y")]
    found = parsed(gemini_takeout, [*ACTIVITIES, activity("Used Gemini Apps", "2026-06-01T10:00:00Z"), 3])
    assert len(found.said) == 4
    assert found.unknown == ["activity Used Gemini", "no activity"]
    other = activity("Watched x", "2026-06-01T10:00:00Z", header="YouTube")
    assert certainty(gemini_takeout, [other]) == 0
