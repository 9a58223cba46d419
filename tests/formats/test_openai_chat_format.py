"""OpenAI's lines of messages: for fine-tuning, for preferences, for batches."""

from typing import Any

from chatmemory.pastchats.formats.lists.openai_chat import openai_chat
from chatmemory.pastchats.formats.lists.role_list import role_list
from tests.formats.exported import certainty
from tests.formats.large_history import lines
from tests.read_turns import read


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: str | None, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **fields}


SYSTEM = {"role": "system", "content": "你是一个乐观的助手。"}
LINES = [
    {"messages": [SYSTEM, user("我今天摔倒了"), assistant("动起来就好！")]},
    {"messages": [SYSTEM, assistant("You're great!")]},
    {"messages": [SYSTEM, user("ok"), assistant("ok")]},
]


def test_each_line_is_a_conversation_named_after_its_place() -> None:
    found = read(openai_chat, lines(*LINES), path="/d/tune.jsonl")
    assert found.conversations == [f"openai_chat:/d/tune.jsonl#L{line}" for line in (1, 2, 3)]
    three = ["system", "user", "assistant"]
    assert [role for role, _ in found.said] == [*three, "system", "assistant", *three]
    assert {turn.timestamp for turn in found.turns} == {None}


def test_a_call_of_a_tool_is_no_turn_and_results_and_thoughts_are_kept_apart() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    picture = {"type": "image_url", "image_url": {"url": "x"}}
    messages = [
        user([{"type": "text", "text": "Paris?"}, picture]),
        assistant(None, tool_calls=[call]),
        {"role": "tool", "tool_call_id": "c1", "content": "21"},
        assistant("21 °C", weight=1, reasoning_content="二十一……"),
    ]
    tools = [{"type": "function", "function": {"name": "get_weather"}}]
    found = read(openai_chat, lines({"messages": messages, "tools": tools, "parallel_tool_calls": False}))
    assert found.said == [("user", "Paris?"), ("assistant", "21 °C")]
    others = [(turn.role, turn.kind, turn.content) for turn in found.turns if turn not in found.kept]
    assert others == [("tool", "tool_result", "21"), ("assistant", "thinking", "二十一……")]


def test_of_two_answers_the_preferred_one_was_given() -> None:
    line = {
        "input": {"messages": [user("Q")], "tools": []},
        "preferred_output": [assistant("好")],
        "non_preferred_output": [assistant("坏")],
    }
    assert read(openai_chat, lines(line)).said == [("user", "Q"), ("assistant", "好")]
    assert certainty(openai_chat, lines(line)) > 90


def test_requests_and_answers_of_a_batch_meet_in_one_conversation() -> None:
    asked = {"model": "gpt-4o-mini", "messages": [user("hi")]}
    request = {"custom_id": "request-1", "method": "POST", "url": "/v1/chat/completions", "body": asked}
    answered = {"model": "gpt-4o-mini", "choices": [{"message": assistant("hello")}]}
    response = {"status_code": 200, "body": answered}
    answer = {"id": "batch_req_1", "custom_id": "request-1", "response": response, "error": None}
    for line, said in ((request, ("user", "hi")), (answer, ("assistant", "hello"))):
        found = read(openai_chat, lines(line, line))
        assert found.said == [said, said]
        assert found.conversations == ["openai_chat:request-1"]
        assert found.kept[0].metadata["model"] == "gpt-4o-mini"
        assert certainty(openai_chat, lines(line)) > 90


def test_what_is_no_message_is_counted() -> None:
    others: list[dict[str, Any]] = [
        {"object": "usage", "total": 5},
        {"messages": [{"role": "narrator", "content": "x"}]},
    ]
    assert read(openai_chat, lines(*LINES, *others)).unknown == ["usage", "role narrator"]


def test_a_damaged_line_is_an_issue_and_the_others_are_read() -> None:
    deep = '{"messages": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    wrong = '{"messages": [{"role": "user", "content": "\\ud83e 半个字"}, {"role": "assistant", "content": NaN}]}\n'
    found = read(openai_chat, lines(LINES[0]) + deep + wrong + lines(LINES[2]))
    assert [(issue.code, issue.line) for issue in found.issues] == [("malformed_record", 2)]
    assert found.said[3] == ("user", "\ud83e 半个字")
    assert found.said[-1] == ("assistant", "ok")


def test_it_is_surer_than_the_generic_reader_of_lines_and_leaves_documents_to_that() -> None:
    assert certainty(openai_chat, lines(*LINES)) > certainty(role_list, lines(*LINES)) >= 50
    one = {"title": "t", "messages": [user("a"), assistant("b")]}
    assert certainty(role_list, one) > certainty(openai_chat, one)
    assert certainty(openai_chat, lines({"messages": ["a", "b"]})) == 0
