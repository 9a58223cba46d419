"""ShareGPT's conversations, in the shapes in which data sets carry them about."""

from read_turns import as_json, as_lines, confidence, prefixes, read

from chatmemory.pastchats.formats.lists.role_list import role_list
from chatmemory.pastchats.formats.lists.sharegpt import sharegpt
from tests.for_each import for_each

WHO = [{"from": "human", "value": "你是谁？"}, {"from": "gpt", "value": "我是助手。"}]
CHATS = [{"id": "identity_0", "conversations": WHO}, {"id": "identity_1", "conversations": WHO}]


@for_each("text", [as_json(CHATS), as_json(CHATS, indent=2), as_lines(CHATS)])
def test_the_same_words_in_two_conversations_are_four_turns(text: str) -> None:
    found = read(sharegpt, text)
    assert found.said == [("user", "你是谁？"), ("assistant", "我是助手。")] * 2
    assert found.conversations == ["sharegpt:identity_0", "sharegpt:identity_1"]
    assert confidence(sharegpt, text) > confidence(role_list, text)


def test_an_id_behind_the_turns_counts_as_well() -> None:
    chats = [{"conversations": WHO, "title": "谁", "id": "a1b2"}]
    found = read(sharegpt, as_json(chats, indent=1), block_bytes=5)
    assert found.conversations == ["sharegpt:a1b2"]
    assert found.kept[0].metadata["title"] == "谁"


def test_numbers_and_no_ids_at_all_are_told_apart_by_place() -> None:
    chats = [{"id": 7, "conversations": WHO}, {"id": "8", "conversations": WHO}, {"conversations": WHO}]
    text = as_json(chats, indent=1)
    assert read(sharegpt, text, path="/d/a.json").conversations == [
        f"sharegpt:/d/a.json#{place}" for place in (1, 2, 3)
    ]


def test_tools_stand_between_the_turns() -> None:
    chat = {
        "conversations": [
            {"from": "human", "value": "天气？"},
            {"from": "function_call", "value": '{"name": "get_weather"}'},
            {"from": "observation", "value": "21"},
            {"from": "gpt", "value": "21 度"},
        ],
        "system": "You may call tools.",
        "tools": "[]",
    }
    found = read(sharegpt, as_json([chat]))
    assert found.said == [("system", "You may call tools."), ("user", "天气？"), ("assistant", "21 度")]
    assert [turn.content for turn in found.turns if turn.kind == "tool_result"] == ["21"]
    assert found.unknown == []


def test_pairs_of_question_and_answer_are_read() -> None:
    lines = [
        {
            "conversation_id": 1,
            "category": "问答",
            "conversation": [{"human": "你好", "assistant": "您好"}] * 2,
        }
    ]
    found = read(sharegpt, as_lines(lines))
    assert found.said == [("user", "你好"), ("assistant", "您好")] * 2
    assert found.kept[0].metadata["category"] == "问答"


def test_the_original_dump_calls_its_turns_items() -> None:
    found = read(sharegpt, as_json([{"id": "QWJhYvA_0", "items": [{"from": "human", "value": "hi"}]}]))
    assert found.said == [("user", "hi")]


def test_an_unknown_voice_is_counted() -> None:
    chat = {"id": "x", "conversations": [*WHO, {"from": "narrator", "value": "meanwhile"}]}
    assert read(sharegpt, as_json([chat])).unknown == ["from narrator"]


def test_a_turn_nested_without_end_is_an_issue_and_the_rest_is_read() -> None:
    nest = "[" * 100_000 + "]" * 100_000
    text = as_json(CHATS)[:-1] + ', {"id": "c", "conversations": ' + nest + "}, " + as_json(CHATS)[1:]
    found = read(sharegpt, text)
    assert {issue.code for issue in found.issues} == {"malformed_record"}
    assert len(found.kept) == 8


def test_every_beginning_of_the_document_keeps_what_was_said() -> None:
    text = as_json(CHATS)
    whole = read(sharegpt, text).said
    for part in prefixes(text, every=5):
        said = read(sharegpt, part).said
        assert said == whole[: len(said)]
    assert len(read(sharegpt, text.encode()[:-3]).said) == 4
