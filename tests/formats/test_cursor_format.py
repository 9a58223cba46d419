"""Cursor: transcripts of agents in both shapes, and exported chats whose replies are Markdown themselves."""

import json

from read_turns import as_lines, claimed, confidence, prefixes, read

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.cursor.cursor import cursor
from tests.for_each import for_each

CHAT = "e13fc9ba-0fe8-455e-b069-a0eb0b374502"
PATH = f"/home/mei/.cursor/projects/home-mei-relay/agent-transcripts/{CHAT}/{CHAT}.jsonl"


def spoken(role: str, *blocks: Json) -> JsonObject:
    return {"role": role, "message": {"content": list(blocks)}}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


QUERY = "<user_query>\n看看 git 状态\n</user_query>"
TOOL: JsonObject = {"type": "tool_use", "name": "Shell", "input": {"command": "git status"}}
TRANSCRIPT = as_lines(
    [
        spoken("user", text(QUERY)),
        spoken("assistant", text("I look."), TOOL, text("没有改动。")),
        {"type": "turn_ended", "status": "success"},
    ]
)


def test_a_transcript_keeps_what_was_said_as_it_stands() -> None:
    found = read(cursor, TRANSCRIPT, path=PATH)
    assert found.said == [("user", QUERY), ("assistant", "I look.\n\n没有改动。")]
    assert found.kept[1].metadata["tool_calls"] == ({"name": "Shell", "id": ""},)
    assert found.conversations == [f"cursor:{CHAT}"]
    assert {turn.project for turn in found.turns} == {"home-mei-relay"}
    assert found.unknown == []


def test_the_time_before_a_query_is_no_word_of_it() -> None:
    stamped = spoken(
        "user", text(f"<timestamp>Wednesday, Jul 15, 2026, 3:20 PM (UTC+2)</timestamp>\n{QUERY}")
    )
    assert read(cursor, as_lines([stamped])).said == [("user", QUERY)]


def test_a_transcript_without_a_name_of_its_own_is_called_by_its_path() -> None:
    assert read(cursor, TRANSCRIPT, path="/x/notes.jsonl").conversations == ["cursor:/x/notes.jsonl"]


def test_a_subagent_names_the_chat_that_it_worked_for() -> None:
    child = "a0000000-0fe8-455e-b069-a0eb0b374502"
    path = PATH.replace(f"{CHAT}.jsonl", f"subagents/{child}.jsonl")
    turn = read(cursor, TRANSCRIPT, path=path).kept[0]
    assert turn.conversation_id == f"cursor:{child}"
    assert turn.metadata["parent_session"] == CHAT


def test_what_cursor_says_for_the_user_is_tagged() -> None:
    notice = spoken("user", text("<system_notification>\nA task has finished.\n</system_notification>"))
    found = read(cursor, as_lines([notice, spoken("user", {"type": "tool_result", "content": "ok"})]))
    assert [turn.kind for turn in found.turns] == ["harness", "tool_result"]


EXPORT = """# Explain set_cover
_Exported on 2025. 6. 27. at 14시 17분 35초 GMT+9 from Cursor (1.1.6)_

---

**User**

set_cover 做什么？

---

**Cursor**

它选出最少的集合。

---

A rule within a reply, and a heading:

# Not a title

```
---

**User**

quoted
```

---

**User**

Thanks
"""


def test_an_export_is_parted_where_somebody_begins_to_speak() -> None:
    found = read(cursor, EXPORT, path="/chats/cursor_explain.md")
    assert [role for role, _ in found.said] == ["user", "assistant", "user"]
    question, answer, thanks = (content for _, content in found.said)
    assert (question, thanks) == ("set_cover 做什么？", "Thanks")
    assert answer.startswith("它选出最少的集合。\n\n---\n\nA rule")
    assert "**User**\n\nquoted" in answer
    assert answer.endswith("```")
    assert {turn.metadata["title"] for turn in found.turns} == {"Explain set_cover"}
    assert {turn.timestamp for turn in found.turns} == {None}


def test_a_block_that_was_never_closed_hides_nobody() -> None:
    broken = """# 未闭合
_Exported on 3/28/2026 at 10:44:59 PDT from Cursor (2.6.20)_

---

**User**

```python
def f(:

---

**Cursor**

Close it:

```python
def f(): ...
```

---

**User**

好
"""
    assert [role for role, _ in read(cursor, broken).said] == ["user", "assistant", "user"]


def test_several_exports_in_one_file_are_several_chats() -> None:
    second = EXPORT.replace("Explain set_cover", "JavaScript 的原型").replace(
        "set_cover 做什么？", "class 是语法糖吗？"
    )
    found = read(cursor, EXPORT + "\n-------------------------\n\n" + second, path="/c.md")
    assert found.conversations == ["cursor:/c.md", "cursor:/c.md#2"]
    assert [turn.metadata["title"] for turn in found.kept] == ["Explain set_cover"] * 3 + [
        "JavaScript 的原型"
    ] * 3
    assert found.kept[2].content == "Thanks"


def test_an_export_without_rules_is_read() -> None:
    export = "# 历史\n_Exported on 01/04/2026 at 23:26:26 GMT+8 from Cursor via WayLog_\n\n\n**User**\n\n问\n\n**Cursor**\n\nA\n"
    assert read(cursor, export).said == [("user", "问"), ("assistant", "A")]


TEXT = """user:
<user_query>
assistant:
这一行是引用
</user_query>

assistant:
[Thinking] I should look
I look now.
[Tool call] Read
  path: /home/mei/relay/a.py
  limit: 20

[Tool result] Read
没有问题。

user:
<user_query>
谢谢
</user_query>
A:
Welcome
"""


def test_a_transcript_in_text_is_read_without_its_tools() -> None:
    assert read(cursor, TEXT, path="/x.txt").said == [
        ("user", "<user_query>\nassistant:\n这一行是引用\n</user_query>"),
        ("assistant", "I look now.\n没有问题。"),
        ("user", "<user_query>\n谢谢\n</user_query>"),
        ("assistant", "Welcome"),
    ]


@for_each("history", [TRANSCRIPT, EXPORT, TEXT])
def test_windows_line_ends_change_nothing(history: str) -> None:
    assert [turn.content for turn in read(cursor, history.replace("\n", "\r\n")).turns] == [
        turn.content for turn in read(cursor, history).turns
    ]


@for_each("history", [TRANSCRIPT, EXPORT, TEXT])
def test_any_beginning_of_a_history_can_be_read(history: str) -> None:
    whole = read(cursor, history).said
    for prefix in prefixes(history, every=7):
        said = read(cursor, prefix, block_bytes=3).said
        assert [role for role, _ in said[:-1]] == [role for role, _ in whole][: max(0, len(said) - 1)]


def test_unknown_records_are_named_and_damage_costs_its_line() -> None:
    found = read(cursor, as_lines([{"type": "hologram"}, spoken("user", text("还在"))]) + "]\n" + '{"role"')
    assert (found.unknown, found.said) == (["hologram"], [("user", "还在")])
    assert [issue.code for issue in found.issues] == ["malformed_record", "truncated_tail"]


def test_it_knows_its_own_by_content_alone_and_leaves_others_alone() -> None:
    assert confidence(cursor, TRANSCRIPT) >= 90
    assert confidence(cursor, as_lines([spoken("user", text("List the files."))])) >= 80
    assert confidence(cursor, EXPORT) >= 95
    assert confidence(cursor, TEXT) >= 85
    assert claimed(cursor, as_lines([{"role": "user", "content": "?"}])) is None
    assert claimed(cursor, as_lines([{"type": "user", "role": "user", "message": {"content": "?"}}])) is None
    assert claimed(cursor, "# A note\n\n**User**\n\nSaid that it was exported from Cursor (1.0)\n") is None
    assert claimed(cursor, json.dumps({"messages": []})) is None
