"""Goose: the rows of its store, and the lines that it kept before."""

from typing import Any

from chatmemory.pastchats.formats.agents.pi import pi
from chatmemory.pastchats.formats.stores.goose import goose
from tests.formats.large_history import lines, text
from tests.formats.small_histories import ANSWERED, ASKED
from tests.read_turns import claimed, read


def message(number: int, role: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    about = {"record": "message", "id": number, "session_id": "g2", "role": role}
    return {**about, "content_json": list(content), **more}


def test_requests_responses_and_unknown_content_are_told_apart() -> None:
    call = {"status": "success", "value": {"name": "shell"}}
    result = {"status": "success", "value": text("ok")}
    history = lines(
        {"record": "session", "id": "g2", "working_dir": "/home/lin/shop"},
        message(1, "user", *text(ASKED)),
        message(2, "assistant", *text(ANSWERED), {"type": "toolRequest", "id": "t1", "toolCall": call}),
        message(3, "user", {"type": "toolResponse", "id": "t1", "toolResult": result}),
        message(4, "user", {"type": "hologram"}),
        message(5, "user", *text("hidden"), metadata_json={"userVisible": False}),
    )
    found = read(goose, history)
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
