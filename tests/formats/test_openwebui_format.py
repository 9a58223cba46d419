"""Open WebUI's exports: three shapes, one path, and what is folded away within the text."""

from datetime import UTC, datetime
from typing import Any

from chatmemory.pastchats.formats.web.openwebui import openwebui
from tests.formats.read_turns import certainty, parsed


def message(key: str, parent: str | None, role: str, content: str, **fields: Any) -> dict[str, Any]:
    linked: dict[str, Any] = {"id": key, "parentId": parent, "childrenIds": []}
    return {**linked, "role": role, "content": content, "timestamp": 1700000000, **fields}


def chat(*messages: dict[str, Any], current: str | None = None) -> dict[str, Any]:
    tree = {one["id"]: one for one in messages}
    path = list(messages)
    return {"title": "天气", "history": {"messages": tree, "currentId": current}, "messages": path}


PAIR = (message("1", None, "user", "巴黎天气？"), message("2", "1", "assistant", "18 度", model="llama3.1"))
SAID = [("user", "巴黎天气？"), ("assistant", "18 度")]


def test_a_list_a_wrapped_chat_and_a_bare_one_read_the_same() -> None:
    bare = chat(*PAIR, current="2")
    wrapped = {"id": "c-1", "title": "天气", "chat": bare}
    path = "/home/mei/x.json"
    for document, name in (([wrapped], "c-1"), (wrapped, "c-1"), (bare, path), ([bare], f"{path}#0")):
        assert certainty(openwebui, document) > 0
        found = parsed(openwebui, document)
        assert (found.said, found.issue_details) == (SAID, [])
        answer = found.kept[1]
        assert answer.conversation_id == f"openwebui:{name}"
        assert answer.timestamp == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
        assert answer.metadata == {"title": "天气", "model": "llama3.1"}
    listed = [
        {"id": "1", "role": "user", "content": "你好"},
        {"id": "2", "role": "assistant", "content": "Hi"},
    ]
    found = parsed(openwebui, [{"id": "c", "chat": {"title": "t", "messages": listed}}])
    assert found.said == [("user", "你好"), ("assistant", "Hi")]


def test_the_current_path_is_read_and_an_answer_may_stand_in_its_items_alone() -> None:
    other = message("3", "1", "assistant", "别的模型", timestamp=1800000000)
    assert parsed(openwebui, chat(*PAIR, other, current="2")).said == SAID
    assert parsed(openwebui, chat(*PAIR, other)).said[1] == ("assistant", "别的模型")
    circle = chat(message("1", "2", "user", "甲"), message("2", "1", "assistant", "乙"), current="2")
    assert parsed(openwebui, circle).said == [("user", "甲"), ("assistant", "乙")]
    output = [
        {"type": "reasoning", "content": [{"type": "output_text", "text": "想一想"}]},
        {"type": "function_call", "call_id": "c1", "name": "weather"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "18"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "18 度"}]},
    ]
    for content, others in (("", [("thinking", "想一想"), ("tool_result", "18")]), ("18 度", [])):
        answer = message("2", "1", "assistant", content, output=output)
        found = parsed(openwebui, chat(PAIR[0], answer, current="2"))
        assert (found.said, found.tagged) == (SAID, others)


def test_reasoning_and_tool_calls_are_taken_out_of_the_text_and_other_details_stay() -> None:
    content = (
        '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n'
        "&gt; 先查\n&gt; 再答</details>\n"
        '<details type="tool_calls" done="true" id="call_1" name="get_weather" result="&quot;18C&quot;">\n'
        "<summary>Tool Executed</summary>\n</details>\n18 度，有雨"
    )
    found = parsed(openwebui, chat(PAIR[0], message("2", "1", "assistant", content), current="2"))
    assert found.said[1] == ("assistant", "18 度，有雨")
    assert found.tagged == [("thinking", "先查\n再答"), ("tool_result", '"18C"')]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "get_weather", "id": "call_1"}]
    other = "<details><summary>Log</summary>第 3 行</details>"
    assert parsed(openwebui, chat(message("1", None, "user", other), current="1")).said == [("user", other)]
