"""Claude.ai's export: blocks or plain text, branches, pasted documents."""

from typing import Any

from chatmemory.pastchats.formats.claude.claude_ai import claude_ai
from tests.formats.exported import certainty, is_beside, issues, parsed, said, tagged, turns

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
    assert said(found) == [("user", "什么是光合作用？"), ("assistant", "植物\n\n吸收光")]
    assert tagged(found) == [("thinking", "想"), ("tool_result", "page")]
    calls = [{"name": "web_search", "id": "t1"}]
    assert turns(found)[1].metadata == {"title": "光合作用", "tool_calls": calls}
    assert [turn.native_id for turn in turns(found)] == ["1", "2"]


def test_wrapped_and_single_conversations_read_the_same() -> None:
    one = conversation(human("1", "Hi"), assistant("2", "Hello"))
    for document in ([one], {"conversations": [one]}, one):
        assert certainty(claude_ai, document) > 0
        assert said(parsed(claude_ai, document)) == [("user", "Hi"), ("assistant", "Hello")]


def test_a_branch_that_was_edited_away_is_not_read() -> None:
    messages = [
        human("1", "old question", ROOT),
        assistant("2", "old answer", "1"),
        human("3", "new question", ROOT),
        assistant("4", "new answer", "3"),
    ]
    latest = said(parsed(claude_ai, [conversation(*messages)]))
    assert latest == [("user", "new question"), ("assistant", "new answer")]
    chosen = conversation(*messages, current_leaf_message_uuid="2")
    assert said(parsed(claude_ai, [chosen])) == [("user", "old question"), ("assistant", "old answer")]


def test_a_pasted_document_is_attached_and_not_what_was_said() -> None:
    pasted = {"file_name": "log.txt", "file_type": "txt", "extracted_content": "E0001 失败"}
    found = parsed(claude_ai, [conversation(human("1", "看看这个", attachments=[pasted]))])
    assert said(found) == [("user", "看看这个")]
    assert tagged(found) == [("harness", "E0001 失败")]
    assert turns(found)[0].metadata["attachments"] == [{"name": "log.txt", "type": "txt"}]


def test_empty_conversations_are_neither_turns_nor_issues_and_a_message_that_is_no_object_is_one() -> None:
    empty = human("1", content=[{"type": "text", "text": ""}])
    document = [conversation(), conversation(empty, uuid="c-2")]
    assert certainty(claude_ai, document) > 0
    assert parsed(claude_ai, document) == []
    found = parsed(claude_ai, [conversation("?", human("1", "Hi"))])
    assert said(found) == [("user", "Hi")]
    assert issues(found) == [("malformed_record", "a message that is no object, at 0.chat_messages.0")]


def test_other_files_of_the_export_are_no_transcripts() -> None:
    assert is_beside(claude_ai, [{"uuid": "u", "full_name": "Mei", "email_address": "mei@example.com"}])
    assert is_beside(claude_ai, [{"uuid": "p", "name": "x", "prompt_template": "", "docs": []}])


def test_what_was_spoken_is_read_and_what_cannot_be_shown_is_no_turn() -> None:
    unshown = "```\nViewing artifacts created via the Analysis Tool web feature preview isn’t yet supported on mobile.\n```"
    other = "```\nThis block is not supported on your current device yet.\n```"
    chat = conversation(
        human("1", content=[{"type": "voice_note", "title": "t", "text": "画一张图"}]),
        assistant("2", f"{unshown}\n"),
        human("3", "再来"),
        assistant("4", f"Here it is:\n{unshown}\n\nand a script:\n{other}\nDone."),
    )
    assert said(parsed(claude_ai, [chat])) == [
        ("user", "画一张图"),
        ("user", "再来"),
        ("assistant", "Here it is:\n\nand a script:\n\nDone."),
    ]
