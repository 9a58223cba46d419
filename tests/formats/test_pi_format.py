"""Pi: sessions that are trees of entries."""

from typing import Any

from chatmemory.pastchats.formats.agents.pi import pi
from tests.formats.large_history import at, lines, text
from tests.formats.small_histories import ANSWERED, ASKED, CLOSED, THANKED
from tests.read_turns import read

HEADER = {"type": "session", "version": 3, "id": "p1", "timestamp": at(0), "cwd": "/home/lin/shop"}


def record(kind: str, native_id: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": native_id, "parentId": parent, "timestamp": at(1), **more}


def entry(native_id: str, parent: str | None, role: str, words: str) -> dict[str, Any]:
    return record("message", native_id, parent, message={"role": role, "content": text(words)})


def test_a_branch_that_was_left_is_left_out() -> None:
    history = lines(
        HEADER,
        entry("a", None, "user", ASKED),
        entry("b", "a", "assistant", "a wrong answer"),
        entry("c", "b", "user", "no, not that"),
        entry("d", "a", "assistant", ANSWERED),
        entry("e", "d", "user", THANKED),
    )
    assert [words for _, words in read(pi, history).said] == [ASKED, ANSWERED, THANKED]


def test_a_record_that_damage_cut_off_from_the_others_is_kept() -> None:
    said = [("a", None, ASKED), ("b", "a", ANSWERED), ("c", "b", THANKED), ("d", "c", CLOSED)]
    whole = lines(HEADER, *(entry(native_id, parent, "user", words) for native_id, parent, words in said))
    found = read(pi, whole.replace('{"type": "message", "id": "c"', '{"type": "mess', 1))
    assert [words for _, words in found.said] == [ASKED, ANSWERED, CLOSED]
    assert [issue.code for issue in found.issues] == ["malformed_record"]


def test_summaries_results_and_unknown_entries_are_told_apart() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {}}
    message = {"role": "assistant", "model": "m1", "content": [*text(ANSWERED), call]}
    history = lines(
        HEADER,
        entry("a", None, "user", ASKED),
        record("message", "b", "a", message=message),
        entry("c", "b", "toolResult", "ok"),
        record("compaction", "d", "c", summary="We mended the build."),
        record("model_change", "e", "d"),
        record("hologram", "f", "e"),
    )
    found = read(pi, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED), ("summary", "We mended the build.")]
    assert found.kept[1].metadata == {"model": "m1", "tool_calls": [{"name": "bash", "id": "c1"}]}
    assert [turn.kind for turn in found.turns] == ["typed", "typed", "tool_result", "summary"]
    assert found.unknown == ["hologram"]
