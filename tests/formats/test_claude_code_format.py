"""Claude Code: which of its records are somebody's words, and which belong together."""

import json
from typing import Any

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.claude.claude_ai import claude_ai
from chatmemory.pastchats.formats.claude.claude_code import claude_code
from chatmemory.pastchats.formats.claude.claude_prompts import claude_prompts
from tests.for_each import for_each
from tests.formats.large_history import lines
from tests.formats.read_turns import Read, certainty, claimed, is_beside, parsed, read

SESSION = "3f2b8c1e-6a54-4d0e-9c37-1b2a3c4d5e6f"
OTHER_SESSION = "77aa0c1e-6a54-4d0e-9c37-1b2a3c4d5e6f"
FOLDER = "/home/mei/.claude/projects/-home-mei-relay"


def record(kind: str, number: int, **fields: Json) -> JsonObject:
    """A record as the tool writes it: each hangs on the one before."""
    parent = uuid(number - 1) if number else None
    time = f"2026-03-02T09:12:{number:02d}.250Z"
    links: JsonObject = {"uuid": uuid(number), "parentUuid": parent, "timestamp": time, "isSidechain": False}
    about: JsonObject = {"cwd": "/home/mei/relay", "sessionId": SESSION, "gitBranch": "重试"}
    return {"type": kind, **links, **about, **fields}


def uuid(number: int) -> str:
    return f"{number:08x}-1111-4222-8333-444455556666"


def user(number: int, content: Json, **fields: Json) -> JsonObject:
    return record("user", number, message={"role": "user", "content": content}, **fields)


def model(number: int, message_id: str, *blocks: Json, **fields: Json) -> JsonObject:
    content = [text(block) if isinstance(block, str) else block for block in blocks]
    who: JsonObject = {"model": "claude-sonnet-4-5", "id": message_id, "role": "assistant"}
    return record("assistant", number, message={**who, "content": content}, **fields)


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def reads(*records: JsonObject, path: str = f"{FOLDER}/{SESSION}.jsonl") -> Read:
    return read(claude_code, lines(*records), path=path)


TOOL_USE: JsonObject = {"type": "tool_use", "id": "toolu_01A", "name": "Bash", "input": {"command": "pytest"}}
RESULT: JsonObject = {"type": "tool_result", "tool_use_id": "toolu_01A", "content": "3 failed"}
FIRST, SECOND = "msg_01AAAAAAAAAAAAAAAAAAAAAA", "msg_01BBBBBBBBBBBBBBBBBBBBBB"


def test_a_message_is_one_turn_in_each_shape_though_it_grew_and_results_come_between() -> None:
    found = reads(
        user(0, "Run the tests"),
        model(1, FIRST, {"type": "thinking", "thinking": "先跑测试"}),
        model(2, FIRST, "I run them."),
        model(3, FIRST, TOOL_USE),
        user(4, [RESULT]),
        model(5, FIRST, "再看一遍。"),
        model(6, SECOND, "Three fail."),
    )
    assert [(turn.kind, turn.content) for turn in found.turns] == [
        ("typed", "Run the tests"),
        ("thinking", "先跑测试"),
        ("typed", "I run them.\n\n再看一遍。"),
        ("tool_result", "3 failed"),
        ("typed", "Three fail."),
    ]
    question, _, answer = found.turns[:3]
    assert (question.conversation_id, question.project) == (f"claude_code:{SESSION}", "/home/mei/relay")
    assert (question.native_id, question.metadata) == (uuid(0), {"git_branch": "重试"})
    assert answer.native_id == FIRST
    calls = ({"name": "Bash", "id": "toolu_01A"},)
    assert answer.metadata == {"git_branch": "重试", "model": "claude-sonnet-4-5", "tool_calls": calls}
    assert str(answer.timestamp) == "2026-03-02 09:12:01.250000+00:00"
    other_lines = [model(number, FIRST, "The queue is full"[: 6 * number]) for number in (1, 2, 3)]
    same_line = [model(5, SECOND, "队列已满"[:end]) for end in (1, 2, 4)]
    assert reads(user(0, "?"), *other_lines, user(4, "再说一遍"), *same_line).said == [
        ("user", "?"),
        ("assistant", "The queue is full"),
        ("user", "再说一遍"),
        ("assistant", "队列已满"),
    ]
    asked = "为什么 webhook 重试了五次？"
    assert reads(user(0, asked), user(1, [text(asked)])).said == [("user", asked)] * 2


def test_what_a_tool_gave_and_what_flags_mark_is_no_word_of_the_user() -> None:
    found = reads(user(0, [RESULT]), user(1, [{**RESULT, "content": [text("通过")]}]))
    assert found.kept == []
    assert [(turn.role, turn.kind, turn.content) for turn in found.turns] == [
        ("tool", "tool_result", "3 failed"),
        ("tool", "tool_result", "通过"),
    ]
    found = reads(
        user(0, "Continue from where you left off.", isMeta=True),
        user(1, "List files", origin={"kind": "task-notification"}),
        user(2, "只在记录中可见", isVisibleInTranscriptOnly=True),
        user(3, "是人说的", origin={"kind": "human"}),
        user(4, "<bash-input>git log</bash-input>"),
    )
    assert [turn.kind for turn in found.turns] == ["harness", "harness", "harness", "typed", "command"]
    reminder = "<system-reminder>\nCLAUDE.md was changed\n</system-reminder>"
    found = reads(user(0, [text(reminder), text("继续吧")]))
    assert [(turn.kind, turn.content) for turn in found.turns] == [("harness", reminder), ("typed", "继续吧")]


@for_each(
    "content",
    [
        "<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>12</command-args>",
        "<local-command-stdout>(no content)</local-command-stdout>",
        "Caveat: The messages below were generated by the user while running local commands. DO NOT respond",
        "[Request interrupted by user for tool use]",
        [text("[Request interrupted by user]")],
        "<system-reminder>\nToday's date is 2026-03-02.\n</system-reminder>",
        "<task-notification>\n<task-id>bgk</task-id>\n</task-notification>",
        '<cross-session-message from="x">看看这个</cross-session-message>',
        "<bash-stdout>On branch main</bash-stdout><bash-stderr></bash-stderr>",
    ],
)
def test_what_the_tool_puts_into_the_users_mouth_is_tagged(content: Json) -> None:
    assert [(turn.role, turn.kind) for turn in reads(user(0, content)).turns] == [("user", "harness")]


def test_a_summary_of_what_was_compacted_has_a_role_of_its_own() -> None:
    summary = "This session is being continued from a previous conversation that ran out of context. 重试。"
    boundary: JsonObject = {"subtype": "compact_boundary", "content": "Conversation compacted"}
    found = reads(
        record("system", 0, **boundary, logicalParentUuid=uuid(9)),
        user(1, summary, isCompactSummary=True, isVisibleInTranscriptOnly=True),
        user(2, summary),  # as old versions wrote it
        user(3, "然后呢？"),
    )
    summaries = [("summary", "summary")] * 2
    assert [(turn.role, turn.kind) for turn in found.kept] == [*summaries, ("user", "typed")]


def test_what_was_said_while_the_model_was_at_work_counts() -> None:
    queued: JsonObject = {"type": "queued_command", "prompt": "也看看日志", "commandMode": "prompt"}
    notice: JsonObject = {**queued, "prompt": "bgk has finished", "commandMode": "task-notification"}
    found = reads(
        record("queue-operation", 0, operation="enqueue", content="也看看日志"),
        record("attachment", 1, attachment={**queued, "origin": {"kind": "human"}}),
        record("attachment", 2, attachment=notice),
        record("attachment", 3, attachment={"type": "hook_success", "stdout": "{}"}),
    )
    assert [(turn.kind, turn.content) for turn in found.turns] == [
        ("typed", "也看看日志"),
        ("harness", "bgk has finished"),
    ]


def test_subagents_are_conversations_of_their_own_and_name_the_session_that_they_worked_for() -> None:
    aside: JsonObject = {"isSidechain": True, "parentUuid": None}
    found = reads(
        user(0, "Ask two agents"),
        user(10, "查日志", **aside),
        user(20, "Search the code", **aside),
        model(11, SECOND, "日志里没有", isSidechain=True, parentUuid=uuid(10)),
        user(30, "Named", isSidechain=True, agentId="a0ad4f"),
        model(1, FIRST, "Both found nothing."),
    )
    by_text = {turn.content: turn for turn in found.kept}
    main, first, second, named = found.conversations
    assert main == f"claude_code:{SESSION}"
    assert by_text["Both found nothing."].conversation_id == main
    assert by_text["日志里没有"].conversation_id == by_text["查日志"].conversation_id == first
    assert second not in {first, main}
    assert named == f"claude_code:{SESSION}/agent-a0ad4f"
    assert by_text["查日志"].metadata["parent_session"] == SESSION
    own = "agent-a0ad4f44468bdf20d"
    path = f"{FOLDER}/{SESSION}/subagents/{own}.jsonl"
    newer = user(0, "Find TODOs", isSidechain=True, sessionId=own, agentId="a0ad4f44468bdf20d")
    for history in (newer, user(0, "查找 TODO", isSidechain=True)):
        (turn,) = reads(history, path=path).turns
        assert turn.conversation_id == f"claude_code:{SESSION}/{own}"
        assert turn.metadata["parent_session"] == SESSION
    found = reads(user(0, "?", isSidechain=True), path="/chats/x.txt")
    assert found.conversations == [f"claude_code:{SESSION}"]


def test_copied_records_are_there_once_and_ids_that_a_tool_counts_are_of_their_session() -> None:
    said = [user(0, "统一成 1.23"), model(1, FIRST, "好的")]
    copied: list[JsonObject] = [{**one, "sessionId": OTHER_SESSION} for one in said]
    found = reads(*said, *copied, user(2, "Thanks", sessionId=OTHER_SESSION))
    assert found.said == [("user", "统一成 1.23"), ("assistant", "好的"), ("user", "Thanks")]
    assert found.conversations == [f"claude_code:{SESSION}", f"claude_code:{OTHER_SESSION}"]
    assert claude_code.has_global_ids, "so that the copy in another file is known as one"
    between = [user(number, f"第 {number} 问") for number in range(2, 60)]
    far_behind = reads(*said, *between, *copied)
    assert len(far_behind.said) == len(said) + len(between)
    assert far_behind.said[1] == ("assistant", "好的")
    sessions = [user(0, "ok", uuid="u1", sessionId=session) for session in ("a", "b")]
    assert len({reads(session).turns[0].native_id for session in sessions}) == 2


def test_what_was_left_behind_is_marked_and_a_title_belongs_to_its_session() -> None:
    found = reads(
        user(0, "Start"),
        model(1, FIRST, "Started"),
        user(2, "用 Redis"),
        model(3, SECOND, "Redis it is"),
        user(4, "用 SQLite", parentUuid=uuid(1)),
    )
    headless = reads(user(10, "压缩之前", parentUuid=uuid(9)), user(20, "之后", parentUuid=None))
    # Records whose beginning is missing were not left behind.
    for one, marks in ((found, [None, None, False, False, None]), (headless, [None, None])):
        assert [turn.metadata.get("on_current_path") for turn in one.kept] == marks
    foreign: JsonObject = {"type": "summary", "summary": "另一个会话", "leafUuid": uuid(99)}
    own: JsonObject = {"type": "summary", "summary": "重试策略", "leafUuid": uuid(0)}
    custom: JsonObject = {"type": "custom-title", "customTitle": "Retries", "sessionId": SESSION}
    for more, title in (([], None), ([own], "重试策略"), ([own, custom], "Retries")):
        assert reads(foreign, user(0, "?"), *more).turns[0].metadata.get("title") == title


def test_a_file_without_a_turn_is_no_mistake_and_a_message_without_end_holds_nothing_back() -> None:
    snapshot: JsonObject = {"type": "file-history-snapshot", "messageId": uuid(1), "snapshot": {}}
    summary: JsonObject = {"type": "summary", "summary": "?", "leafUuid": uuid(3)}
    for history in ("", "\n", lines(*[snapshot] * 22), lines(summary)):
        assert read(claude_code, history).parsed == ()
    assert certainty(claude_code, lines(*[snapshot] * 22)) >= 90
    long = "字" * 1024 * 1024
    between = [user(number, f"{number}{long}") for number in range(1, 11)]
    found = reads(model(0, FIRST, "begin"), *between, model(11, FIRST, "late"))
    assert [turn.content[:5] for turn in found.kept if turn.role == "assistant"] == ["begin", "late"]
    assert len({turn.native_id for turn in found.kept}) == 12


def test_unknown_records_are_named_each_time_and_damage_costs_the_damaged_lines_only() -> None:
    broken = '{"type":"user","message":\n[1]\n' + "[" * 100_000 + "\n"
    before, after = (user(0, "before"), record("hologram", 0)), (record("hologram", 2), user(1, "之后"))
    found = read(claude_code, lines(*before) + broken + lines(*after) + '{"type":"us')
    assert found.said == [("user", "before"), ("user", "之后")]
    assert found.unknown == ["hologram", "hologram"]
    damaged = [("malformed_record", number) for number in (3, 4, 5)]
    assert [(issue.code, issue.line) for issue in found.issues] == [*damaged, ("truncated_tail", 8)]
    half = "\ud83e"
    asked = user(0, f"ask{half}", uuid=half, sessionId=half)
    aside = user(1, f"问{half}", uuid=f"{half}1", sessionId=half, parentUuid=half, isSidechain=True)
    history = "".join(json.dumps(one) + "\n" for one in (asked, aside))
    assert read(claude_code, history).said == [("user", f"ask{half}"), ("user", f"问{half}")]


@for_each("content", [None, 7, {}, [None, 3, {"type": "text"}, {"type": "text", "text": 5}], [[]]])
def test_content_of_another_kind_is_nothing_said(content: Json) -> None:
    found = reads(
        user(0, content),
        record("assistant", 1, message={"id": 5, "content": content}),
        record("assistant", 2, message=content),
        record("system", 3, content=content),
        record("attachment", 4, attachment=content),
    )
    assert found.parsed == ()


def test_it_knows_its_own_and_takes_neither_what_lies_beside_nor_records_of_other_tools_for_them() -> None:
    entry = '{"sessionId": "s", "fullPath": "/x/s.jsonl", "firstPrompt": "?"}'
    assert is_beside(claude_code, f'{{"version": 1, "entries": [{entry}]}}')
    assert is_beside(claude_code, lines({"type": "started", "key": "v2:1", "agentId": "a1"}))
    assert is_beside(claude_code, '{"agentType":"Explore","description":"?"}', path="/x/agent-1.meta.json")
    stream = {"type": "assistant", "message": {"role": "assistant", "content": []}, "session_id": SESSION}
    for own in (user(0, "?"), stream):
        assert certainty(claude_code, lines(own)) >= 90
    of_qwen = record("user", 0, message={"role": "user", "parts": [{"text": "解释一下"}]})
    counted = record("system", 1, subtype="ui_telemetry", systemPayload={"uiEvent": {}})
    for others in (
        [{"role": "user", "message": {"content": "?"}}],
        [{"type": "session_meta", "timestamp": "", "payload": {"id": "x"}}],
        [{"type": "user", "uuid": "x", "message": {"parts": []}}],
        [of_qwen, counted],
        [counted],
    ):
        assert claimed(claude_code, lines(*others)) is None


PATH = "/home/mei/.claude/history.jsonl"
TEXT = {"id": 1, "type": "text", "content": "Traceback\n  boom"}
PASTED = {"1": TEXT, "2": {"id": 2, "contentHash": "ab12"}}


def prompt(second: int, display: str, pasted: Any = None, **session: str) -> dict[str, Any]:
    about = {"timestamp": 1772442720250 + 1000 * second, "project": "/home/mei/relay"}
    return {"display": display, "pastedContents": pasted or {}, **about, **session}


HISTORY = lines(
    prompt(0, "重试几次？", sessionId="s-1"),
    prompt(1, "Why [Pasted text #1 +2 lines] and [Pasted text #2 +90 lines]?", PASTED, sessionId="s-1"),
    prompt(2, "/model opus"),
    prompt(3, " "),
)


def test_each_prompt_is_a_turn_and_its_format_knows_its_own() -> None:
    found = read(claude_prompts, HISTORY, path=PATH)
    # Text stands where it was pasted, and a placeholder where it is kept elsewhere.
    assert [(turn.kind, turn.content) for turn in found.turns] == [
        ("typed", "重试几次？"),
        ("typed", "Why Traceback\n  boom and [Pasted text #2 +90 lines]?"),
        ("command", "/model opus"),
    ]
    assert {(turn.role, turn.project) for turn in found.turns} == {("user", "/home/mei/relay")}
    assert str(found.turns[0].timestamp) == "2026-03-02 09:12:00.250000+00:00"
    # Before there were sessions, a project was a conversation.
    assert found.conversations == ["claude_prompts:s-1", f"claude_prompts:{PATH}#/home/mei/relay"]
    found = read(claude_prompts, HISTORY + '{"type":"other"}\n7\n{"display":\n')
    assert (len(found.turns), found.unknown) == (3, ["other", "(none)"])
    assert [issue.code for issue in found.issues] == ["malformed_record"]
    assert certainty(claude_prompts, HISTORY) >= 90
    assert claimed(claude_prompts, lines({"session_id": "s", "ts": 1772442720, "text": "?"})) is None


ROOT = "00000000-0000-4000-8000-000000000000"


def human(uuid: str, text: str = "", parent: str = "", **fields: Any) -> dict[str, Any]:
    about = {"uuid": uuid, "sender": "human", "text": text, "content": [], "attachments": [], "files": []}
    link = {"parent_message_uuid": parent} if parent else {}
    return {**about, "created_at": "2026-03-29T07:06:35.552627Z", **link, **fields}


def assistant(uuid: str, text: str = "", parent: str = "", **fields: Any) -> dict[str, Any]:
    return human(uuid, text, parent, sender="assistant", **fields)


def conversation(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"uuid": "c-1", "name": "光合作用", "chat_messages": list(messages), **fields}


def test_blocks_come_before_the_plain_text_which_stands_in_for_them() -> None:
    blocks = [
        {"type": "thinking", "thinking": "想"},
        {"type": "text", "text": "植物"},
        {"type": "tool_use", "id": "t1", "name": "web_search"},
        {"type": "tool_result", "content": [{"type": "text", "text": "page"}]},
        {"type": "text", "text": "吸收光"},
    ]
    answer = assistant("2", "植物吸收光，旧的写法", content=blocks)
    found = parsed(claude_ai, [conversation(human("1", "什么是光合作用？"), answer)])
    assert found.said == [("user", "什么是光合作用？"), ("assistant", "植物\n\n吸收光")]
    assert found.tagged == [("thinking", "想"), ("tool_result", "page")]
    calls = [{"name": "web_search", "id": "t1"}]
    assert found.kept[1].metadata == {"title": "光合作用", "tool_calls": calls}
    assert [turn.native_id for turn in found.kept] == ["1", "2"]


def test_wrapped_and_single_conversations_read_the_same_without_branches_that_were_left() -> None:
    one = conversation(human("1", "Hi"), assistant("2", "Hello"))
    for document in ([one], {"conversations": [one]}, one):
        assert certainty(claude_ai, document) > 0
        assert parsed(claude_ai, document).said == [("user", "Hi"), ("assistant", "Hello")]
    messages = [
        human("1", "old question", ROOT),
        assistant("2", "old answer", "1"),
        human("3", "new question", ROOT),
        assistant("4", "new answer", "3"),
    ]
    latest = parsed(claude_ai, [conversation(*messages)]).said
    assert latest == [("user", "new question"), ("assistant", "new answer")]
    chosen = conversation(*messages, current_leaf_message_uuid="2")
    assert parsed(claude_ai, [chosen]).said == [("user", "old question"), ("assistant", "old answer")]


def test_what_is_attached_or_cannot_be_shown_is_not_what_was_said() -> None:
    pasted = {"file_name": "log.txt", "file_type": "txt", "extracted_content": "E0001 失败"}
    found = parsed(claude_ai, [conversation(human("1", "看看这个", attachments=[pasted]))])
    assert found.said == [("user", "看看这个")]
    assert found.tagged == [("harness", "E0001 失败")]
    assert found.kept[0].metadata["attachments"] == [{"name": "log.txt", "type": "txt"}]
    unshown = "```\nViewing artifacts created via the Analysis Tool web feature preview isn’t yet supported on mobile.\n```"
    other = "```\nThis block is not supported on your current device yet.\n```"
    chat = conversation(
        human("1", content=[{"type": "voice_note", "title": "t", "text": "画一张图"}]),
        assistant("2", f"{unshown}\n"),
        human("3", "再来"),
        assistant("4", f"Here it is:\n{unshown}\n\nand a script:\n{other}\nDone."),
    )
    assert parsed(claude_ai, [chat]).said == [
        ("user", "画一张图"),
        ("user", "再来"),
        ("assistant", "Here it is:\n\nand a script:\n\nDone."),
    ]


def test_empty_conversations_are_no_turns_and_other_files_of_the_export_no_transcripts() -> None:
    empty = human("1", content=[{"type": "text", "text": ""}])
    document = [conversation(), conversation(empty, uuid="c-2")]
    assert certainty(claude_ai, document) > 0
    assert parsed(claude_ai, document).parsed == ()
    found = parsed(claude_ai, [conversation("?", human("1", "Hi"))])
    assert found.said == [("user", "Hi")]
    assert found.issue_details == [("malformed_record", "a message that is no object, at 0.chat_messages.0")]
    assert is_beside(claude_ai, [{"uuid": "u", "full_name": "Mei", "email_address": "mei@example.com"}])
    assert is_beside(claude_ai, [{"uuid": "p", "name": "x", "prompt_template": "", "docs": []}])
