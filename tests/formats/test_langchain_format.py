"""LangChain's messages in their three dresses, alone, in a state, or line by line."""

from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.formats.lists.langchain import langchain
from chatmemory.pastchats.formats.lists.openai_chat import openai_chat
from chatmemory.pastchats.formats.lists.role_list import role_list
from tests.for_each import for_each
from tests.formats.exported import certainty
from tests.formats.large_history import lines
from tests.read_turns import as_json, claimed, read

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


def test_a_chat_message_has_the_role_that_its_writer_chose() -> None:
    chosen = [of_data("chat", "你好", role="user"), of_data("ChatMessageChunk", "您好", role="assistant")]
    found = read(langchain, as_json([*chosen, of_data("AIMessageChunk", "还有吗？")]))
    assert found.said == [("user", "你好"), ("assistant", "您好"), ("assistant", "还有吗？")]


def test_thoughts_and_what_is_no_message_are_kept_apart() -> None:
    thought: Json = [{"type": "thinking", "thinking": "嗯"}, {"type": "text", "text": "yo"}]
    messages = [of_data("human", "hi"), of_data("ai", thought), of_data("remove", "", id="h1")]
    found = read(langchain, as_json(messages))
    assert found.said == [("user", "hi"), ("assistant", "yo")]
    assert [turn.content for turn in found.turns if turn.kind == "thinking"] == ["嗯"]
    assert found.unknown == ["remove"]


def test_each_history_of_a_file_is_a_conversation_of_its_own() -> None:
    histories = [{"session_id": session, "messages": DICTS} for session in ("s-1", "s-2")]
    for text in (lines(*histories), as_json(histories, indent=1)):
        assert read(langchain, text).conversations == ["langchain:s-1", "langchain:s-2"]


def test_a_system_message_alone_is_no_sign_of_it() -> None:
    system = {"type": "system", "content": "你是助手"}
    assert claimed(langchain, lines(system, {"type": "user", "content": "你好"})) is None
    assert claimed(langchain, lines(system, {"type": "human", "content": "你好"})) is not None


def test_a_call_that_stands_in_the_content_too_is_one() -> None:
    call: JsonObject = {"name": "search", "id": "t1"}
    content: Json = [{"type": "text", "text": "我查"}, {"type": "tool_use", **call}]
    answer = message("ai", content, tool_calls=[{**call, "args": {}}, {"name": "x", "id": "t2"}])
    _, turn = read(langchain, lines({"type": "human", "content": "?"}, answer)).kept
    assert turn.metadata["tool_calls"] == [call, {"name": "x", "id": "t2"}]
