"""Chats of Cursor's window, as the rows of its store."""

from chatmemory.pastchats.formats.stores.cursor_store import cursor_store
from tests.formats.large_history import lines
from tests.formats.small_histories import ANSWERED, ASKED
from tests.read_turns import read


def bubble(**fields: object) -> dict[str, object]:
    return {"record": "bubble", "value": fields}


def test_thoughts_tools_and_unknown_bubbles_are_told_apart() -> None:
    tool = {"name": "read_file", "toolCallId": "t1", "result": "FROM python"}
    history = lines(
        {"record": "composer", "value": {"composerId": "c2"}},
        bubble(bubbleId="1", type=1, text=ASKED, timingInfo={"clientStartTime": 1780308000000}),
        bubble(bubbleId="2", type=2, text="", thinking={"text": "Layers?"}),
        bubble(bubbleId="3", type=2, text="", toolFormerData=tool),
        bubble(bubbleId="4", type=2, text=ANSWERED, modelInfo={"modelName": "m1"}),
        bubble(bubbleId="5", type=9, text="?"),
        {"record": "bubble", "value": "{damaged"},
        {"record": "hologram"},
    )
    found = read(cursor_store, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert [turn.kind for turn in found.turns] == ["typed", "thinking", "tool_result", "typed"]
    assert found.kept[1].metadata["model"] == "m1"
    assert found.unknown == ["bubble of type 9", "bubble without JSON", "hologram without JSON"]
