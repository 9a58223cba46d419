"""ShareGPT's conversations, in the shapes in which data sets carry them about."""

from typing import Any

from chatmemory.pastchats.formats.lists.role_list import role_list
from chatmemory.pastchats.formats.lists.sharegpt import sharegpt
from tests.for_each import for_each
from tests.formats.exported import certainty
from tests.formats.large_history import lines
from tests.read_turns import as_json, read


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


def test_an_id_behind_the_turns_counts_and_numbers_and_no_ids_at_all_are_told_apart_by_place() -> None:
    chat = {"conversations": WHO, "title": "谁", "id": "a1b2"}
    named = read(sharegpt, as_json([chat], indent=1), block_bytes=5)
    assert named.conversations == ["sharegpt:a1b2"]
    assert named.kept[0].metadata["title"] == "谁"
    chats = [{"id": 7, "conversations": WHO}, {"id": "8", "conversations": WHO}, {"conversations": WHO}]
    found = read(sharegpt, as_json(chats, indent=1), path="/d/a.json")
    assert found.conversations == [f"sharegpt:/d/a.json#{place}" for place in (1, 2, 3)]


def test_tools_stand_between_the_turns_and_an_unknown_voice_is_counted() -> None:
    call = '{"name": "get_weather"}'
    said = voices(human="天气？", function_call=call, observation="21", gpt="21 度", narrator="meanwhile")
    chat = {"conversations": said, "system": "You may call tools.", "tools": "[]"}
    found = read(sharegpt, as_json([chat]))
    assert found.said == [("system", "You may call tools."), ("user", "天气？"), ("assistant", "21 度")]
    assert [turn.content for turn in found.turns if turn.kind == "tool_result"] == ["21"]
    assert found.unknown == ["from narrator"]


def test_pairs_of_question_and_answer_are_read() -> None:
    said = [{"human": "你好", "assistant": "您好"}] * 2
    found = read(sharegpt, lines({"conversation_id": 1, "category": "问答", "conversation": said}))
    assert found.said == [("user", "你好"), ("assistant", "您好")] * 2
    assert found.kept[0].metadata["category"] == "问答"
    # The original dump calls its turns items.
    assert read(sharegpt, as_json([{"id": "QWJhYvA_0", "items": voices(human="hi")}])).said == [
        ("user", "hi")
    ]


def test_a_turn_nested_without_end_is_an_issue_and_the_rest_is_read() -> None:
    nest = "[" * 100_000 + "]" * 100_000
    text = as_json(CHATS)[:-1] + ', {"id": "c", "conversations": ' + nest + "}, " + as_json(CHATS)[1:]
    found = read(sharegpt, text)
    assert {issue.code for issue in found.issues} == {"malformed_record"}
    assert len(found.kept) == 8
