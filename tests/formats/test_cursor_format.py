"""Cursor: transcripts of agents in both shapes, and exported chats whose replies are Markdown themselves."""

import json
from pathlib import Path

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.tools.cursor import cursor
from tests.formats.large_history import lines
from tests.formats.read_turns import Read, certainty, claimed, read

CHAT = "e13fc9ba-0fe8-455e-b069-a0eb0b374502"
PATH = f"/home/mei/.cursor/projects/home-mei-relay/agent-transcripts/{CHAT}/{CHAT}.jsonl"


def spoken(role: str, *blocks: Json) -> JsonObject:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"role": role, "message": {"content": content}}


QUERY = "<user_query>\n看看 git 状态\n</user_query>"
TOOL: JsonObject = {"type": "tool_use", "name": "Shell", "input": {"command": "git status"}}
TRANSCRIPT = lines(
    spoken("user", QUERY),
    spoken("assistant", "I look.", TOOL, "没有改动。"),
    {"type": "turn_ended", "status": "success"},
)


def test_a_transcript_keeps_what_was_said_without_times_and_is_called_by_its_path() -> None:
    found = read(cursor, TRANSCRIPT, path=PATH)
    assert found.said == [("user", QUERY), ("assistant", "I look.\n\n没有改动。")]
    assert found.kept[1].metadata["tool_calls"] == ({"name": "Shell", "id": ""},)
    assert found.conversations == [f"cursor:{CHAT}"]
    assert {turn.project for turn in found.turns} == {"home-mei-relay"}
    assert found.unknown == []
    assert read(cursor, TRANSCRIPT, path="/x/notes.jsonl").conversations == ["cursor:/x/notes.jsonl"]
    child = "a0000000-0fe8-455e-b069-a0eb0b374502"
    turn = read(cursor, TRANSCRIPT, path=PATH.replace(f"{CHAT}.jsonl", f"subagents/{child}.jsonl")).kept[0]
    assert turn.conversation_id == f"cursor:{child}"
    assert turn.metadata["parent_session"] == CHAT
    stamped = f"<timestamp>Wednesday, Jul 15, 2026, 3:20 PM (UTC+2)</timestamp>\n{QUERY}"
    assert read(cursor, lines(spoken("user", stamped))).said == [("user", QUERY)]
    notice = spoken("user", "<system_notification>\nA task has finished.\n</system_notification>")
    found = read(cursor, lines(notice, spoken("user", {"type": "tool_result", "content": "ok"})))
    assert [turn.kind for turn in found.turns] == ["harness", "tool_result"]


TEXT = (Path(__file__).parents[1] / "data/cursor_transcript.txt").read_text()
RULE = "\n\n---\n\n"
EXPORT = RULE.join(
    (
        "# Explain set_cover\n_Exported on 2025. 6. 27. at 14시 17분 35초 GMT+9 from Cursor (1.1.6)_",
        "**User**\n\nset_cover 做什么？",
        "**Cursor**\n\n它选出最少的集合。",
        "A rule within a reply, and a heading:\n\n# Not a title\n\n```\n---\n\n**User**\n\nquoted\n```",
        "**User**\n\nThanks\n",
    )
)


def roles(found: Read) -> list[str]:
    return [role for role, _ in found.said]


def test_an_export_is_parted_where_somebody_begins_to_speak() -> None:
    found = read(cursor, EXPORT, path="/chats/cursor_explain.md")
    assert roles(found) == ["user", "assistant", "user"]
    question, answer, thanks = (content for _, content in found.said)
    assert (question, thanks) == ("set_cover 做什么？", "Thanks")
    assert answer.startswith("它选出最少的集合。\n\n---\n\nA rule")
    assert "**User**\n\nquoted" in answer
    assert answer.endswith("```")
    assert {(turn.metadata["title"], turn.timestamp) for turn in found.turns} == {("Explain set_cover", None)}
    parts = (
        "# 未闭合\n_Exported on 3/28/2026 at 10:44:59 PDT from Cursor (2.6.20)_",
        "**User**\n\n```python\ndef f(:",
        "**Cursor**\n\nClose it:\n\n```python\ndef f(): ...\n```",
        "**User**\n\n好\n",
    )
    assert roles(read(cursor, RULE.join(parts))) == ["user", "assistant", "user"]
    export = "# 历史\n_Exported on 01/04/2026 at 23:26:26 GMT+8 from Cursor via WayLog_\n\n\n**User**\n\n问\n\n**Cursor**\n\nA\n"
    assert read(cursor, export).said == [("user", "问"), ("assistant", "A")]


def test_several_exports_in_one_file_and_transcripts_in_text_are_read() -> None:
    title, other = "Explain set_cover", "JavaScript 的原型"
    second = EXPORT.replace(title, other).replace("set_cover 做什么？", "class 是语法糖吗？")
    found = read(cursor, EXPORT + "\n-------------------------\n\n" + second, path="/c.md")
    assert found.conversations == ["cursor:/c.md", "cursor:/c.md#2"]
    assert [turn.metadata["title"] for turn in found.kept] == [title] * 3 + [other] * 3
    assert found.kept[2].content == "Thanks"
    assert read(cursor, TEXT, path="/x.txt").said == [
        ("user", "<user_query>\nassistant:\n这一行是引用\n</user_query>"),
        ("assistant", "I look now.\n没有问题。"),
        ("user", "<user_query>\n谢谢\n</user_query>"),
        ("assistant", "Welcome"),
    ]


def test_it_names_unknown_records_and_knows_its_own_by_content_alone() -> None:
    found = read(cursor, lines({"type": "hologram"}, spoken("user", "还在")) + ']\n{"role"')
    assert (found.unknown, found.said) == (["hologram"], [("user", "还在")])
    assert [issue.code for issue in found.issues] == ["malformed_record", "truncated_tail"]
    bare = lines(spoken("user", "List the files."))
    for own, least in ((TRANSCRIPT, 90), (bare, 80), (EXPORT, 95), (TEXT, 85)):
        assert certainty(cursor, own) >= least
    for other in (
        lines({"role": "user", "content": "?"}),
        lines({"type": "user", "role": "user", "message": {"content": "?"}}),
        "# A note\n\n**User**\n\nSaid that it was exported from Cursor (1.0)\n",
        json.dumps({"messages": []}),
    ):
        assert claimed(cursor, other) is None
