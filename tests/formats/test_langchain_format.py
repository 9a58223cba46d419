"""LangChain's messages in their three dresses, alone, in a state, or line by line."""

from read_turns import as_json, as_lines, claimed, confidence, read

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.lists.langchain import langchain
from chatmemory.pastchats.formats.lists.openai_chat import openai_chat
from chatmemory.pastchats.formats.lists.role_list import role_list
from tests.for_each import for_each

CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage"}
MESSAGES: list[dict[str, Json]] = [
    {"type": "system", "content": "You are brief.", "id": None},
    {"type": "human", "content": "二加二？", "id": "h1"},
    {"type": "ai", "content": "", "id": "a1", "tool_calls": [{"name": "calc", "args": {}, "id": "c1"}]},
    {"type": "tool", "content": "4", "id": None, "tool_call_id": "c1", "name": "calc"},
    {
        "type": "ai",
        "content": [{"type": "text", "text": "四。"}, {"type": "text", "text": "对吗？"}],
        "id": "a2",
    },
    {"type": "human", "content": "ok", "id": None},
    {"type": "ai", "content": "ok", "id": None},
    {"type": "human", "content": "ok", "id": None},
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


def _as_dicts() -> list[Json]:
    return [{"type": message["type"], "data": message} for message in MESSAGES]


def _as_dump() -> list[Json]:
    return [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", CLASSES[str(message["type"])]],
            "kwargs": message,
        }
        for message in MESSAGES
    ]


@for_each(
    "text",
    [
        as_json(_as_dicts()),
        as_json(_as_dicts(), indent=1),
        as_lines(_as_dicts()),
        as_json(_as_dump()),
        as_lines(_as_dump()),
        as_json({"lc": 1, "type": "constructor", "id": ["x"], "kwargs": {"messages": _as_dump()}}),
        as_json(MESSAGES),
        as_json({"values": {"messages": MESSAGES}, "next": []}),
        as_lines([{"messages": MESSAGES}]),
    ],
)
def test_every_message_with_text_is_a_turn_however_it_is_written(text: str) -> None:
    found = read(langchain, text)
    assert found.said == SAID
    assert [turn.native_id for turn in found.kept[1:4]] == ["h1", None, "a2"]
    assert len(found.conversations) == 1
    assert confidence(langchain, text) > max(confidence(role_list, text), confidence(openai_chat, text))


def test_a_chat_message_has_the_role_that_its_writer_chose() -> None:
    text = as_json(
        [
            {"type": "chat", "data": {"content": "你好", "role": "user"}},
            {"type": "ChatMessageChunk", "data": {"content": "您好", "role": "assistant"}},
            {"type": "AIMessageChunk", "data": {"content": "还有吗？"}},
        ]
    )
    assert read(langchain, text).said == [("user", "你好"), ("assistant", "您好"), ("assistant", "还有吗？")]


def test_thoughts_and_what_is_no_message_are_kept_apart() -> None:
    text = as_json(
        [
            {"type": "human", "data": {"content": "hi"}},
            {
                "type": "ai",
                "data": {"content": [{"type": "thinking", "thinking": "嗯"}, {"type": "text", "text": "yo"}]},
            },
            {"type": "remove", "data": {"content": "", "id": "h1"}},
        ]
    )
    found = read(langchain, text)
    assert found.said == [("user", "hi"), ("assistant", "yo")]
    assert [turn.content for turn in found.turns if turn.kind == "thinking"] == ["嗯"]
    assert found.unknown == ["remove"]


def test_each_history_of_a_file_is_a_conversation_of_its_own() -> None:
    lines = [{"session_id": "s-1", "messages": _as_dicts()}, {"session_id": "s-2", "messages": _as_dicts()}]
    assert read(langchain, as_lines(lines)).conversations == ["langchain:s-1", "langchain:s-2"]
    assert read(langchain, as_json(lines, indent=1)).conversations == ["langchain:s-1", "langchain:s-2"]


def test_a_system_message_alone_is_no_sign_of_it() -> None:
    others: list[JsonObject] = [
        {"type": "system", "content": "你是助手"},
        {"type": "user", "content": "你好"},
    ]
    assert claimed(langchain, as_lines(others)) is None
    assert claimed(langchain, as_lines([others[0], {"type": "human", "content": "你好"}])) is not None


def test_a_call_that_stands_in_the_content_too_is_one() -> None:
    call: JsonObject = {"name": "search", "id": "t1"}
    content: Json = [{"type": "text", "text": "我查"}, {"type": "tool_use", **call}]
    message: JsonObject = {
        "type": "ai",
        "content": content,
        "tool_calls": [{**call, "args": {}}, {"name": "x", "id": "t2"}],
    }
    _, turn = read(langchain, as_lines([{"type": "human", "content": "?"}, message])).kept
    assert turn.metadata["tool_calls"] == [call, {"name": "x", "id": "t2"}]
