"""Claude.ai's export: blocks or plain text, branches, pasted documents."""

from typing import Any

from chatmemory.pastchats.formats.claude.claude_ai import claude_ai
from tests.formats.exported import claim, issues, parsed, said, tagged, turns

ROOT = "00000000-0000-4000-8000-000000000000"


def message(uuid: str, sender: str, text: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "sender": sender,
        "text": text,
        "content": fields.pop("content", []),
        "created_at": "2026-03-29T07:06:35.552627Z",
        "attachments": [],
        "files": [],
        **fields,
    }


def conversation(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"uuid": "c-1", "name": "光合作用", "chat_messages": list(messages), **fields}


def test_blocks_come_before_the_plain_text_which_stands_in_for_them() -> None:
    blocks = [
        {"type": "thinking", "thinking": "想"},
        {"type": "text", "text": "植物"},
        {"type": "tool_use", "id": "t1", "name": "web_search"},
        {"type": "tool_result", "content": [{"type": "text", "text": "page"}]},
        {"type": "text", "text": "吸收光"},
    ]
    document = [
        conversation(
            message("1", "human", "什么是光合作用？"),
            message("2", "assistant", "植物吸收光，旧的写法", content=blocks),
        )
    ]
    found = parsed(claude_ai, document)
    assert said(found) == [("user", "什么是光合作用？"), ("assistant", "植物\n\n吸收光")]
    assert tagged(found) == [("thinking", "想"), ("tool_result", "page")]
    assert turns(found)[1].metadata == {
        "title": "光合作用",
        "tool_calls": [{"name": "web_search", "id": "t1"}],
    }
    assert [turn.native_id for turn in turns(found)] == ["1", "2"]


def test_wrapped_and_single_conversations_read_the_same() -> None:
    one = conversation(message("1", "human", "Hi"), message("2", "assistant", "Hello"))
    for document in ([one], {"conversations": [one]}, one):
        assert claim(claude_ai, document) is not None
        assert said(parsed(claude_ai, document)) == [("user", "Hi"), ("assistant", "Hello")]


def test_a_branch_that_was_edited_away_is_not_read() -> None:
    messages = [
        message("1", "human", "old question", parent_message_uuid=ROOT),
        message("2", "assistant", "old answer", parent_message_uuid="1"),
        message("3", "human", "new question", parent_message_uuid=ROOT),
        message("4", "assistant", "new answer", parent_message_uuid="3"),
    ]
    assert said(parsed(claude_ai, [conversation(*messages)])) == [
        ("user", "new question"),
        ("assistant", "new answer"),
    ]
    chosen = conversation(*messages, current_leaf_message_uuid="2")
    assert said(parsed(claude_ai, [chosen])) == [("user", "old question"), ("assistant", "old answer")]


def test_a_pasted_document_is_attached_and_not_what_was_said() -> None:
    pasted = {"file_name": "log.txt", "file_type": "txt", "extracted_content": "E0001 失败"}
    document = [conversation(message("1", "human", "看看这个", attachments=[pasted]))]
    found = parsed(claude_ai, document)
    assert said(found) == [("user", "看看这个")]
    assert tagged(found) == [("harness", "E0001 失败")]
    assert turns(found)[0].metadata["attachments"] == [{"name": "log.txt", "type": "txt"}]


def test_empty_conversations_are_neither_turns_nor_issues() -> None:
    empty = {"type": "text", "text": ""}
    document = [conversation(), conversation(message("1", "human", content=[empty]), uuid="c-2")]
    assert claim(claude_ai, document) is not None
    assert parsed(claude_ai, document) == []


def test_a_message_that_is_no_object_is_an_issue() -> None:
    document = [conversation(message("1", "human", "Hi"))]
    document[0]["chat_messages"].insert(0, "?")
    found = parsed(claude_ai, document)
    assert said(found) == [("user", "Hi")]
    assert issues(found) == [("malformed_record", "a message that is no object, at 0.chat_messages.0")]


def test_other_files_of_the_export_are_no_transcripts() -> None:
    users = [{"uuid": "u", "full_name": "Mei", "email_address": "mei@example.com"}]
    projects = [{"uuid": "p", "name": "x", "prompt_template": "", "docs": []}]
    for document in (users, projects):
        claimed = claim(claude_ai, document)
        assert claimed is not None
        assert not claimed.is_transcript


def test_what_was_spoken_is_read() -> None:
    spoken = message("1", "human", content=[{"type": "voice_note", "title": "t", "text": "你好"}])
    assert said(parsed(claude_ai, [conversation(spoken)])) == [("user", "你好")]


def test_what_the_export_writes_for_what_it_cannot_show_is_no_turn() -> None:
    unshown = "```\nViewing artifacts created via the Analysis Tool web feature preview isn’t yet supported on mobile.\n```"
    other = "```\nThis block is not supported on your current device yet.\n```"
    found = parsed(
        claude_ai,
        [
            conversation(
                message("1", "human", "画一张图"),
                message("2", "assistant", f"{unshown}\n"),
                message("3", "human", "再来"),
                message("4", "assistant", f"Here it is:\n{unshown}\n\nand a script:\n{other}\nDone."),
            )
        ],
    )
    assert said(found)[0] == ("user", "画一张图")
    assert said(found)[1] == ("user", "再来")
    assert said(found)[2] == ("assistant", "Here it is:\n\nand a script:\n\nDone.")
    assert len(turns(found)) == 3
