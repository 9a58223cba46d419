"""Instants, in the ways in which histories write them."""

from datetime import UTC, datetime

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.reading.instants import instant_of

AT = datetime(2025, 8, 28, 12, 57, 8, tzinfo=UTC)
DATES = ("2025-08-28T12:57:08Z", "2025-08-28T12:57:08.000Z", "2025-08-28T12:57:08", " 2025-08-28 12:57:08 ")
OTHER_DATES = ("2025-08-28T20:57:08+08:00", "2025-08-28T12:57:08.000000000Z")
NUMBERS = (1756385828, 1756385828.0, 1756385828000, 1756385828000000, 1756385828000000000)
WRITTEN = (*DATES, *OTHER_DATES, *NUMBERS, "1756385828000", "1756385828.0")
WORDS = (
    "",
    "[trimmed for fixture]",
    "2025. 6. 27. at 14시 17분 35초 GMT+9",
    "昨天",
    "0001-01-01T00:00:00+08:00",
)
OTHERS: tuple[Json, ...] = (0, 5, -1756385828, float("nan"), float("inf"), 10**400, None, True, [], {})


def test_every_way_of_writing_names_the_same_instant() -> None:
    assert [(written, found) for written in WRITTEN if (found := instant_of(written)) != AT] == []


def test_parts_of_a_second_are_kept() -> None:
    for written in ("2025-08-28T12:57:08.611Z", 1756385828.611, 1756385828611):
        assert instant_of(written) == AT.replace(microsecond=611_000)


def test_what_names_no_instant_is_none_rather_than_a_guess() -> None:
    assert [(written, found) for written in (*WORDS, *OTHERS) if (found := instant_of(written))] == []
