"""Formats that go wrong, each caught by the law that it breaks."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

import pytest
from attrs import evolve, frozen

from chatmemory.laws import HistoryFormatLaws, LawBrokenError
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn
from chatmemory.pastchats.formats.history_format import Claim, Head, HistoryReader, KnownRoot
from chatmemory.pastchats.formats.reading.json_lines import JsonLine, json_lines

HISTORY = "".join(
    f'{{"room": "kitchen", "who": "{who}", "text": "{text}, said for the {number}. time by {who}"}}\n'
    for number in range(20)
    for who, text in (("user", "水开了"), ("assistant", "The water boils"))
)
NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)

Fault = Callable[[list[Parsed]], Iterable[Parsed]]


@frozen
class RoomLog:
    """A format that is right but for its *fault*."""

    fault: Fault = iter
    claims: Callable[[Head], int] = lambda head: 90 if '"room"' in head.text else 0
    name: str = "room_log"
    version: int = 1
    has_global_ids: bool = False
    known_roots: tuple[KnownRoot, ...] = ()

    def claim(self, head: Head, /) -> Claim | None:
        return Claim(self.claims(head), "a room")

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        yield from self.fault([turn for line in json_lines(reader) for turn in turns_of(line)])


def turns_of(line: object) -> Iterator[Parsed]:
    if isinstance(line, HistoryIssue):
        yield line
    if not isinstance(line, JsonLine):
        return
    record = line.value if isinstance(line.value, dict) else {}
    text = record.get("text")
    if isinstance(text, str) and text.strip():
        role = "user" if record.get("who") == "user" else "assistant"
        yield PromptTurn(conversation_id="room_log:kitchen", role=role, content=text, timestamp=NOON)


def changed(**keys: object) -> Fault:
    return lambda parsed: [evolve(one, **keys) if isinstance(one, PromptTurn) else one for one in parsed]


def raises_without_a_turn(parsed: list[Parsed]) -> list[Parsed]:
    return [parsed[0], *parsed[1:]]


def keeps_all_to_itself_unless_whole(parsed: list[Parsed]) -> list[Parsed]:
    return parsed if len(parsed) == 40 else []


def says_nothing_of_damage(parsed: list[Parsed]) -> list[Parsed]:
    return [one for one in parsed if not isinstance(one, HistoryIssue)]


def trusts_that_nobody_says_x(parsed: list[Parsed]) -> list[Parsed]:
    assert all(one.content != "x" for one in parsed if isinstance(one, PromptTurn))
    return parsed


class Rooms:
    """Counts: what it reads is another thing each time."""

    count = 0

    def __call__(self, parsed: list[Parsed]) -> Iterable[Parsed]:
        Rooms.count += 1
        return changed(session=str(Rooms.count))(parsed)


def laws_of(format_: RoomLog) -> HistoryFormatLaws:
    laws = HistoryFormatLaws()
    laws.format = format_
    laws.files = {"log/kitchen.jsonl": HISTORY}
    return laws


def broken(format_: RoomLog) -> set[str]:
    """Return the laws that *format_* breaks, by what each failure says of itself."""
    found: set[str] = set()
    for name in dir(HistoryFormatLaws):
        if name.startswith("test_"):
            try:
                getattr(laws_of(format_), name)()
            except LawBrokenError as failure:
                found.add(failure.law.split()[0])
    return found


def test_a_sound_format_breaks_no_law() -> None:
    assert broken(RoomLog()) == set()


@pytest.mark.parametrize(
    ("format_", "law"),
    [
        (RoomLog(claims=lambda head: 0), "F1"),
        (RoomLog(claims=lambda head: 90 if head.path.endswith(".jsonl") else 0), "F1"),
        (RoomLog(claims=lambda head: 60), "F1"),
        (RoomLog(changed(content=" \n")), "F2"),
        (RoomLog(changed(conversation_id="kitchen")), "F2"),
        (RoomLog(changed(conversation_id="room_log:")), "F2"),
        (RoomLog(changed(timestamp=datetime(2025, 6, 1))), "F2"),  # noqa: DTZ001  that is the fault
        (RoomLog(changed(role="robot")), "F2"),
        (RoomLog(changed(metadata={"at": NOON})), "F2"),
        (RoomLog(lambda parsed: []), "F2"),
        (RoomLog(Rooms()), "F3"),
        (RoomLog(keeps_all_to_itself_unless_whole), "F4"),
        (RoomLog(says_nothing_of_damage), "F4"),
        (RoomLog(raises_without_a_turn), "F5"),
        (RoomLog(trusts_that_nobody_says_x), "F6"),
        (RoomLog(lambda parsed: [*parsed, "debris"]), "F5"),
        (RoomLog(name="Room Log"), "F7"),
        (RoomLog(version=0), "F7"),
        (RoomLog(known_roots=(KnownRoot("~/.room", ()),)), "F7"),
    ],
)
def test_a_fault_breaks_its_law(format_: RoomLog, law: str) -> None:
    assert law in broken(format_)


def test_a_history_too_short_to_show_a_loss_is_refused() -> None:
    laws = laws_of(RoomLog())
    laws.files = {"log/kitchen.jsonl": "".join(HISTORY.splitlines(keepends=True)[:2])}
    with pytest.raises(LawBrokenError, match="more than 2 turns of at least 8 characters"):
        laws.test_f4_cut()
