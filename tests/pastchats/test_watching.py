"""A history that is being written is indexed when it is quiet, and now and then while it is not."""

from chatmemory.histories import HistoryFile
from chatmemory.pastchats.watching import Watching


def files(*sizes: int) -> list[HistoryFile]:
    return [HistoryFile(f"/h/{number}", size, 1) for number, size in enumerate(sizes)]


def looks(watching: Watching, *seen: tuple[float, list[HistoryFile]]) -> list[bool]:
    return [watching.is_due(found, now) for now, found in seen]


def test_the_first_look_is_due_and_quiet_files_are_not() -> None:
    assert looks(Watching(), (0, files(1)), (1, files(1)), (100, files(1))) == [True, False, False]


def test_a_change_waits_for_quiet() -> None:
    seen = [(0.0, files(1)), (1, files(2)), (2, files(3)), (3, files(3)), (4, files(3)), (5, files(3))]
    assert looks(Watching(quiet_seconds=2), *seen) == [True, False, False, False, True, False]


def test_a_new_file_and_a_gone_one_are_changes() -> None:
    assert looks(Watching(quiet_seconds=0), (0, files(1)), (1, files(1, 1)), (2, files(1))) == [
        True,
        True,
        True,
    ]


def test_what_goes_on_changing_is_not_put_off_forever() -> None:
    watching = Watching(quiet_seconds=2, longest_wait_seconds=5)
    due = [watching.is_due(files(now), float(now)) for now in range(13)]
    assert [now for now, is_due in enumerate(due) if is_due] == [0, 6, 12]
