"""OpenAI's lines of messages: for fine-tuning, for preferences, for batches."""

from read_turns import as_lines, confidence, prefixes, read

from chatmemory.pastchats.formats.lists.openai_chat import openai_chat
from chatmemory.pastchats.formats.lists.role_list import role_list

SYSTEM = {"role": "system", "content": "你是一个乐观的助手。"}
LINES = [
    {
        "messages": [
            SYSTEM,
            {"role": "user", "content": "我今天摔倒了"},
            {"role": "assistant", "content": "动起来就好！"},
        ]
    },
    {"messages": [SYSTEM, {"role": "assistant", "content": "You're great!"}]},
    {"messages": [SYSTEM, {"role": "user", "content": "ok"}, {"role": "assistant", "content": "ok"}]},
]
WITH_TOOLS = {
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Paris?"}, {"type": "image_url", "image_url": {"url": "x"}}],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "21"},
        {"role": "assistant", "content": "21 °C", "weight": 1},
    ],
    "tools": [{"type": "function", "function": {"name": "get_weather"}}],
    "parallel_tool_calls": False,
}


def test_each_line_is_a_conversation_named_after_its_place() -> None:
    found = read(openai_chat, as_lines(LINES), path="/d/tune.jsonl")
    assert found.conversations == [f"openai_chat:/d/tune.jsonl#L{line}" for line in (1, 2, 3)]
    assert [role for role, _ in found.said] == [
        *("system", "user", "assistant"),
        *("system", "assistant"),
        *("system", "user", "assistant"),
    ]
    assert {turn.timestamp for turn in found.turns} == {None}


def test_a_call_of_a_tool_is_no_turn_and_its_result_is_kept_apart() -> None:
    found = read(openai_chat, as_lines([WITH_TOOLS]))
    assert found.said == [("user", "Paris?"), ("assistant", "21 °C")]
    assert [(turn.role, turn.content) for turn in found.turns if turn.kind == "tool_result"] == [
        ("tool", "21")
    ]


def test_of_two_answers_the_preferred_one_was_given() -> None:
    line = {
        "input": {"messages": [{"role": "user", "content": "Q"}], "tools": []},
        "preferred_output": [{"role": "assistant", "content": "好"}],
        "non_preferred_output": [{"role": "assistant", "content": "坏"}],
    }
    assert read(openai_chat, as_lines([line])).said == [("user", "Q"), ("assistant", "好")]
    assert confidence(openai_chat, as_lines([line])) > 90


def test_requests_and_answers_of_a_batch_meet_in_one_conversation() -> None:
    request = {
        "custom_id": "request-1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "hi"}]},
    }
    answer = {
        "id": "batch_req_1",
        "custom_id": "request-1",
        "response": {
            "status_code": 200,
            "body": {
                "model": "gpt-4o-mini",
                "choices": [{"message": {"role": "assistant", "content": "hello"}}],
            },
        },
        "error": None,
    }
    for line, said in ((request, ("user", "hi")), (answer, ("assistant", "hello"))):
        found = read(openai_chat, as_lines([line, line]))
        assert found.said == [said, said]
        assert found.conversations == ["openai_chat:request-1"]
        assert found.kept[0].metadata["model"] == "gpt-4o-mini"
        assert confidence(openai_chat, as_lines([line])) > 90


def test_the_thoughts_of_a_model_are_kept_apart() -> None:
    answer = {"role": "assistant", "reasoning_content": "四加四……", "content": "8"}
    found = read(openai_chat, as_lines([{"messages": [{"role": "user", "content": "4+4"}, answer]}]))
    assert found.said == [("user", "4+4"), ("assistant", "8")]
    assert [turn.content for turn in found.turns if turn.kind == "thinking"] == ["四加四……"]


def test_what_is_no_message_is_counted() -> None:
    lines = [*LINES, {"object": "usage", "total": 5}, {"messages": [{"role": "narrator", "content": "x"}]}]
    assert read(openai_chat, as_lines(lines)).unknown == ["usage", "role narrator"]


def test_a_damaged_line_is_an_issue_and_the_others_are_read() -> None:
    deep = '{"messages": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    wrong = '{"messages": [{"role": "user", "content": "\\ud83e 半个字"}, {"role": "assistant", "content": NaN}]}\n'
    found = read(openai_chat, as_lines(LINES[:1]) + deep + wrong + as_lines(LINES[2:]))
    assert [(issue.code, issue.line) for issue in found.issues] == [("malformed_record", 2)]
    assert found.said[3] == ("user", "\ud83e 半个字")
    assert found.said[-1] == ("assistant", "ok")


def test_it_is_surer_than_the_generic_reader_of_lines_and_leaves_documents_to_that() -> None:
    text = as_lines(LINES)
    assert confidence(openai_chat, text) > confidence(role_list, text) >= 50
    one = '{"title": "t", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}'
    assert confidence(role_list, one) > confidence(openai_chat, one)
    assert confidence(openai_chat, as_lines([{"messages": ["a", "b"]}])) == 0


def test_every_beginning_of_the_file_keeps_whole_lines() -> None:
    text = as_lines(LINES)
    whole = read(openai_chat, text).said
    for part in prefixes(text, every=9):
        found = read(openai_chat, part)
        assert found.said == whole[: len(found.said)]
        assert {issue.code for issue in found.issues} <= {"truncated_tail"}
        assert len(found.conversations) >= part.count(b"\n")
