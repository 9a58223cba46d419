"""Lists of a role and a text under whatever names."""

from datetime import UTC, datetime

from read_turns import as_json, as_lines, claimed, confidence, prefixes, read

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.lists.role_list import role_list
from tests.for_each import for_each

CHAT: list[dict[str, Json]] = [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "您好"}]
SAID = [("user", "你好"), ("assistant", "您好")]


@for_each(
    "text",
    [
        as_json(CHAT),
        as_json(CHAT, indent=2),
        as_lines(CHAT),
        as_json({"messages": CHAT}),
        as_json({"version": 1, "conversation": {"turns": CHAT}}),
        as_json({"history": CHAT}, indent=1),
        as_json({"data": {"chat": {"messages": CHAT}}}),
        as_json([{"from": "human", "text": "你好"}, {"from": "bot", "text": "您好"}]),
        as_json([{"sender": "Human", "message": "你好"}, {"sender": "AI", "message": "您好"}]),
        as_json(
            [
                {"author": {"role": "user"}, "content": {"parts": ["你好"]}},
                {"author": {"role": "model"}, "body": "您好"},
            ]
        ),
        as_json(
            [{"role": "user", "parts": [{"text": "你好"}]}, {"role": "model", "parts": [{"text": "您好"}]}]
        ),
        as_json([{"speaker": "用户", "text": "你好"}, {"speaker": "助手", "text": "您好"}]),
        as_json([{"type": "human", "value": "你好"}, {"type": "ai", "value": "您好"}]),
        as_lines([{"type": "message", "message": said} for said in CHAT]),
        as_lines(
            [
                {"type": "user", "message": {"role": "user", "parts": [{"text": "你好"}]}},
                {"type": "assistant", "message": {"role": "model", "parts": [{"text": "您好"}]}},
            ]
        ),
    ],
)
def test_one_chat_is_read_from_many_shapes(text: str) -> None:
    found = read(role_list, text)
    assert found.said == SAID
    assert len(found.conversations) == 1
    assert confidence(role_list, text) >= 50


def test_several_chats_are_told_apart_by_id_or_place() -> None:
    for text in (
        as_json({"conversations": [{"id": "c-1", "messages": CHAT}, {"id": "c-2", "messages": CHAT}]}),
        as_json([{"messages": CHAT, "id": "c-1"}, {"messages": CHAT, "id": "c-2"}], indent=1),
        as_lines([{"id": "c-1", "chat": CHAT}, {"chat": CHAT, "id": "c-2"}]),
    ):
        found = read(role_list, text, block_bytes=7)
        assert found.said == SAID * 2
        assert found.conversations == ["role_list:c-1", "role_list:c-2"]
    assert read(role_list, as_json([CHAT, CHAT]), path="/a.json").conversations == [
        "role_list:/a.json#1",
        "role_list:/a.json#2",
    ]


def test_times_ids_titles_and_names_are_taken_along() -> None:
    messages = [
        {"id": "m1", "role": "user", "name": "小美", "content": "在吗", "timestamp": 1_700_000_000},
        {"id": "m2", "role": "assistant", "content": "在", "created_at": "2023-11-14T22:13:25Z"},
    ]
    turns = read(role_list, as_json({"title": "问候", "messages": messages})).kept
    assert [turn.native_id for turn in turns] == ["m1", "m2"]
    assert [turn.timestamp for turn in turns] == [
        datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        datetime(2023, 11, 14, 22, 13, 25, tzinfo=UTC),
    ]
    assert turns[0].speaker == "小美"
    assert turns[0].metadata["title"] == "问候"


def test_other_exports_of_messages_are_read_for_what_they_are() -> None:
    grok = {
        "conversations": [
            {
                "conversation": {"id": "g-1", "title": "问候"},
                "responses": [
                    {"response": {"sender": "human", "message": "你好"}, "share_link": None},
                    {"response": {"sender": "ASSISTANT", "message": "您好"}},
                ],
            }
        ]
    }
    studio = {
        "runSettings": {"model": "models/gemini-2.5-pro"},
        "chunkedPrompt": {
            "chunks": [
                {"text": "你好", "role": "user"},
                {"text": "He greets.", "role": "model", "isThought": True},
                {"text": "您好", "role": "model"},
            ]
        },
    }
    chatbot = {"version": 4, "history": [{"id": "u-1", "name": "问候", "messages": CHAT}], "folders": []}
    parts: list[Json] = [
        {"id": "a", "role": "user", "content": "", "parts": [{"type": "text", "text": "你好"}]},
        {"id": "b", "role": "assistant", "content": "", "parts": [{"type": "text", "text": "您好"}]},
    ]
    for document in (grok, studio, chatbot, parts):
        found = read(role_list, as_json(document, indent=1))
        assert found.said == SAID
        assert confidence(role_list, as_json(document, indent=1)) >= 50
    assert read(role_list, as_json(grok)).conversations == ["role_list:g-1"]
    assert [turn.metadata.get("title") for turn in read(role_list, as_json(chatbot)).kept] == ["问候", "问候"]


def test_an_unknown_name_beside_known_ones_is_a_persons() -> None:
    chat = [
        {"sender": "user", "text": "hi"},
        {"sender": "bot", "text": "yo"},
        {"sender": "Jonas", "text": "me too"},
    ]
    turn = read(role_list, as_json(chat)).kept[-1]
    assert (turn.role, turn.speaker) == ("user", "Jonas")


def test_the_same_short_answer_many_times_is_as_many_turns() -> None:
    assert len(read(role_list, as_json(CHAT * 50)).kept) == 100


@for_each(
    "document",
    [
        {"name": "pkg", "author": {"name": "Mei"}, "type": "module", "description": "x"},
        [{"id": 1, "user": "ann", "text": "hi"}, {"id": 2, "user": "bob", "text": "yo"}],
        {"users": [{"role": "admin", "content": "x"}, {"role": "owner", "content": "y"}]},
        [{"type": "function", "name": "f", "inputs": []}],
        [
            {"user": {"login": "mei", "type": "User"}, "body": "x"},
            {"user": {"login": "b", "type": "Bot"}, "body": "y"},
        ],
        [{"role": "user"}, {"role": "assistant"}],
        [1, 2, 3],
        [],
        {},
        "user",
    ],
)
def test_other_json_is_left_alone(document: Json) -> None:
    assert claimed(role_list, as_json(document)) is None
    assert claimed(role_list, as_json(document, indent=1)) is None
    assert read(role_list, as_json(document)).kept == []


def test_one_side_alone_needs_the_plain_names() -> None:
    assert confidence(role_list, as_json([{"role": "user", "content": "x"}])) == 50
    assert (
        confidence(role_list, as_json([{"role": "user", "body": "x"}, {"role": "owner", "body": "y"}])) == 0
    )


def test_damage_is_an_issue_and_the_rest_is_read() -> None:
    text = '[{"role": "user", "content": "\\ud83e你好\\u0000"}, {"role": "assistant", "content": nul}, {"role": "assistant", "content": "您好", "tokens": 123456789012345678901234567890}]'
    found = read(role_list, text)
    assert [issue.code for issue in found.issues] == ["malformed_record"]
    assert found.said == [("user", "\ud83e你好\x00"), ("assistant", "您好")]


def test_every_beginning_of_the_document_keeps_what_was_said() -> None:
    text = as_json({"id": "c-1", "messages": CHAT * 3})
    for part in prefixes(text, every=3):
        said = read(role_list, part).said
        assert said == (SAID * 3)[: len(said)]


def test_what_stands_around_a_message_is_its_id_and_its_time() -> None:
    record: Json = {"type": "message", "id": "m1", "timestamp": "2026-05-12T01:02:27Z", "message": CHAT[0]}
    (turn,) = read(role_list, as_lines([{"type": "session"}, record])).kept
    assert (turn.native_id, turn.timestamp) == ("m1", datetime(2026, 5, 12, 1, 2, 27, tzinfo=UTC))


def test_thoughts_among_the_parts_of_a_message_are_no_answer() -> None:
    parts: list[Json] = [{"text": "hm", "thought": True}, {"text": "您好"}]
    found = read(role_list, as_lines([CHAT[0], {"role": "model", "parts": parts}]))
    assert found.said == SAID
    assert [(turn.kind, turn.content) for turn in found.turns if turn.kind == "thinking"] == [
        ("thinking", "hm")
    ]
