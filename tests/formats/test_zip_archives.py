"""Exports come in archives: their members are files, and no archive does harm."""

import zipfile
from pathlib import Path

import pytest

from chatmemory.pastchats.formats.history_format import UnreadableHistoryError
from chatmemory.pastchats.indexing.history_files import FoundFiles
from chatmemory_layers.files.local_files import LocalFiles
from tests.for_each import for_each

CHAT = "聊天/一.md"
EXPORT = {"conversations.json": "[]", "user.json": "{}", CHAT: "\ufeff# 一", "__MACOSX/._user.json": "x"}


def archive(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.mkdir("folder")
        for name, content in members.items():
            opened.writestr(name, content)
    return path


def find(path: Path) -> FoundFiles:
    return LocalFiles().find([str(path)]).run_sync().unwrap()


def members(found: FoundFiles) -> list[str]:
    return [file.member for file in found.files]


def test_the_members_of_an_archive_are_files_beside_each_other(tmp_path: Path) -> None:
    path = archive(tmp_path / "export.ZIP", EXPORT)
    found = find(tmp_path)
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


def test_a_bomb_and_an_archive_within_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "export.zip", {"a.json": "[]", "bomb.json": "0" * 70_000_000, "in.zip": "PK"})
    found = find(path)
    assert members(found) == ["a.json"]
    assert [(issue.path.rpartition("!")[2], issue.code) for issue in found.issues] == [
        ("bomb.json", "too_large"),
        ("in.zip", "unreadable"),
    ]


def test_an_archive_with_too_many_members_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatmemory_layers.files.zip_archive.MAX_MEMBERS", 2)
    found = find(archive(tmp_path / "export.zip", EXPORT))
    assert (members(found), [issue.code for issue in found.issues]) == ([], ["too_large"])


def test_a_name_that_leads_out_leads_nowhere(tmp_path: Path) -> None:
    archive(tmp_path / "export.zip", {"../../outside.json": "[1]"})
    (file,) = find(tmp_path).files
    assert b"".join(LocalFiles().reader(file).blocks()) == b"[1]"
    assert [path.name for path in tmp_path.rglob("*")] == ["export.zip"]


def test_an_encrypted_member_is_named(tmp_path: Path) -> None:
    path = archive(tmp_path / "export.zip", {"a.json": "[]"})
    content = bytearray(path.read_bytes())
    # The flags of the member in the archive's directory: signature, two versions, flags.
    content[content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1) + 8] |= 1
    path.write_bytes(content)
    found = find(path)
    assert [issue.detail for issue in found.issues] == ["it is encrypted: unpack the archive"]


@for_each("damage", [b"", b"PK\x03\x04 no archive", b"\x00" * 100])
def test_what_is_no_archive_is_named(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "export.zip").write_bytes(damage)
    assert [issue.code for issue in find(tmp_path).issues] == ["unreadable"]


def test_a_member_that_is_damaged_is_an_issue_of_that_member(tmp_path: Path) -> None:
    path = archive(tmp_path / "export.zip", {"a.json": "[" + "1, " * 1000 + "2]", "b.json": "[]"})
    content = bytearray(path.read_bytes())
    start = content.index(b"a.json") + len(b"a.json")
    content[start : start + 10] = b"\xff" * 10
    path.write_bytes(content)
    first, second = find(path).files
    with pytest.raises(UnreadableHistoryError):
        list(LocalFiles().reader(first).blocks())
    assert b"".join(LocalFiles().reader(second).blocks()) == b"[]"
