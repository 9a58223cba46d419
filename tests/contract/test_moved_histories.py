"""A history that its tool renamed, compressed or deleted: what was indexed stays, and index, doctor and prune say the same of it."""

from pathlib import Path

from chatmemory.pastchats.past_chats import IndexReport
from tests.contract.conftest import ANSWERED, ASKED, CHINESE
from tests.indexed import Indexed, claude_record, lines_of

CHATS = "#### {}\n\n{}\n\n"


def story(past: Indexed, report: IndexReport) -> tuple[int, int, int, str]:
    """Return what index, prune and doctor say: files moved, files gone, turns that would be pruned, the finding."""
    turns = past.run(past.live.prune(is_dry_run=True)).unwrap()
    findings = past.live.repository.check("none").run_sync().unwrap()
    (abandoned,) = [finding.message for finding in findings if finding.code == "D009"]
    return report.moved, report.missing, turns, abandoned


def paths(past: Indexed) -> set[object]:
    return {Path(str(path)).relative_to(past.folder).as_posix() for (path,) in past.rows("source_path")}


ALL_THERE = "the last runs of index found every turn in its source"


def test_a_renamed_folder_is_one_story(past: Indexed) -> None:
    past.write("shop/s1.jsonl", ASKED, ANSWERED)
    past.write("shop/s2.jsonl", CHINESE)
    past.index()
    rows = past.rows()
    (past.folder / "shop").rename(past.folder / "store")
    report = past.index()
    assert story(past, report) == (2, 0, 0, ALL_THERE)
    assert (past.rows(), paths(past)) == (rows, {"store/s1.jsonl", "store/s2.jsonl"})
    assert past.index().moved == 0


def test_a_conversation_in_two_folders_has_one_order_whatever_becomes_of_its_files(past: Indexed) -> None:
    said = [claude_record("s1", n, "user" if n % 2 == 0 else "assistant", f"{n}") for n in range(8)]

    def holds(last: int, **files: list[int]) -> None:
        for folder, numbers in files.items():
            past.write_text(f"{folder}/s1.jsonl", lines_of([said[number] for number in numbers]))
        past.index()
        assert past.rows("turn_index, content") == [(n, f"{n}") for n in range(last + 1)]

    holds(1, z=[0, 1])
    holds(3, a=[2, 3])
    holds(5, z=[0, 1, 4, 5])
    holds(6, a=[2, 3, 6])
    (past.folder / "z").rename(past.folder / "b")
    holds(6)
    assert past.index(rereads_all=True).turns.updated == 0
    (past.folder / "b/s1.jsonl").unlink()
    holds(7, a=[2, 3, 6, 7])


def test_a_file_whose_name_is_part_of_its_identity_is_found_by_its_turns(past: Indexed) -> None:
    history = "# aider chat started at 2025-03-01 10:00:00\n\n" + CHATS.format(ASKED[1], ANSWERED[1])
    past.write_text("shop/.aider.chat.history.md", history)
    past.index()
    assert len(past.rows()) == 2
    (past.folder / "shop").rename(past.folder / "store")
    # The tool goes on before anybody looks.
    past.write_text("store/.aider.chat.history.md", history + CHATS.format(CHINESE[1], "先提交事务。"))
    assert story(past, past.index()) == (1, 0, 0, ALL_THERE)
    assert [text for _, text in past.rows()] == [ASKED[1], ANSWERED[1], CHINESE[1], "先提交事务。"]
    assert paths(past) == {"store/.aider.chat.history.md"}


def test_a_file_that_is_gone_and_says_what_another_says_has_not_moved(past: Indexed) -> None:
    for name in ("a", "b"):
        chat = "# aider chat started at 2025-03-01 10:00:00\n\n#### /add x.py\n"
        past.write_text(f"{name}/.aider.chat.history.md", chat)
        past.write(f"{name}.jsonl", ASKED, ANSWERED)
    past.index()
    rows = past.rows()
    (past.folder / "a/.aider.chat.history.md").unlink()
    (past.folder / "a.jsonl").unlink()
    report = past.index()
    assert (report.moved, report.missing, past.rows()) == (0, 2, rows)
    assert rows.count(ASKED) == 2


def test_what_is_gone_is_gone_in_every_command_and_stays_until_somebody_prunes(past: Indexed) -> None:
    gone = past.write("s1.jsonl", ASKED, ANSWERED)
    past.write("s2.jsonl", CHINESE)
    past.index()
    gone.unlink()
    moved, missing, turns, finding = story(past, past.index())
    assert (moved, missing, turns) == (0, 1, 2)
    assert "1 sources are gone with 2 turns" in finding
    assert past.rows() == [ASKED, ANSWERED, CHINESE]
    assert past.index().missing == 0  # told once
    assert past.run(past.live.prune()).unwrap() == 2
    assert past.rows() == [CHINESE]


def test_of_two_copies_one_may_go(past: Indexed) -> None:
    for name in ("a", "b"):
        past.write(f"{name}/s1.jsonl", ASKED, ANSWERED)
    past.index()
    (past.folder / "a/s1.jsonl").unlink()
    assert story(past, past.index()) == (1, 0, 0, ALL_THERE)
    assert paths(past) == {"b/s1.jsonl"}


def test_a_run_that_names_files_says_what_each_was_taken_for(past: Indexed) -> None:
    past.write("shop/s1.jsonl", ASKED, ANSWERED)
    gone = past.write("s2.jsonl", CHINESE)
    past.write_text("notes.md", "# Shopping\n\nmilk\n")
    first = past.index(names_files=True).looked_at
    assert [(Path(one.path).name, one.became, one.format) for one in first] == [
        ("notes.md", "no_history", ""),
        ("s2.jsonl", "read", "claude_code"),
        ("s1.jsonl", "read", "claude_code"),
    ]
    assert all(one.detail for one in first)
    (past.folder / "shop").rename(past.folder / "store")
    gone.unlink()
    second = {(Path(one.path).parent.name, one.became) for one in past.index(names_files=True).looked_at}
    folder = past.folder.name
    assert second == {(folder, "no_history"), ("store", "read"), ("shop", "moved"), (folder, "gone")}
    assert past.index().looked_at == ()
