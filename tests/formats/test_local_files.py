"""The file system: every file once, whatever links lead where; what cannot be read is named; nothing hangs."""

import os
import socket
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from chatmemory.pastchats.formats.histories import HistoryFile
from chatmemory.pastchats.formats.history_format import KnownRoot, UnreadableHistoryError
from chatmemory.pastchats.indexing.history_files import FoundFiles
from chatmemory_layers.files.local_files import LocalFiles

NOBODY = 65_534  # the user who owns nothing
FILES = LocalFiles()


def write(path: Path, content: str | bytes = "一\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def find(*inputs: Path, exclude: str | None = None, files: LocalFiles = FILES) -> FoundFiles:
    patterns = [exclude] if exclude else []
    return files.find([str(path) for path in inputs], exclude=patterns).run_sync().unwrap()


def names(found: FoundFiles, below: Path) -> list[str]:
    return [os.path.relpath(file.source, below.resolve()) for file in found.files]


def codes(found: FoundFiles, below: Path) -> list[tuple[str, str]]:
    return [(os.path.relpath(issue.path, below), issue.code) for issue in found.issues]


def content_of(file: HistoryFile) -> bytes:
    return b"".join(FILES.reader(file).blocks())


def test_files_are_found_below_folders_hidden_ones_too_sorted_and_with_their_state(tmp_path: Path) -> None:
    write(tmp_path / "b" / ".hidden" / "聊天.jsonl", "{}")
    write(tmp_path / "a.md", "1234")
    found = find(tmp_path, tmp_path / "b", tmp_path / "a.md")
    assert names(found, tmp_path) == ["a.md", "b/.hidden/聊天.jsonl"]  # once, though several inputs name them
    first = found.files[0]
    status = (tmp_path / "a.md").stat()
    assert (first.size, first.modified_ns, first.inode) == (4, status.st_mtime_ns, status.st_ino)
    assert found.issues == ()
    assert find(tmp_path).roots == (str(tmp_path.resolve()),)


def test_an_input_that_is_not_there_is_an_issue_and_its_place_is_known(tmp_path: Path) -> None:
    found = find(tmp_path / "gone")
    assert codes(found, tmp_path) == [("gone", "unreadable")]
    assert found.roots == (str(tmp_path.resolve() / "gone"),)


def test_an_input_may_begin_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "x.json")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert names(find(Path("~/x.json")), tmp_path) == ["x.json"]


def test_what_version_control_and_package_managers_keep_is_left_out(tmp_path: Path) -> None:
    for folder in (".git", "node_modules/chat", ".venv/lib", "pkg/__pycache__", "env", ".git-notes"):
        write(tmp_path / folder / "x.json")
    write(tmp_path / "env" / "pyvenv.cfg")
    assert names(find(tmp_path), tmp_path) == [".git-notes/x.json"]
    assert names(find(tmp_path / ".git"), tmp_path) == [".git/x.json"]


def test_our_own_index_is_never_found(tmp_path: Path) -> None:
    own = tmp_path / "past_chats.db"
    with closing(sqlite3.connect(own)) as connection:
        connection.execute("CREATE TABLE prompts (id)")
    write(tmp_path / "past_chats.db-wal")
    write(tmp_path / "past_chats.db-shm")
    assert names(find(tmp_path, files=LocalFiles([str(own)])), tmp_path) == []
    assert names(find(tmp_path), tmp_path) == ["past_chats.db"]


def test_globs_leave_out_paths_and_all_below_them(tmp_path: Path) -> None:
    everything = [
        str(write(tmp_path / name).relative_to(tmp_path)) for name in ("a/x.json", "a/x.md", "secret/x.json")
    ]
    for exclude, left in {
        "*.md": ["a/x.json", "secret/x.json"],
        "secret": ["a/x.json", "a/x.md"],
        "secret/*.json": ["a/x.json", "a/x.md"],
        "*/x.*": [],
        "x.j?on": ["a/x.md"],
        "A/*": everything,
        f"{tmp_path.resolve()}/a/*": ["secret/x.json"],
    }.items():
        assert names(find(tmp_path, exclude=exclude), tmp_path) == left, exclude


def test_a_link_in_a_circle_ends_and_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "x.json")
    (tmp_path / "a" / "b" / "back").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "self").symlink_to("self")
    found = find(tmp_path)
    assert names(found, tmp_path) == ["a/b/x.json"]
    assert codes(found, tmp_path) == [("a/b/back", "link"), ("a/self", "link")]


def test_links_to_a_file_find_it_once_under_its_own_name(tmp_path: Path) -> None:
    path = write(tmp_path / "m.json")
    (tmp_path / "a.json").symlink_to(path)
    (tmp_path / "z.json").hardlink_to(path)
    (tmp_path / "broken").symlink_to("nowhere")
    found = find(tmp_path)
    assert names(found, tmp_path) == ["m.json"]
    assert codes(found, tmp_path) == [("broken", "link")]


def test_a_link_out_of_the_folder_is_followed_once(tmp_path: Path) -> None:
    write(tmp_path / "kept elsewhere" / "x.json")
    root = tmp_path / "root"
    root.mkdir()
    for name in ("one", "two"):
        (root / name).symlink_to(tmp_path / "kept elsewhere")
    assert names(find(root), tmp_path) == ["kept elsewhere/x.json"]
    assert find(root, exclude="kept elsewhere").files == ()


def test_a_link_to_everything_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "all").symlink_to("/")
    (tmp_path / "around").symlink_to(tmp_path.parent)
    found = find(tmp_path)
    assert found.files == ()
    assert codes(found, tmp_path) == [("all", "link"), ("around", "link")]


def test_pipes_and_sockets_are_named_and_wait_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(tmp_path)  # the name of a socket is short
        listening.bind("socket")
        found = find(tmp_path)
    assert found.files == ()
    details = [("unreadable", "a pipe"), ("unreadable", "a socket")]
    assert [(issue.code, issue.detail) for issue in found.issues] == details


def test_names_that_differ_in_case_alone_are_two_files(tmp_path: Path) -> None:
    write(tmp_path / "Chat.md")
    write(tmp_path / "chat.md")
    assert names(find(tmp_path), tmp_path) == sorted({path.name for path in tmp_path.iterdir()})


def test_a_name_that_is_no_text_is_shown_and_found_again(tmp_path: Path) -> None:
    write(tmp_path / os.fsdecode(b"\xff\xe4.json"), "[]")
    write(tmp_path / r"\xff.json", "{}")
    found = find(tmp_path)
    assert names(found, tmp_path) == [r"\xff.json", r"\xff\xe4.json"]
    assert [content_of(file) for file in found.files] == [b"{}", b"[]"]
    for file in found.files:
        file.path.encode()
        assert not FILES.is_gone(file.source)


@contextmanager
def as_nobody() -> Iterator[None]:
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_without_permission_is_named_and_the_others_are_read() -> None:
    with tempfile.TemporaryDirectory() as name:  # the folder of a test is its owner's alone
        folder = Path(name)
        folder.chmod(0o755)
        write(folder / "open" / "x.json")
        closed = write(folder / "closed" / "x.json")
        write(folder / "open" / "forbidden.json").chmod(0)
        closed.parent.chmod(0)
        try:
            with as_nobody():
                found = find(folder)
                assert names(found, folder) == ["open/forbidden.json", "open/x.json"]
                assert codes(found, folder.resolve()) == [("closed", "unreadable")]
                with pytest.raises(UnreadableHistoryError, match="permission denied"):
                    content_of(found.files[0])
                assert not FILES.is_gone(str(closed))
        finally:
            closed.parent.chmod(0o700)


def test_a_file_that_grows_while_it_is_read_is_read_as_it_was(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", "一\n" * 100_000)
    reader = FILES.reader(find(tmp_path).files[0])
    blocks = reader.blocks()
    first = next(blocks)
    with path.open("a") as more:
        more.write("二\n")
    assert len(first + b"".join(blocks)) == 400_000
    assert len(b"".join(reader.blocks())) == 400_000


def test_a_file_that_is_cut_off_while_it_is_read_is_an_issue(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", "一\n" * 100_000)
    blocks = FILES.reader(find(tmp_path).files[0]).blocks()
    next(blocks)
    os.truncate(path, 10)
    with pytest.raises(UnreadableHistoryError, match="cut off"):
        list(blocks)


def test_a_file_that_is_replaced_between_two_passes_is_an_issue(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl")
    (file,) = find(tmp_path).files
    reader = FILES.reader(file)
    assert b"".join(reader.blocks()) == "一\n".encode()
    write(tmp_path / "new", "二\n").replace(path)
    with pytest.raises(UnreadableHistoryError, match="replaced"):
        list(reader.blocks())
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UnreadableHistoryError, match="no file"):
        content_of(file)
    path.unlink()
    with pytest.raises(UnreadableHistoryError, match="no such file"):
        content_of(file)


def test_further_files_of_a_source_are_noted_also_those_that_are_not_there_yet(tmp_path: Path) -> None:
    write(tmp_path / "task" / "ui.json")
    write(tmp_path / "parts" / "1.json", "部分")
    reader = FILES.reader(find(tmp_path / "task").files[0])
    assert reader.sibling("../gone.json") is None
    assert reader.entries("../parts") == ["1.json"]
    part = reader.sibling("../parts/1.json")
    assert part is not None
    assert (part.name, b"".join(part.blocks()).decode()) == ("1.json", "部分")
    part.entries("nowhere")  # what a sibling looks at counts too
    assert {Path(path).name for path in reader.also} >= {"1.json", "gone.json", "nowhere"}
    assert not FILES.has_changed(reader.also)
    write(tmp_path / "gone.json")
    assert FILES.has_changed(reader.also)
    (tmp_path / "gone.json").unlink()
    assert not FILES.has_changed(reader.also)
    write(tmp_path / "parts" / "1.json", "部分，更长")
    assert FILES.has_changed(reader.also)


def test_known_folders_are_those_that_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home [of] lin"
    session, chat = ".tool/sessions/2025/01/x.jsonl", "p1/chats/y.md"
    for name in (session, chat, ".tool/sessions/x.txt", ".tool/other/x.jsonl", "p2/chats/deep/y.md"):
        write(home / name)
    (home / "broken").symlink_to("nowhere")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TOOL_HOME", str(home))
    monkeypatch.delenv("UNSET", raising=False)
    roots = [
        KnownRoot("~/.tool/sessions", ("**/*.jsonl",)),
        KnownRoot("$TOOL_HOME/*/chats", ("*.md",)),
        KnownRoot("${UNSET}/sessions", ("**/*",)),
        KnownRoot("~nobody-of-this-name/sessions", ("**/*",)),
        KnownRoot("~/never", ("**/*",)),
        KnownRoot("~", ("z.md",)),
    ]
    found = FILES.find_known(roots).run_sync().unwrap()
    assert names(found, home) == [session, chat]
    assert found.issues == ()
    assert str(home.resolve() / "never") in found.roots
    assert names(FILES.find_known(roots, exclude=["*.md"]).run_sync().unwrap(), home) == [session]


def test_a_file_that_is_gone_is_gone(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json")
    assert not FILES.is_gone(str(path))
    assert FILES.is_gone(str(tmp_path / "y.json"))
    assert FILES.is_gone(str(path / "below a file"))
