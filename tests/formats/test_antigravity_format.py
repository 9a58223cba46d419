"""Antigravity: steps of a person, of the model, of its tools and of the tool itself."""

from chatmemory.pastchats.formats.agents.antigravity import antigravity
from tests.formats.large_history import at, lines
from tests.formats.small_histories import ANSWERED, ASKED
from tests.read_turns import read


def step(number: int, source: str, kind: str, content: str, **more: object) -> dict[str, object]:
    about = {"step_index": number, "source": source, "type": kind, "status": "DONE", "created_at": at(number)}
    return {**about, "content": content, **more}


def test_what_the_tool_adds_and_what_its_tools_did_is_told_apart() -> None:
    request = f"<USER_REQUEST>\n{ASKED}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nIt is noon.\n</ADDITIONAL_METADATA>"
    history = lines(
        step(0, "USER_EXPLICIT", "USER_INPUT", request),
        step(1, "SYSTEM", "CONVERSATION_HISTORY", "older"),
        step(2, "MODEL", "PLANNER_RESPONSE", ANSWERED, tool_calls=[{"name": "view_file", "args": {}}]),
        step(3, "MODEL", "VIEW_FILE", "FROM python"),
        step(4, "SYSTEM", "SYSTEM_MESSAGE", "checkpointed"),
        step(5, "WIZARD", "HOLOGRAM", "?"),
    )
    found = read(antigravity, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert [turn.kind for turn in found.turns] == ["typed", "harness", "typed", "tool_result", "harness"]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "view_file"}]
    assert found.unknown == ["HOLOGRAM of WIZARD"]
