"""Conversations as data sets keep them: of LangChain, OpenAI, ShareGPT, and lists of roles."""

from typing import Any

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.lists.langchain import langchain
from chatmemory.pastchats.formats.lists.openai_chat import openai_chat
from chatmemory.pastchats.formats.lists.role_list import role_list
from chatmemory.pastchats.formats.lists.sharegpt import sharegpt
from tests.for_each import for_each
from tests.formats.large_history import as_json, lines
from tests.formats.read_turns import certainty, claimed, read

CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage"}


def message(kind: str, content: Json, id_: str | None = None, **fields: Json) -> JsonObject:
    return {"type": kind, "content": content, "id": id_, **fields}


def of_data(kind: str, content: Json, **fields: Json) -> JsonObject:
    return {"type": kind, "data": {"content": content, **fields}}


MESSAGES = [
    message("system", "You are brief."),
    message("human", "二加二？", "h1"),
    message("ai", "", "a1", tool_calls=[{"name": "calc", "args": {}, "id": "c1"}]),
    message("tool", "4", tool_call_id="c1", name="calc"),
    message("ai", [{"type": "text", "text": "四。"}, {"type": "text", "text": "对吗？"}], "a2"),
    message("human", "ok"),
    message("ai", "ok"),
    message("human", "ok"),
]
SAID = [
    ("system", "You are brief."),
    ("user", "二加二？"),
    ("tool", "4"),
    ("assistant", "四。\n\n对吗？"),
    ("user", "ok"),
    ("assistant", "ok"),
    ("user", "ok"),
]
DICTS: list[JsonObject] = [{"type": message["type"], "data": message} for message in MESSAGES]


def dumped(name: str, kwargs: Json) -> JsonObject:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


DUMP = [dumped(CLASSES[str(message["type"])], message) for message in MESSAGES]


@for_each(
    "text",
    [
        as_json(DICTS),
        as_json(DICTS, indent=1),
        lines(*DICTS),
        as_json(DUMP),
        lines(*DUMP),
        as_json({"lc": 1, "type": "constructor", "id": ["x"], "kwargs": {"messages": [*DUMP]}}),
        as_json(MESSAGES),
        as_json({"values": {"messages": [*MESSAGES]}, "next": []}),
        lines({"messages": MESSAGES}),
    ],
)
def test_every_message_with_text_is_a_turn_however_it_is_written(text: str) -> None:
    found = read(langchain, text)
    assert found.said == SAID
    assert [turn.native_id for turn in found.kept[1:4]] == ["h1", None, "a2"]
    assert len(found.conversations) == 1
    assert certainty(langchain, text) > max(certainty(role_list, text), certainty(openai_chat, text))


def test_roles_thoughts_calls_and_what_is_no_message_are_kept_apart() -> None:
    chosen = [of_data("chat", "你好", role="user"), of_data("ChatMessageChunk", "您好", role="assistant")]
    found = read(langchain, as_json([*chosen, of_data("AIMessageChunk", "还有吗？")]))
    assert found.said == [("user", "你好"), ("assistant", "您好"), ("assistant", "还有吗？")]
    thought: Json = [{"type": "thinking", "thinking": "嗯"}, {"type": "text", "text": "yo"}]
    messages = [of_data("human", "hi"), of_data("ai", thought), of_data("remove", "", id="h1")]
    found = read(langchain, as_json(messages))
    assert found.said == [("user", "hi"), ("assistant", "yo")]
    assert [turn.content for turn in found.turns if turn.kind == "thinking"] == ["嗯"]
    assert found.unknown == ["remove"]
    call: JsonObject = {"name": "search", "id": "t1"}
    content: Json = [{"type": "text", "text": "我查"}, {"type": "tool_use", **call}]
    answer = message("ai", content, tool_calls=[{**call, "args": {}}, {"name": "x", "id": "t2"}])
    _, turn = read(langchain, lines({"type": "human", "content": "?"}, answer)).kept
    assert turn.metadata["tool_calls"] == [call, {"name": "x", "id": "t2"}]


def test_each_history_is_a_conversation_and_a_system_message_alone_no_sign() -> None:
    histories = [{"session_id": session, "messages": DICTS} for session in ("s-1", "s-2")]
    for text in (lines(*histories), as_json(histories, indent=1)):
        assert read(langchain, text).conversations == ["langchain:s-1", "langchain:s-2"]
    system = {"type": "system", "content": "你是助手"}
    assert claimed(langchain, lines(system, {"type": "user", "content": "你好"})) is None
    assert claimed(langchain, lines(system, {"type": "human", "content": "你好"})) is not None


def voices(**values: str) -> list[dict[str, Any]]:
    return [{"from": voice, "value": value} for voice, value in values.items()]


WHO = voices(human="你是谁？", gpt="我是助手。")
CHATS = [{"id": "identity_0", "conversations": WHO}, {"id": "identity_1", "conversations": WHO}]


@for_each("text", [as_json(CHATS), as_json(CHATS, indent=2), lines(*CHATS)])
def test_the_same_words_in_two_conversations_are_four_turns(text: str) -> None:
    found = read(sharegpt, text)
    assert found.said == [("user", "你是谁？"), ("assistant", "我是助手。")] * 2
    assert found.conversations == ["sharegpt:identity_0", "sharegpt:identity_1"]
    assert certainty(sharegpt, text) > certainty(role_list, text)


def test_ids_count_wherever_they_stand_tools_stand_apart_and_unknown_voices_are_counted() -> None:
    chat = {"conversations": WHO, "title": "谁", "id": "a1b2"}
    named = read(sharegpt, as_json([chat], indent=1), block_bytes=5)
    assert named.conversations == ["sharegpt:a1b2"]
    assert named.kept[0].metadata["title"] == "谁"
    chats = [{"id": 7, "conversations": WHO}, {"id": "8", "conversations": WHO}, {"conversations": WHO}]
    found = read(sharegpt, as_json(chats, indent=1), path="/d/a.json")
    assert found.conversations == [f"sharegpt:/d/a.json#{place}" for place in (1, 2, 3)]
    call = '{"name": "get_weather"}'
    said = voices(human="天气？", function_call=call, observation="21", gpt="21 度", narrator="meanwhile")
    chat = {"conversations": said, "system": "You may call tools.", "tools": "[]"}
    found = read(sharegpt, as_json([chat]))
    assert found.said == [("system", "You may call tools."), ("user", "天气？"), ("assistant", "21 度")]
    assert [turn.content for turn in found.turns if turn.kind == "tool_result"] == ["21"]
    assert found.unknown == ["from narrator"]


def test_pairs_of_question_and_answer_are_read_beside_a_turn_nested_without_end() -> None:
    said = [{"human": "你好", "assistant": "您好"}] * 2
    found = read(sharegpt, lines({"conversation_id": 1, "category": "问答", "conversation": said}))
    assert found.said == [("user", "你好"), ("assistant", "您好")] * 2
    assert found.kept[0].metadata["category"] == "问答"
    # The original dump calls its turns items.
    dumped = as_json([{"id": "QWJhYvA_0", "items": voices(human="hi")}])
    assert read(sharegpt, dumped).said == [("user", "hi")]
    nest = "[" * 100_000 + "]" * 100_000
    text = as_json(CHATS)[:-1] + ', {"id": "c", "conversations": ' + nest + "}, " + as_json(CHATS)[1:]
    found = read(sharegpt, text)
    assert {issue.code for issue in found.issues} == {"malformed_record"}
    assert len(found.kept) == 8


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


def test_each_line_is_a_conversation_damage_is_an_issue_and_what_is_no_message_is_counted() -> None:
    found = read(openai_chat, lines(*LINES), path="/d/tune.jsonl")
    assert found.conversations == [f"openai_chat:/d/tune.jsonl#L{line}" for line in (1, 2, 3)]
    three = ["system", "user", "assistant"]
    assert [role for role, _ in found.said] == [*three, "system", "assistant", *three]
    assert {turn.timestamp for turn in found.turns} == {None}
    others: list[dict[str, Any]] = [
        {"object": "usage", "total": 5},
        {"messages": [{"role": "narrator", "content": "x"}]},
    ]
    assert read(openai_chat, lines(*LINES, *others)).unknown == ["usage", "role narrator"]
    deep = '{"messages": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    wrong = '{"messages": [{"role": "user", "content": "\\ud83e 半个字"}, {"role": "assistant", "content": NaN}]}\n'
    found = read(openai_chat, lines(LINES[0]) + deep + wrong + lines(LINES[2]))
    assert [(issue.code, issue.line) for issue in found.issues] == [("malformed_record", 2)]
    assert found.said[3] == ("user", "\ud83e 半个字")
    assert found.said[-1] == ("assistant", "ok")


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


def test_preferences_and_batches_are_conversations_and_lines_are_surely_its_own() -> None:
    line = {
        "input": {"messages": [user("Q")], "tools": []},
        "preferred_output": [assistant("好")],
        "non_preferred_output": [assistant("坏")],
    }
    assert read(openai_chat, lines(line)).said == [("user", "Q"), ("assistant", "好")]
    assert certainty(openai_chat, lines(line)) > 90
    assert certainty(openai_chat, lines(*LINES)) > certainty(role_list, lines(*LINES)) >= 50
    one = {"title": "t", "messages": [user("a"), assistant("b")]}
    assert certainty(role_list, one) > certainty(openai_chat, one)
    assert certainty(openai_chat, lines({"messages": ["a", "b"]})) == 0
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
