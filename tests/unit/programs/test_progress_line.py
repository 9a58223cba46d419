"""How far an index run is, and how much is kept, as a person reads it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from attrs import evolve

from chatmemory.pastchats.past_chats import IndexProgress, PastChatsStatistics
from chatmemory.programs.pastchats.as_text import statistics_text
from chatmemory.programs.pastchats.index_commands import ERASE, ProgressLine

SOURCE = "/home/dev/.claude/projects/-home-dev-relay/374dd535-3f93-56f2-a738-bd6c7a5f4c23.jsonl"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def seconds(*passed: float) -> Iterator[datetime]:
    began = datetime(2026, 5, 4, tzinfo=UTC)
    return (began + timedelta(seconds=second) for second in (0, *passed))


def progress(files_done: int, turns: int, source: str = SOURCE) -> IndexProgress:
    return IndexProgress(files_done=files_done, files=40, turns=turns, source=source)


def test_it_says_files_turns_rate_time_left_and_the_end_of_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    terminal, now = Terminal(), seconds(10)
    with ProgressLine(lambda: next(now), terminal) as line:
        line.indexed(progress(10, 5_000))
    assert terminal.getvalue().split(ERASE) == [
        "",
        "[##--------] 10/40 files, 5000 turns, 500/s, 30 s left  ...8-bd6c7a5f4c23.jsonl",
        "",
    ]


def test_a_terminal_is_not_written_to_more_often_than_it_can_show() -> None:
    terminal, now = Terminal(), seconds(1, 1.05, 1.2)
    line = ProgressLine(lambda: next(now), terminal)
    for files_done in (1, 2, 3):
        line.indexed(progress(files_done, 10))
    shown = [line.partition("/")[0] for line in terminal.getvalue().split(ERASE)]
    assert shown == ["", "[----------] 1", "[----------] 3"]


def test_it_never_wraps_and_obeys_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "/home/dev/聊天/\x1b[2J" + "长" * 99
    for columns in (2, 10, 43, 60, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        terminal, now = Terminal(), seconds(10)
        ProgressLine(lambda now=now: next(now), terminal).indexed(progress(10, 5_000, source))
        shown = terminal.getvalue().removeprefix(ERASE)
        assert sum(2 if character in "聊天长" else 1 for character in shown) < columns
        assert "\x1b" not in shown


def test_nothing_is_written_where_nobody_looks() -> None:
    pipe, now = StringIO(), seconds(10, 20)
    with ProgressLine(lambda: next(now), pipe) as line:
        line.indexed(progress(10, 5_000))
        line.counted(1, 2)
    assert pipe.getvalue() == ""


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
