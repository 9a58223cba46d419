"""LibreChat's exports, flat and nested, and Chatbot UI's."""

from typing import Any

from chatmemory.pastchats.formats.web.librechat import librechat
from tests.formats.exported import certainty, issues, parsed, said, tagged, turns, unknown

ROOT = "00000000-0000-0000-0000-000000000000"


def message(key: str, parent: str | None, text: str, **fields: Any) -> dict[str, Any]:
    is_user = key.startswith("q")
    who = {"isCreatedByUser": is_user, "sender": "User" if is_user else "GPT-4"}
    said = {"text": text, "createdAt": "2024-05-29T00:33:03.661Z"}
    return {"messageId": key, "parentMessageId": parent, **who, **said, **fields}


def export(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    about = {
        "conversationId": "c-1",
        "title": "虚拟环境",
        "exportAt": "20:33:31 GMT-0400",
        "recursive": False,
    }
    return {**about, **fields, "messages": list(messages)}


def test_the_last_answer_is_taken_at_every_fork() -> None:
    messages = [
        message("q1", ROOT, "怎么激活 venv？"),
        message("a1", "q1", "第一个答案"),
        message("a2", "q1", "第二个答案"),
        message("q2", "a1", "到死胡同的问题"),
        message("q3", "a2", "谢谢"),
    ]
    found = parsed(librechat, export(*messages))
    assert [text for _, text in said(found)] == ["怎么激活 venv？", "第二个答案", "谢谢"]
    assert turns(found)[0].conversation_id == "librechat:c-1"


def test_messages_within_messages_read_as_a_flat_list_does() -> None:
    last = message("a2", "x", "第二个答案", children=[message("q2", "x", "谢谢", children=[])])
    first = message("a1", "x", "第一个答案", children=[])
    found = parsed(
        librechat, export(message("q1", ROOT, "怎么激活？", children=[first, last]), recursive=True)
    )
    assert said(found) == [("user", "怎么激活？"), ("assistant", "第二个答案"), ("user", "谢谢")]
    assert [turn.native_id for turn in turns(found)] == ["q1", "a2", "q2"]
    assert issues(found) == []


def test_a_chat_of_a_thousand_nested_answers_is_read_to_its_end() -> None:
    said_last = [f"第 {number} 句" for number in range(1000)]
    begin = '{{"messageId":"q{}","isCreatedByUser":true,"text":"{}","children":['
    parts = [begin.format(number, text) for number, text in enumerate(said_last)]
    found = parsed(librechat, '{"conversationId":"c","messages":[' + "".join(parts) + "]}" * 1000 + "]}")
    assert issues(found) == []
    assert [text for _, text in said(found)] == said_last


def test_content_blocks_stand_in_for_the_text() -> None:
    blocks = [
        {"type": "think", "think": "想"},
        {"type": "text", "text": {"value": "答案"}},
        {"type": "tool_call", "tool_call": {"id": "t", "name": "search", "output": "result"}},
    ]
    answer = message("a", "q", "", content=blocks, model="gpt-4o")
    found = parsed(librechat, export(message("q", None, "?"), answer))
    assert said(found)[1] == ("assistant", "答案")
    assert tagged(found) == [("thinking", "想"), ("tool_result", "result")]
    about = {"title": "虚拟环境", "model": "gpt-4o", "sender": "GPT-4"}
    assert turns(found)[1].metadata == {**about, "tool_calls": [{"name": "search", "id": "t"}]}


def test_a_gap_in_the_chain_costs_only_what_is_missing() -> None:
    messages = [message("q1", None, "一"), message("a1", "q1", "二"), message("q2", "gone", "三")]
    assert [text for _, text in said(parsed(librechat, export(*messages)))] == ["一", "二", "三"]


def test_chatbot_ui_is_read_too() -> None:
    messages = [{"role": "user", "content": "讲个笑话"}, {"role": "assistant", "content": "Skeletons."}]
    chat = {"id": "h-1", "name": "笑话", "messages": messages, "folderId": None}
    document = {"version": 4, "history": [chat], "folders": [], "prompts": []}
    assert certainty(librechat, document) > 0
    found = parsed(librechat, document)
    assert said(found) == [("user", "讲个笑话"), ("assistant", "Skeletons.")]
    assert turns(found)[0].conversation_id == "librechat:h-1"
    assert (issues(found), unknown(found)) == ([], [])


def test_an_export_is_claimed_by_its_messages() -> None:
    assert certainty(librechat, export(message("q1", None, "hi"))) >= 90
    assert certainty(librechat, {"messages": [{"role": "user", "content": "hi"}]}) == 0
