"""Exports of chat applications: DeepSeek, LibreChat and Continue."""

from typing import Any

from chatmemory.pastchats.formats.tools.continue_dev import continue_dev
from chatmemory.pastchats.formats.web.deepseek import deepseek
from chatmemory.pastchats.formats.web.librechat import librechat
from tests.formats.read_turns import certainty, is_beside, parsed
from tests.formats.small_histories import ANSWERED, ASKED

ROOT = "00000000-0000-0000-0000-000000000000"


def message(key: str, parent: str | None, text: str, **fields: Any) -> dict[str, Any]:
    is_user = key.startswith("q")
    who = {"isCreatedByUser": is_user, "sender": "User" if is_user else "GPT-4"}
    said = {"text": text, "createdAt": "2024-05-29T00:33:03.661Z"}
    return {"messageId": key, "parentMessageId": parent, **who, **said, **fields}


def export(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    about = {"conversationId": "c-1", "title": "虚拟环境", "exportAt": "20:33:31 GMT-0400"}
    return {**about, "recursive": False, **fields, "messages": list(messages)}


def test_the_last_answer_is_taken_at_every_fork_and_a_gap_costs_only_what_is_missing() -> None:
    messages = [
        message("q1", ROOT, "怎么激活 venv？"),
        message("a1", "q1", "第一个答案"),
        message("a2", "q1", "第二个答案"),
        message("q2", "a1", "到死胡同的问题"),
        message("q3", "a2", "谢谢"),
    ]
    found = parsed(librechat, export(*messages))
    assert [text for _, text in found.said] == ["怎么激活 venv？", "第二个答案", "谢谢"]
    assert found.kept[0].conversation_id == "librechat:c-1"
    messages = [message("q1", None, "一"), message("a1", "q1", "二"), message("q2", "gone", "三")]
    assert [text for _, text in parsed(librechat, export(*messages)).said] == ["一", "二", "三"]


def test_messages_within_messages_read_as_a_flat_list_does_to_any_depth() -> None:
    last = message("a2", "x", "第二个答案", children=[message("q2", "x", "谢谢", children=[])])
    first = message("a1", "x", "第一个答案", children=[])
    nested = export(message("q1", ROOT, "怎么激活？", children=[first, last]), recursive=True)
    found = parsed(librechat, nested)
    assert found.said == [("user", "怎么激活？"), ("assistant", "第二个答案"), ("user", "谢谢")]
    assert [turn.native_id for turn in found.kept] == ["q1", "a2", "q2"]
    assert found.issue_details == []
    said_last = [f"第 {number} 句" for number in range(1000)]
    begin = '{{"messageId":"q{}","isCreatedByUser":true,"text":"{}","children":['
    parts = [begin.format(number, text) for number, text in enumerate(said_last)]
    found = parsed(librechat, '{"conversationId":"c","messages":[' + "".join(parts) + "]}" * 1000 + "]}")
    assert found.issue_details == []
    assert [text for _, text in found.said] == said_last


def test_content_blocks_stand_in_for_the_text() -> None:
    blocks = [
        {"type": "think", "think": "想"},
        {"type": "text", "text": {"value": "答案"}},
        {"type": "tool_call", "tool_call": {"id": "t", "name": "search", "output": "result"}},
    ]
    answer = message("a", "q", "", content=blocks, model="gpt-4o")
    found = parsed(librechat, export(message("q", None, "?"), answer))
    assert found.said[1] == ("assistant", "答案")
    assert found.tagged == [("thinking", "想"), ("tool_result", "result")]
    about = {"title": "虚拟环境", "model": "gpt-4o", "sender": "GPT-4"}
    assert found.kept[1].metadata == {**about, "tool_calls": [{"name": "search", "id": "t"}]}


def test_chatbot_ui_is_read_too_and_an_export_is_claimed_by_its_messages() -> None:
    messages = [{"role": "user", "content": "讲个笑话"}, {"role": "assistant", "content": "Skeletons."}]
    chat = {"id": "h-1", "name": "笑话", "messages": messages, "folderId": None}
    document = {"version": 4, "history": [chat], "folders": [], "prompts": []}
    assert certainty(librechat, document) > 0
    found = parsed(librechat, document)
    assert found.said == [("user", "讲个笑话"), ("assistant", "Skeletons.")]
    assert found.kept[0].conversation_id == "librechat:h-1"
    assert (found.issue_details, found.unknown) == ([], [])
    assert certainty(librechat, export(message("q1", None, "hi"))) >= 90
    assert certainty(librechat, {"messages": [{"role": "user", "content": "hi"}]}) == 0


def node(number: int, *fragments: tuple[str, str], **message: Any) -> dict[str, Any]:
    held = [{"type": kind, "content": content} for kind, content in fragments]
    about = {"model": "deepseek-chat", "inserted_at": f"2026-06-01T10:00:0{number}.000+08:00", "files": []}
    links = {"id": str(number), "parent": str(number - 1) if number > 1 else "root", "children": []}
    return {**links, "message": {**about, "fragments": held, **message}}


def test_thoughts_files_and_unknown_fragments_are_told_apart() -> None:
    nodes = [
        {"id": "root", "parent": None, "children": ["1"], "message": None},
        node(1, ("REQUEST", ASKED), files=[{"file_name": "a.txt", "content": "FROM python"}]),
        node(2, ("HOLOGRAM", "?")),
        node(3, ("THINK", "Layers?"), ("SEARCH", ""), ("RESPONSE", ANSWERED)),
    ]
    about = {"id": "c1", "title": "Nightly build", "inserted_at": "2026-06-01T10:00:00.000+08:00"}
    document = [{**about, "mapping": {one["id"]: one for one in nodes}}]
    assert certainty(deepseek, document) > 90
    found = parsed(deepseek, document)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert set(found.tagged) >= {("harness", "FROM python"), ("thinking", "Layers?")}
    assert found.unknown == ["fragment HOLOGRAM"]
    first, answer = found.kept
    assert (first.conversation_id, first.native_id) == ("deepseek:c1", "1")
    assert first.timestamp is not None
    assert answer.metadata == {"title": "Nightly build", "model": "deepseek-chat"}


def item(role: str, content: Any, *context: Any, **message: Any) -> dict[str, Any]:
    return {"message": {"role": role, "content": content, **message}, "contextItems": list(context)}


def session(*items: Any, **fields: Any) -> dict[str, Any]:
    about = {"title": "格式化", "workspaceDirectory": "/home/mei/app", "sessionId": "s-1"}
    return {"history": list(items), **about, **fields}


def test_a_session_is_read_though_it_names_itself_at_the_end_and_forks_stay_apart() -> None:
    asked = item("user", [{"type": "text", "text": "跑一下 black"}], id="m1")
    found = parsed(continue_dev, session(asked, item("assistant", "好的")))
    assert found.said == [("user", "跑一下 black"), ("assistant", "好的")]
    first = found.kept[0]
    assert (first.conversation_id, first.native_id, first.project) == ("continue:s-1", "m1", "/home/mei/app")
    assert first.timestamp is None
    assert first.metadata == {"title": "格式化"}
    items = [item("user", "同一个问题"), item("assistant", "同一个答案")]
    for native_id in ("s-1", "s-2"):
        fork = parsed(continue_dev, session(*items, sessionId=native_id)).kept
        assert {turn.conversation_id for turn in fork} == {f"continue:{native_id}"}
    for uri, folder in (("file:///home/mei/my%20app", "/home/mei/my app"), ("http://[::1", "http://[::1")):
        (turn,) = parsed(continue_dev, session(item("user", "在哪？"), workspaceDirectory=uri)).kept
        assert turn.project == folder


def test_thinking_tools_and_context_are_tagged() -> None:
    context = {"name": "main.py", "description": "src/main.py", "content": "print(1)"}
    call = {"id": "c1", "function": {"name": "read_file", "arguments": "{}"}}
    history = session(
        item("user", "看看", context),
        item("thinking", "想一想"),
        item("assistant", "我读一下", toolCalls=[call]),
        item("tool", "print(1)"),
        item("narrator", "?"),
    )
    found = parsed(continue_dev, history)
    assert found.said == [("user", "看看"), ("assistant", "我读一下")]
    assert found.tagged == [("harness", "print(1)"), ("thinking", "想一想"), ("tool_result", "print(1)")]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "read_file", "id": "c1"}]
    assert found.unknown == ["role narrator"]


def test_a_session_is_claimed_a_bare_history_is_not_certain_and_the_index_is_no_transcript() -> None:
    bare = {"history": [{"message": {"role": "user", "content": "hi"}}]}
    assert 0 < certainty(continue_dev, bare) < 90 <= certainty(continue_dev, session(item("user", "hi")))
    assert parsed(continue_dev, session()).issue_details == []
    index = {"sessionId": "s-1", "title": "t", "dateCreated": "1734580436896", "workspaceDirectory": "/x"}
    assert is_beside(continue_dev, [index])
