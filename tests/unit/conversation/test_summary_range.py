"""Which messages a summary covers."""

from collections.abc import Callable
from datetime import UTC, datetime

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.strategies.summary_range import SummaryExtent, summary_range
from chatmemory.input.choices import Role
from tests.for_each import for_each

ROLES: dict[str, Role] = {"u": "user", "a": "assistant", "t": "tool", "s": "system", "S": "summary"}


def chat(roles: str) -> list[ChatMessage]:
    """One message per letter: u(ser) a(ssistant) t(ool) s(ystem) S(ummary)."""
    return [
        ChatMessage(str(seq), seq, ROLES[role], role, datetime(2026, 1, 1, tzinfo=UTC))
        for seq, role in enumerate(roles)
    ]


def extent(needed: int, most: int, size: Callable[[ChatMessage], int] = lambda _: 1) -> SummaryExtent:
    return SummaryExtent(size, needed, most, entries=100, max_characters=1000)


@for_each(
    ("roles", "needed", "most", "covered"),
    [
        ("uauaua", 4, 6, "0123"),
        ("uauaua", 4, 2, "01"),
        ("uauaua", 9, 9, "012345"),
        ("suaua", 2, 4, "12"),  # policy is never summarized
        ("usaua", 2, 4, "02"),
        ("uatua", 2, 5, "0"),  # the cut moves before the call
        ("uattua", 3, 6, "0"),
        ("attua", 1, 5, "012"),  # or behind the results, when nothing else is left
        ("attua", 1, 2, ""),  # but never into what is to be kept
        ("", 3, 3, ""),
        ("ss", 3, 3, ""),
        ("uaua", 2, 0, ""),
        ("uaua", 0, 4, ""),
    ],
)
def test_the_oldest_open_messages_are_covered(roles: str, needed: int, most: int, covered: str) -> None:
    chosen = summary_range(chat(roles), extent(needed, most), rolling=True)
    assert "".join(message.id for message in chosen) == covered


@for_each(("rolling", "covered"), [(True, "012"), (False, "12")])
def test_an_earlier_summary_is_covered_when_summaries_roll(rolling: bool, covered: str) -> None:
    chosen = summary_range(chat("SuauS"), extent(2, 3), rolling=rolling)
    assert "".join(message.id for message in chosen) == covered


def test_sizes_are_added_up_in_the_unit_of_what_is_needed() -> None:
    chosen = summary_range(
        chat("uaua"), extent(25, 4, size=lambda message: 10 * (message.seq + 1)), rolling=True
    )
    assert [message.seq for message in chosen] == [0, 1]
