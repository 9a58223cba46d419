"""ChatGPT's export: the current path of a tree, and everything that its nodes may hold beside words."""

import json
from datetime import UTC, datetime
from typing import Any

from chatmemory.pastchats.formats.web.chatgpt import chatgpt
from tests.formats.large_history import as_json
from tests.formats.read_turns import certainty, is_beside, parsed


def node(
    key: str, parent: str | None, role: str = "user", *parts: Any, at: float | None = None, **message: Any
) -> dict[str, Any]:
    content = message.pop("content", {"content_type": "text", "parts": list(parts)})
    about = {"id": key, "author": {"role": role}, "create_time": at, "content": content}
    return {"id": key, "parent": parent, "message": {**about, **message}}


def conversation(*nodes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    mapping = {one["id"]: one for one in nodes}
    about = {"conversation_id": "c-1", "default_model_slug": "gpt-5"}
    return {"title": "预算表", "mapping": mapping, **about, **fields}


QUESTION = node("q", None, "user", "怎么回滚部署？", at=1756000001.25)
ANSWER = node("a", "q", "assistant", "Run `helm rollback`.", at=1756000002.0)
CHAT = conversation(QUESTION, ANSWER, current_node="a")
SAID = [("user", "怎么回滚部署？"), ("assistant", "Run `helm rollback`.")]


def test_a_list_a_wrapped_list_and_a_conversation_alone_read_the_same() -> None:
    for document in ([CHAT], {"conversations": [CHAT], "version": 1}, CHAT):
        assert certainty(chatgpt, document) > 0
        found = parsed(chatgpt, document)
        assert (found.said, found.issue_details) == (SAID, [])
        question, answer = found.kept
        assert question.conversation_id == "chatgpt:c-1"
        assert (question.native_id, answer.native_id) == ("q", "a")
        assert question.timestamp == datetime(2025, 8, 24, 1, 46, 41, 250000, UTC)
        assert answer.metadata == {"title": "预算表", "model": "gpt-5"}
    nameless = parsed(chatgpt, [conversation(QUESTION, conversation_id=None)]).kept
    assert nameless[0].conversation_id == "chatgpt:/home/mei/x.json#0"


LATER = node("a2", "q", "assistant", "后来的答案", at=1756000009.0)


def test_a_path_is_read_to_the_current_node_or_the_latest_leaf_also_without_a_root_and_in_a_circle() -> None:
    found = parsed(chatgpt, [conversation(ANSWER, LATER, QUESTION, current_node="a")])
    assert found.said == SAID
    assert [turn.turn_index for turn in found.kept] == [0, 1]
    for fields in ({"current_node": "nobody"}, {"current_node": None}, {}):
        found = parsed(chatgpt, [conversation(QUESTION, LATER, ANSWER, **fields)])
        assert found.said == [SAID[0], ("assistant", "后来的答案")]
    orphan = {**QUESTION, "parent": "gone"}
    assert parsed(chatgpt, [conversation(orphan, ANSWER, current_node="a")]).said == SAID
    first = node("q1", "client-created-root", "user", "第一稿", at=1.5e9)
    second = node("q2", "client-created-root", "user", "第二稿", at=1.6e9)
    assert parsed(chatgpt, [conversation(first, second, current_node="q2")]).said == [("user", "第二稿")]
    circle = conversation({**QUESTION, "parent": "a"}, ANSWER, current_node="a")
    assert sorted(parsed(chatgpt, [circle]).said) == sorted(SAID)


def test_a_conversation_without_mapping_and_a_damaged_node_are_issues_and_the_rest_is_read() -> None:
    damaged = node("q2", "a", "user", "DAMAGE", at=1756000003.0)
    last = node("a2", "q2", "assistant", "Restore the chart.", at=1756000004.0)
    text = json.dumps([conversation(QUESTION, ANSWER, damaged, last, current_node="a2")])
    found = parsed(chatgpt, text.replace('"DAMAGE"', "[" * 100_000 + "]" * 100_000))
    assert found.said == [*SAID, ("assistant", "Restore the chart.")]
    assert [code for code, _ in found.issue_details] == ["malformed_record"]
    found = parsed(chatgpt, [{"title": "Corrupted entry", "conversation_id": "c-0"}, 7, CHAT])
    assert found.said == SAID
    assert found.issue_details == [
        ("malformed_record", "a conversation without 'mapping', at 0"),
        ("malformed_record", "no conversation, at 1"),
    ]


def test_what_is_no_word_of_either_side_is_tagged() -> None:
    context = {"content_type": "user_editable_context", "user_profile": "SRE", "user_instructions": "简短"}
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "想一想"}]}
    hidden = {"is_visually_hidden_from_conversation": True}
    chat = conversation(
        node("c", None, content=context),
        node("s", "c", "system", "You are ChatGPT"),
        {**QUESTION, "parent": "s"},
        node("t", "q", "assistant", content=thoughts),
        node("h", "t", "user", "看不见的指令", metadata=hidden),
        {**ANSWER, "parent": "h"},
        current_node="a",
    )
    found = parsed(chatgpt, [chat])
    assert found.tagged == [
        ("harness", "SRE\n\n简短"),
        ("harness", "You are ChatGPT"),
        ("thinking", "想一想"),
        ("harness", "看不见的指令"),
    ]
    assert found.said == SAID
    search = {"content_type": "code", "language": "unknown", "text": 'search("helm")'}
    page = {"content_type": "tether_quote", "url": "https://helm.sh", "text": "helm docs"}
    chat = conversation(
        QUESTION,
        node("t", "q", "assistant", content=search, recipient="browser"),
        node("r", "t", "tool", content=page),
        node("o", "r", "assistant", content={"content_type": "hologram", "parts": ["?"]}),
        {**ANSWER, "parent": "o"},
        current_node="a",
    )
    found = parsed(chatgpt, [chat])
    assert found.tagged == [("tool_result", "helm docs")]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "browser", "id": "t"}]
    assert found.unknown == ["content hologram"]


def test_pictures_are_attachments_speech_is_text_and_marks_of_links_are_gone() -> None:
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        {"content_type": "audio_transcription", "text": "这是什么？"},
    ]
    spoken = node("q", None, content={"content_type": "multimodal_text", "parts": parts})
    answer = 'A \ue200entity\ue202["software","Helm"]\ue201 chart.\ue200cite\ue202turn0search1\ue201'
    chat = conversation(spoken, node("a", "q", "assistant", answer), current_node="a")
    found = parsed(chatgpt, [chat]).kept
    assert [turn.content for turn in found] == ["这是什么？", "A Helm chart."]
    assert found[0].metadata["attachments"] == [{"type": "image"}]


def test_conversations_may_lie_one_in_each_line_and_other_files_are_no_transcripts() -> None:
    one = as_json(CHAT)
    lines = f"{one}\n{one[:-9]}\n\n7\n{one}\n{one[:40]}"
    assert certainty(chatgpt, lines) > 0
    found = parsed(chatgpt, lines)
    assert sorted(found.said) == sorted(SAID * 3)
    assert [(issue.code, issue.line) for issue in found.issues] == [
        ("malformed_record", 2),
        ("malformed_record", None),
        ("truncated_tail", 6),
    ]
    assert is_beside(chatgpt, {"id": "user-1", "email": "mei@example.com", "chatgpt_plus_user": True})
    assert is_beside(chatgpt, [{"id": "f", "conversation_id": "c-1", "rating": "thumbs_up"}])
    assert certainty(chatgpt, [{"id": "1", "mapping": {"a": 1}}]) == 0
    message = {"model": "deepseek-chat", "fragments": [{"type": "REQUEST", "content": "你好"}]}
    nodes = {"1": {"id": "1", "parent": "root", "children": [], "message": message}}
    assert certainty(chatgpt, [{"id": "d", "title": "t", "mapping": nodes}]) == 0
