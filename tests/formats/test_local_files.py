"""The file system: every file once, whatever links lead where; what cannot be read is named; nothing hangs."""

import os
import socket
import tempfile
import zipfile
from pathlib import Path

import pytest

from chatmemory.pastchats.formats.histories import HistoryFile
from chatmemory.pastchats.formats.history_format import KnownRoot, UnreadableHistoryError
from chatmemory.pastchats.indexing.history_files import FoundFiles
from chatmemory_layers.files.local_files import LocalFiles
from chatmemory_layers.files.paths import AllowedFolders
from tests.as_nobody import as_nobody
from tests.indexed import write
from tests.unit.sqlite.desktop_files import change

FILES = LocalFiles()


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
    assert (first.size, first.modified_ns) == (4, status.st_mtime_ns)
    assert found.issues == ()
    assert find(tmp_path).roots == (str(tmp_path.resolve()),)


def test_an_input_may_begin_at_home_or_not_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "x.json")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert names(find(Path("~/x.json")), tmp_path) == ["x.json"]
    found = find(tmp_path / "gone")
    assert codes(found, tmp_path) == [("gone", "unreadable")]
    assert found.roots == (str(tmp_path.resolve() / "gone"),)
    path = tmp_path / "x.json"
    assert not FILES.is_gone(str(path))
    assert FILES.is_gone(str(tmp_path / "y.json"))
    assert FILES.is_gone(str(path / "below a file"))


def test_our_own_index_and_what_version_control_and_package_managers_keep_is_left_out(tmp_path: Path) -> None:
    for folder in (".git", "node_modules/chat", ".venv/lib", "pkg/__pycache__", "env", ".git-notes"):
        write(tmp_path / folder / "x.json")
    write(tmp_path / "env" / "pyvenv.cfg")
    assert names(find(tmp_path), tmp_path) == [".git-notes/x.json"]
    assert names(find(tmp_path / ".git"), tmp_path) == [".git/x.json"]
    own = tmp_path / "past_chats.db"
    change(own, "CREATE TABLE prompts (id)")
    write(tmp_path / "past_chats.db-wal")
    write(tmp_path / "past_chats.db-shm")
    assert names(find(tmp_path, files=LocalFiles([str(own)])), tmp_path) == [".git-notes/x.json"]
    assert names(find(tmp_path), tmp_path) == [".git-notes/x.json", "past_chats.db"]


def test_globs_leave_out_paths_and_all_below_them(tmp_path: Path) -> None:
    everything = ["a/x.json", "a/x.md", "secret/x.json"]
    assert all(write(tmp_path / name) for name in everything)
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


def test_links_are_followed_once_and_circles_and_links_to_everything_are_named(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "x.json")
    (tmp_path / "a" / "b" / "back").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "all").symlink_to("/")
    (tmp_path / "around").symlink_to(tmp_path.parent)
    found = find(tmp_path)
    assert names(found, tmp_path) == ["a/b/x.json"]
    links = [(name, "link") for name in ("a/b/back", "a/self", "all", "around")]
    assert sorted(codes(found, tmp_path)) == links


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


def test_pipes_and_sockets_are_named_but_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(tmp_path)  # the name of a socket is short
        listening.bind("socket")
        found = find(tmp_path)
    assert found.files == ()
    details = [("unreadable", "a pipe"), ("unreadable", "a socket")]
    assert [(issue.code, issue.detail) for issue in found.issues] == details


def test_names_that_differ_in_case_alone_or_are_no_text_are_files_of_their_own(tmp_path: Path) -> None:
    write(tmp_path / "Chat.md")
    write(tmp_path / "chat.md")
    assert names(find(tmp_path), tmp_path) == sorted({path.name for path in tmp_path.iterdir()})
    odd = tmp_path / "odd"
    write(odd / os.fsdecode(b"\xff\xe4.json"), "[]")
    write(odd / r"\xff.json", "{}")
    found = find(odd)
    assert names(found, odd) == [r"\xff.json", r"\xff\xe4.json"]
    assert [content_of(file) for file in found.files] == [b"{}", b"[]"]
    for file in found.files:
        file.path.encode()
        assert not FILES.is_gone(file.source)


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


def test_a_file_that_grows_meanwhile_is_read_as_it_was_and_a_cut_one_an_issue(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", "一\n" * 100_000)
    reader = FILES.reader(find(tmp_path).files[0])
    blocks = reader.blocks()
    first = next(blocks)
    with path.open("a") as more:
        more.write("二\n")
    assert len(first + b"".join(blocks)) == 400_000
    assert len(b"".join(reader.blocks())) == 400_000
    blocks = reader.blocks()
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


def test_a_working_tree_belongs_to_its_repository_also_when_it_is_gone(tmp_path: Path) -> None:
    repository, tree = tmp_path / "shop", tmp_path / "fix-login"
    for folder in (repository / ".git/worktrees/fix-login", tree / "src"):
        folder.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {repository}/.git/worktrees/fix-login\n")
    of = LocalFiles().repository_of
    assert [of(str(tree)), of(str(tree / "src"))] == [str(repository)] * 2
    assert of(str(repository / "src")) == str(repository / "src")
    assert of("/w/shop/.claude/worktrees/brave-fox") == "/w/shop"
    assert of("/home/mei/.cursor/worktrees/shop/ab12") == "shop"
    confined = LocalFiles(allowed=AllowedFolders([str(repository)]))
    assert confined.repository_of(str(tree)) == str(tree)


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


CHAT = "聊天/一.md"
EXPORT = {"conversations.json": "[]", "user.json": "{}", CHAT: "\ufeff# 一", "__MACOSX/._user.json": "x"}


def archive(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.mkdir("folder")
        for name, content in members.items():
            opened.writestr(name, content)
    return path


def found_in(path: Path) -> FoundFiles:
    return LocalFiles().find([str(path)]).run_sync().unwrap()


def members(found: FoundFiles) -> list[str]:
    return [file.member for file in found.files]


def test_the_members_of_an_archive_are_files_beside_each_other(tmp_path: Path) -> None:
    path = archive(tmp_path / "export.ZIP", EXPORT)
    found = found_in(tmp_path)
    assert members(found) == ["conversations.json", "user.json", CHAT]
    last = found.files[-1]
    assert last.source == f"{path.resolve()}!{CHAT}"
    assert (last.size, last.modified_ns) == (len(EXPORT[CHAT].encode()), path.stat().st_mtime_ns)
    reader = LocalFiles().reader(last)
    assert b"".join(reader.blocks()).decode() == "# 一"
    # A member sees the others.
    assert (reader.name, reader.entries()) == ("一.md", ["一.md"])
    assert "conversations.json" in reader.entries("..")
    sibling = reader.sibling("../user.json")
    assert sibling is not None
    assert b"".join(sibling.blocks()) == b"{}"
    assert reader.sibling("../../outside.json") is None


def test_a_member_is_gone_when_its_archive_or_it_is(tmp_path: Path) -> None:
    path = archive(tmp_path / "export.zip", EXPORT).resolve()
    files = LocalFiles()
    assert not files.is_gone(f"{path}!user.json")
    assert files.is_gone(f"{path}!gone.json")
    assert files.is_gone(f"{tmp_path}/other.zip!user.json")
    path.write_bytes(b"damaged")
    assert not files.is_gone(f"{path}!user.json")


def test_what_an_archive_should_not_hold_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "export.zip", {"a.json": "[]", "bomb.json": "0" * 70_000_000, "in.zip": "PK"})
    found = found_in(path)
    assert members(found) == ["a.json"]
    assert [(issue.path.rpartition("!")[2], issue.code) for issue in found.issues] == [
        ("bomb.json", "too_large"),
        ("in.zip", "unreadable"),
    ]
    monkeypatch.setattr("chatmemory_layers.files.zip_archive.MAX_MEMBERS", 2)
    found = found_in(archive(tmp_path / "export.zip", EXPORT))
    assert (members(found), [issue.code for issue in found.issues]) == ([], ["too_large"])


def test_a_name_that_leads_out_leads_nowhere_and_what_is_no_archive_is_named(tmp_path: Path) -> None:
    path = archive(tmp_path / "export.zip", {"../../outside.json": "[1]"})
    (file,) = found_in(tmp_path).files
    assert b"".join(LocalFiles().reader(file).blocks()) == b"[1]"
    assert [one.name for one in tmp_path.rglob("*")] == ["export.zip"]
    for damage in (b"", b"PK\x03\x04 no archive", b"\x00" * 100):
        path.write_bytes(damage)
        assert [issue.code for issue in found_in(tmp_path).issues] == ["unreadable"]


def test_an_encrypted_or_damaged_member_is_an_issue_of_that_member(tmp_path: Path) -> None:
    path = archive(tmp_path / "export.zip", {"a.json": "[]"})
    content = bytearray(path.read_bytes())
    # The flags of the member in the archive's directory: signature, two versions, flags.
    content[content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1) + 8] |= 1
    path.write_bytes(content)
    found = found_in(path)
    assert [issue.detail for issue in found.issues] == ["it is encrypted: unpack the archive"]
    path = archive(tmp_path / "export.zip", {"a.json": "[" + "1, " * 1000 + "2]", "b.json": "[]"})
    content = bytearray(path.read_bytes())
    start = content.index(b"a.json") + len(b"a.json")
    content[start : start + 10] = b"\xff" * 10
    path.write_bytes(content)
    first, second = found_in(path).files
    with pytest.raises(UnreadableHistoryError):
        list(LocalFiles().reader(first).blocks())
    assert b"".join(LocalFiles().reader(second).blocks()) == b"[]"
