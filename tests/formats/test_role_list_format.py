"""Lists of a role and a text under whatever names."""

from datetime import UTC, datetime
from typing import Any

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.lists.role_list import role_list
from tests.for_each import for_each
from tests.formats.large_history import as_json, lines
from tests.formats.read_turns import certainty, claimed, read

CHAT: list[dict[str, Json]] = [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "您好"}]
SAID = [("user", "你好"), ("assistant", "您好")]


def pair(who: str, user: str, assistant: str, words: str) -> list[dict[str, Any]]:
    """Return the chat with names of its own for both speakers and for the keys of role and text."""
    return [{who: user, words: "你好"}, {who: assistant, words: "您好"}]


PARTS: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "你好"}]},
    {"role": "model", "parts": [{"text": "您好"}]},
]
AUTHORS = [
    {"author": {"role": "user"}, "content": {"parts": ["你好"]}},
    {"author": {"role": "model"}, "body": "您好"},
]


@for_each(
    "text",
    [
        as_json(CHAT),
        as_json(CHAT, indent=2),
        lines(*CHAT),
        as_json({"messages": CHAT}),
        as_json({"version": 1, "conversation": {"turns": CHAT}}),
        as_json({"history": CHAT}, indent=1),
        as_json({"data": {"chat": {"messages": CHAT}}}),
        as_json(pair("from", "human", "bot", "text")),
        as_json(pair("sender", "Human", "AI", "message")),
        as_json(AUTHORS),
        as_json(PARTS),
        as_json(pair("speaker", "用户", "助手", "text")),
        as_json(pair("type", "human", "ai", "value")),
        lines(*({"type": "message", "message": said} for said in CHAT)),
        lines({"type": "user", "message": PARTS[0]}, {"type": "assistant", "message": PARTS[1]}),
    ],
)
def test_one_chat_is_read_from_many_shapes(text: str) -> None:
    found = read(role_list, text)
    assert found.said == SAID
    assert len(found.conversations) == 1
    assert certainty(role_list, text) >= 50


def test_several_chats_are_told_apart_and_one_side_alone_needs_the_plain_names() -> None:
    for text in (
        as_json({"conversations": [{"id": "c-1", "messages": CHAT}, {"id": "c-2", "messages": CHAT}]}),
        as_json([{"messages": CHAT, "id": "c-1"}, {"messages": CHAT, "id": "c-2"}], indent=1),
        lines({"id": "c-1", "chat": CHAT}, {"chat": CHAT, "id": "c-2"}),
    ):
        found = read(role_list, text, block_bytes=7)
        assert found.said == SAID * 2
        assert found.conversations == ["role_list:c-1", "role_list:c-2"]
    placed = read(role_list, as_json([CHAT, CHAT]), path="/a.json")
    assert placed.conversations == ["role_list:/a.json#1", "role_list:/a.json#2"]
    assert certainty(role_list, as_json(CHAT[:1])) == 50
    assert certainty(role_list, as_json([{"role": "user", "body": "x"}, {"role": "owner", "body": "y"}])) == 0
    text = '[{"role": "user", "content": "\\ud83e你好\\u0000"}, {"role": "assistant", "content": nul}, {"role": "assistant", "content": "您好", "tokens": 123456789012345678901234567890}]'
    found = read(role_list, text)
    assert [issue.code for issue in found.issues] == ["malformed_record"]
    assert found.said == [("user", "\ud83e你好\x00"), ("assistant", "您好")]
    parts: list[Json] = [{"text": "hm", "thought": True}, {"text": "您好"}]
    found = read(role_list, lines(CHAT[0], {"role": "model", "parts": parts}))
    assert found.said == SAID
    assert [turn.content for turn in found.turns if turn.kind == "thinking"] == ["hm"]


def test_times_ids_titles_and_names_are_taken_along_and_unknown_names_are_persons() -> None:
    messages: Json = [
        {"id": "m1", "role": "user", "name": "小美", "content": "在吗", "timestamp": 1_700_000_000},
        {"id": "m2", "role": "assistant", "content": "在", "created_at": "2023-11-14T22:13:25Z"},
    ]
    first, second = read(role_list, as_json({"title": "问候", "messages": messages})).kept
    assert (first.native_id, second.native_id, first.speaker) == ("m1", "m2", "小美")
    assert first.timestamp == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert second.timestamp == datetime(2023, 11, 14, 22, 13, 25, tzinfo=UTC)
    assert first.metadata["title"] == "问候"
    # What stands around a message is its id and its time.
    record = {"type": "message", "id": "m1", "timestamp": "2026-05-12T01:02:27Z", "message": CHAT[0]}
    (turn,) = read(role_list, lines({"type": "session"}, record)).kept
    assert (turn.native_id, turn.timestamp) == ("m1", datetime(2026, 5, 12, 1, 2, 27, tzinfo=UTC))
    chat = [*pair("sender", "user", "bot", "text") * 50, {"sender": "Jonas", "text": "me too"}]
    turns = read(role_list, as_json(chat)).kept
    assert (turns[-1].role, turns[-1].speaker) == ("user", "Jonas")
    assert len(turns) == 101


RESPONSES = [
    {"response": {"sender": "human", "message": "你好"}, "share_link": None},
    {"response": {"sender": "ASSISTANT", "message": "您好"}},
]
CHUNKS = [
    {"text": "你好", "role": "user"},
    {"text": "He greets.", "role": "model", "isThought": True},
    {"text": "您好", "role": "model"},
]
GROK = {"conversations": [{"conversation": {"id": "g-1", "title": "问候"}, "responses": RESPONSES}]}
STUDIO = {"runSettings": {"model": "models/gemini-2.5-pro"}, "chunkedPrompt": {"chunks": CHUNKS}}
CHATBOT = {"version": 4, "history": [{"id": "u-1", "name": "问候", "messages": CHAT}], "folders": []}
EMPTY = [{**one, "content": "", "parts": [{"type": "text", "text": one["content"]}]} for one in CHAT]


@for_each(
    ("document", "conversation", "title"),
    [
        (GROK, "g-1", "问候"),
        (STUDIO, "/chats/x.txt#chunkedPrompt", None),
        (CHATBOT, "u-1", "问候"),
        (EMPTY, "/chats/x.txt", None),
    ],
)
def test_other_exports_are_read_as_their_own(document: Json, conversation: str, title: str | None) -> None:
    text = as_json(document, indent=1)
    found = read(role_list, text)
    assert found.said == SAID
    assert certainty(role_list, text) >= 50
    assert found.conversations == [f"role_list:{conversation}"]
    assert {turn.metadata.get("title") for turn in found.kept} == {title}


@for_each(
    "document",
    [
        {"name": "pkg", "author": {"name": "Mei"}, "type": "module", "description": "x"},
        [{"id": 1, "user": "ann", "text": "hi"}, {"id": 2, "user": "bob", "text": "yo"}],
        {"users": [{"role": "admin", "content": "x"}, {"role": "owner", "content": "y"}]},
        [{"type": "function", "name": "f", "inputs": []}],
        [{"user": {"login": "b", "type": kind}, "body": "x"} for kind in ("User", "Bot")],
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
