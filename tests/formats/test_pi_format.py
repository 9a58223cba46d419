"""Pi: sessions that are trees of entries."""

from chatmemory.pastchats.formats.agents.pi import pi
from tests.formats.agent_histories import ANSWERED, ASKED, CLOSED, PI, TALK, THANKED, at, lines, text
from tests.read_turns import read


def entry(native_id: str, parent: str | None, role: str, words: str, **more: object) -> dict[str, object]:
    message = {"role": role, "content": text(words), **more}
    return {"type": "message", "id": native_id, "parentId": parent, "timestamp": at(1), "message": message}


HEADER = {"type": "session", "version": 3, "id": "p1", "timestamp": at(0), "cwd": "/home/lin/shop"}


def test_a_session_says_who_said_what_where_and_when() -> None:
    found = read(pi, PI)
    assert found.said == list(TALK)
    first = found.kept[0]
    assert (first.conversation_id, first.native_id, first.project) == ("pi:p1", "e0", "/home/lin/shop")
    assert first.timestamp is not None


def test_a_branch_that_was_left_is_left_out() -> None:
    found = read(
        pi,
        lines(
            HEADER,
            entry("a", None, "user", ASKED),
            entry("b", "a", "assistant", "a wrong answer"),
            entry("c", "b", "user", "no, not that"),
            entry("d", "a", "assistant", ANSWERED),
            entry("e", "d", "user", THANKED),
        ),
    )
    assert [words for _, words in found.said] == [ASKED, ANSWERED, THANKED]


def test_a_record_that_damage_cut_off_from_the_others_is_kept() -> None:
    whole = lines(HEADER, entry("a", None, "user", ASKED), entry("b", "a", "assistant", ANSWERED),
                  entry("c", "b", "user", THANKED), entry("d", "c", "assistant", CLOSED))  # fmt: skip
    damaged = whole.replace('{"type": "message", "id": "c"', '{"type": "mess', 1)
    found = read(pi, damaged)
    assert [words for _, words in found.said] == [ASKED, ANSWERED, CLOSED]
    assert [issue.code for issue in found.issues] == ["malformed_record"]


def test_summaries_results_and_unknown_entries_are_told_apart() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {}}
    found = read(
        pi,
        lines(
            HEADER,
            entry("a", None, "user", ASKED),
            {**entry("b", "a", "assistant", ""), "message": {"role": "assistant", "model": "m1", "content": [*text(ANSWERED), call]}},
            entry("c", "b", "toolResult", "ok"),
            {"type": "compaction", "id": "d", "parentId": "c", "timestamp": at(3), "summary": "We mended the build."},
            {"type": "model_change", "id": "e", "parentId": "d", "timestamp": at(4)},
            {"type": "hologram", "id": "f", "parentId": "e", "timestamp": at(5)},
        ),
    )  # fmt: skip
    assert found.said == [("user", ASKED), ("assistant", ANSWERED), ("summary", "We mended the build.")]
    assert found.kept[1].metadata == {"model": "m1", "tool_calls": [{"name": "bash", "id": "c1"}]}
    assert [turn.kind for turn in found.turns] == ["typed", "typed", "tool_result", "summary"]
    assert found.unknown == ["hologram"]
