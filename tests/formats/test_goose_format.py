"""Goose: the rows of its store, and the lines that it kept before."""

from chatmemory.pastchats.formats.agents.pi import pi
from chatmemory.pastchats.formats.stores.goose import goose
from tests.formats.agent_histories import ANSWERED, ASKED, GOOSE, TALK, lines, text
from tests.read_turns import claimed, read


def test_a_session_says_who_said_what_where_and_when() -> None:
    found = read(goose, GOOSE)
    assert found.said == list(TALK)
    first = found.kept[0]
    assert (first.conversation_id, first.native_id, first.project) == ("goose:g1", "m0", "/home/lin/shop")
    assert first.metadata == {"title": "Nightly build"}
    assert first.timestamp is not None


def test_requests_responses_and_unknown_content_are_told_apart() -> None:
    request = {
        "type": "toolRequest",
        "id": "t1",
        "toolCall": {"status": "success", "value": {"name": "shell"}},
    }
    response = {"type": "toolResponse", "id": "t1", "toolResult": {"status": "success", "value": text("ok")}}
    found = read(
        goose,
        lines(
            {"record": "session", "id": "g2", "working_dir": "/home/lin/shop"},
            {"record": "message", "id": 1, "session_id": "g2", "role": "user", "content_json": text(ASKED)},
            {"record": "message", "id": 2, "session_id": "g2", "role": "assistant", "content_json": [*text(ANSWERED), request]},
            {"record": "message", "id": 3, "session_id": "g2", "role": "user", "content_json": [response]},
            {"record": "message", "id": 4, "session_id": "g2", "role": "user", "content_json": [{"type": "hologram"}]},
            {"record": "message", "id": 5, "session_id": "g2", "role": "user", "content_json": text("hidden"), "metadata_json": {"userVisible": False}},
        ),
    )  # fmt: skip
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "shell", "id": "t1"}]
    assert [turn.kind for turn in found.turns] == ["typed", "typed", "tool_result", "harness"]
    assert found.unknown == ["content hologram"]


def test_the_lines_that_it_kept_before_are_read() -> None:
    older = lines(
        {"working_dir": "/home/lin/shop", "description": "Nightly build", "message_count": 1},
        {"role": "user", "created": 1780308000, "content": text(ASKED)},
    )
    assert claimed(goose, older) is not None
    assert claimed(pi, older) is None
    assert read(goose, older).said == [("user", ASKED)]
