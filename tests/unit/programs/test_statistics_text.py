"""How much is kept, as a person reads it."""

from attrs import evolve

from chatmemory.pastchats.past_chats import PastChatsStatistics
from chatmemory.programs.pastchats.as_text import statistics_text

NOTHING = PastChatsStatistics(
    prompts=0, embeddings=0, conversations=0, sources=0, missing_sources=0, superseded=0, by_format={}, by_role={},
    by_project={}, models={}, oldest=None, newest=None, bytes_on_disk=0,
)  # fmt: skip


def by_project(counts: dict[str, int]) -> str:
    (line,) = (
        line
        for line in statistics_text(evolve(NOTHING, by_project=counts), "/chats.db").splitlines()
        if line.startswith("by project")
    )
    return line


def test_the_largest_come_first_as_many_as_can_be_read_and_no_name_moves_the_cursor() -> None:
    assert by_project({"": 2, "记账本": 9, "relay": 2}) == "by project: 记账本 9, (none) 2, relay 2"
    shown = by_project({f"project{number}": number for number in range(1, 301)})
    assert shown.startswith("by project: project300 300, project299 299, ")
    assert shown.endswith(", project277 277, 276 more in --json")
    assert "\x1b" not in by_project({"\x1b[2J": 1})
