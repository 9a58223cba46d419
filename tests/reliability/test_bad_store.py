"""A store that cannot serve says so with a typed error, in bounded time, and is left as it is; what can be read is read."""

# ruff: noqa: ASYNC240  a test may wait for its own files

import asyncio
import os
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
import trio

from chatmemory import (
    AddReport,
    ChatMessage,
    EffectFailed,
    Failure,
    GenericMemoryError,
    ManagedRuntime,
    NewMessage,
    Outcome,
    RepositoryError,
    Success,
)
from chatmemory.effect import SuspendedError
from chatmemory.errors import AddError, ReadError
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers import stacks
from chatmemory_layers.stacks.past_chats import indexing
from tests.for_each import for_each
from tests.forked import run_forked
from tests.patience import PATIENCE_SECONDS
from tests.reliability.store import open_store, reason_of
from tests.unit.sqlite.desktop_files import change

Answers = tuple[Outcome[Sequence[ChatMessage], ReadError], Outcome[AddReport, AddError]]
Harm = Callable[[Path], None]
MESSAGES = 400


def content(number: int) -> str:
    return f"第{number}: " + "what was said " * 10


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """A closed store of a hundred pages or so."""
    path = tmp_path / "chat.db"
    async with open_store(str(path)) as memory:
        batch = [NewMessage("user", content(number), id=str(number)) for number in range(MESSAGES)]
        await memory.add_messages("c", batch).or_raise()
    return path


async def problem_at(address: str, *, timeout_seconds: float = PATIENCE_SECONDS) -> RepositoryError:
    with pytest.raises(EffectFailed) as failed:
        async with open_store(address, timeout_seconds=timeout_seconds):
            pass
    error = failed.value.error
    assert isinstance(error, RepositoryError)
    return error


def run(program: str, address: str) -> list[str]:
    ended = run_forked(sys.executable, "-m", f"tests.reliability.programs.{program}", address)
    assert ended.stderr == ""
    return ended.stdout.splitlines()


async def test_a_folder_is_no_store_and_one_that_is_missing_is_not_made(tmp_path: Path) -> None:
    assert (await problem_at(str(tmp_path))).problem == "unavailable"
    error = await problem_at(str(tmp_path / "missing" / "chat.db"))
    assert error.problem == "unavailable"
    assert "check the path" in str(error)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a\0b.db", "a\ud800.db"])
async def test_what_can_be_no_path_is_refused_in_words_that_can_be_printed(tmp_path: Path, name: str) -> None:
    error = await problem_at(f"{tmp_path}/{name}")
    assert error.problem == "unavailable"
    assert "is no path" in str(error).encode().decode()
    assert "\0" not in str(error)
    settings = PastChatsSettings(path=f"{tmp_path}/{name}")
    with (
        pytest.raises(EffectFailed, match="is no path"),
        ManagedRuntime(indexing(settings, EmbeddingSettings())),
    ):
        pass


def write_notes(path: Path) -> None:
    path.write_bytes(b"my notes\n" * 5_555)


def write_a_short_note(path: Path) -> None:
    path.write_bytes(b"my notes\n" * 5)


def make_another_database(path: Path) -> None:
    path.unlink()
    change(path, "CREATE TABLE conversation (id TEXT)")


def make_newer(path: Path) -> None:
    change(path, "INSERT INTO chatmemory_migration VALUES (99, 'a later step', 'x', 0)")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (write_notes, "not_a_store"),
        (write_a_short_note, "not_a_store"),
        (make_another_database, "not_a_store"),
        (make_newer, "newer_schema"),
    ],
)
async def test_what_is_no_store_of_ours_is_refused_untouched(file: Path, make: Harm, problem: str) -> None:
    make(file)
    before = file.read_bytes()
    error = await problem_at(str(file))
    assert error.problem == problem
    assert problem == "not_a_store" or "update chatmemory" in str(error)
    assert file.read_bytes() == before


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def cut_in_a_page(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1000)


def overwrite(start: int, length: int, byte: bytes) -> Harm:
    def damage(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(start)
            file.write(byte * min(length, path.stat().st_size - start))

    return damage


def misname(path: Path) -> None:
    """Damage the schema so that SQLite complains by a name that is not UTF-8."""
    damaged = path.read_bytes().replace(b"chat_message", b"\x8ehat_message")
    path.write_bytes(damaged.replace(b"CREATE TABLE \x8e", b"CREXTE TABLE \x8e"))


DAMAGES = {
    "cut in half": cut_in_half,
    "cut in a page": cut_in_a_page,
    "no magic word": overwrite(0, 16, b"x"),
    "a header of zeros": overwrite(0, 100, b"\0"),
    "a wrong page size": overwrite(16, 2, b"\x07"),
    "a schema of zeros": overwrite(100, 3996, b"\0"),
    "noise in the schema": overwrite(108, 3000, b"\xa5"),
    "a name that is not UTF-8": misname,
    "pages of zeros": overwrite(4096, 10**9, b"\0"),
    "pages of noise": overwrite(4096, 10**9, b"\xa5"),
    "noise in the middle": overwrite(20_000, 20_000, b"\xff"),
}


async def answers_of(file: Path) -> RepositoryError | Answers:
    """Open the store, read it and add what it has already; return why it could not be opened, or what came of the two."""
    try:
        async with open_store(str(file)) as memory:
            again = NewMessage("user", content(1), id="1")
            return await memory.get_messages("c"), await memory.add_messages("c", [again])
    except EffectFailed as failed:
        return failed.error


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_a_damaged_file_gives_true_answers_or_none(file: Path, damage: Harm) -> None:
    damage(file)
    before = file.stat().st_size
    answers = await answers_of(file)
    if isinstance(answers, RepositoryError):
        assert answers.problem in {"damaged", "not_a_store"}
        assert file.stat().st_size == before
        return
    read, added = answers
    match read:
        case Success(messages):
            assert [message.content for message in messages] == [*map(content, range(MESSAGES))]
        case Failure(GenericMemoryError(RepositoryError() as error)):
            assert error.problem == "damaged"
            assert "backup" in str(error)
        case other:
            pytest.fail(f"it forgot: {other}")
    match added:
        case Success(report):
            assert report.duplicates == ("1",)
        case Failure(error):
            assert error.reason.problem == "damaged"


async def test_a_damaged_log_costs_only_what_stood_behind_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    copy = tmp_path / "copy.db"
    async with open_store(str(path)) as memory:
        for number in range(20):
            await memory.add_messages("c", [NewMessage("user", content(number), id=str(number))]).or_raise()
        shutil.copy(path, copy)
        log = Path(f"{path}-wal").read_bytes()
    middle = len(log) * 9 // 10  # behind the schema, among the messages
    flipped = bytes(byte ^ 0xFF for byte in log[middle : middle + 64])
    Path(f"{copy}-wal").write_bytes(log[:middle] + flipped + log[middle + 64 :])
    async with open_store(str(copy)) as memory:
        kept: list[ChatMessage] = list(await memory.get_messages("c").or_raise())
    assert 0 < len(kept) < 20
    assert [message.content for message in kept] == [*map(content, range(len(kept)))]


def test_a_file_needs_asyncio_and_says_so_on_trio(tmp_path: Path) -> None:
    async def open_it() -> None:
        async with open_store(str(tmp_path / "chat.db")):
            pass

    with pytest.raises(EffectFailed) as failed:
        trio.run(open_it)
    assert failed.value.error == RepositoryError("open the store", "wrong_loop", "aiosqlite needs asyncio")


async def test_a_plain_with_in_a_coroutine_is_refused_before_a_thread_begins(tmp_path: Path) -> None:
    threads = threading.active_count()
    with (
        pytest.raises(SuspendedError, match="async with"),
        ManagedRuntime(stacks.embedded(tmp_path / "chat.db")),
    ):
        pass
    assert threading.active_count() == threads


@pytest.mark.parametrize("what_happens", ["deleted", "moved", "replaced"])
async def test_a_file_that_is_gone_acknowledges_nothing_more(file: Path, what_happens: str) -> None:
    elsewhere = file.with_name("elsewhere.db")
    async with open_store(str(file)) as memory:
        if what_happens == "deleted":
            file.unlink()
        else:
            file.rename(elsewhere)
        if what_happens == "replaced":
            shutil.copy(elsewhere, file)
        reason = reason_of(await memory.add_messages("c", [NewMessage("user", "late")]))
        assert reason.problem == "unavailable"
        assert "open it again" in str(reason)
        if what_happens == "moved":
            elsewhere.rename(file)
            assert isinstance(await memory.add_messages("c", [NewMessage("user", "back")]), Success)


def move(path: Path) -> None:
    path.rename(f"{path}.old")


def empty(path: Path) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize(
    ("ending", "harm", "problem", "kept"),
    [
        ("-wal", Path.unlink, "unavailable", True),
        ("-wal", move, "unavailable", True),
        ("-wal", empty, "damaged", False),
        ("-wal", cut_in_half, "damaged", False),
        ("-shm", Path.unlink, "unavailable", True),
        ("-shm", move, "unavailable", True),
        ("", empty, "damaged", False),
        ("", cut_in_half, "damaged", False),
    ],
)
async def test_a_store_one_of_whose_files_is_gone_or_cut_off_acknowledges_nothing_more(
    file: Path, ending: str, harm: Harm, problem: str, kept: bool
) -> None:
    copy = file.with_name("copy.db")
    async with open_store(str(file)) as memory:
        await memory.add_messages("c", [NewMessage("user", "before", id="before")]).or_raise()
        harm(Path(f"{file}{ending}"))
        for _ in range(2):
            refused = await memory.add_messages("c", [NewMessage("user", "late", id="late")])
            assert reason_of(refused).problem == problem
        for end in ("", "-wal"):  # as a process leaves it that is killed now
            if Path(f"{file}{end}").exists():
                shutil.copy(f"{file}{end}", f"{copy}{end}")
    if kept:
        async with open_store(str(copy)) as memory:
            stored = await memory.get_messages("c").or_raise()
        assert [message.id for message in stored[-2:]] == [str(MESSAGES - 1), "before"]


@pytest.mark.parametrize("what_happens", ["PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM"])
async def test_a_file_that_another_program_makes_smaller_stays_open(file: Path, what_happens: str) -> None:
    async with open_store(str(file)) as memory:
        await memory.add_messages("other", [NewMessage("user", "x" * 400_000)]).or_raise()
        await memory.clear_messages("other").or_raise()
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            await memory.add_messages("c", [NewMessage("user", "meanwhile")]).or_raise()
            sizes = file.stat().st_size, Path(f"{file}-wal").stat().st_size
            connection.execute(what_happens).fetchone()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert sizes > (file.stat().st_size, Path(f"{file}-wal").stat().st_size)
        await memory.add_messages("c", [NewMessage("user", "afterwards")]).or_raise()
        assert (await memory.get_messages("c").or_raise())[-1].content == "afterwards"


async def test_a_full_disk_loses_nothing_and_is_over_when_there_is_room(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    assert run("fill_disk", path) == ["full True", "all there", "stored 1"]
    async with open_store(path) as memory:
        stored = await memory.get_messages("c").or_raise()
    assert [message.id for message in stored] == [str(number) for number in range(len(stored))]


def test_a_child_forked_while_the_parent_writes_is_told_what_to_do_at_once(tmp_path: Path) -> None:
    address = str(tmp_path / "chat.db")
    assert run("fork_while_writing", address) == ["{'forked'}", "all there", "stored"]


@for_each("at", ["nobody@127.0.0.1:1/none", "nobody@nowhere.invalid/none", "/none?host=/nowhere"])
async def test_a_server_that_cannot_be_reached_is_a_typed_error_in_bounded_time(at: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        error = await problem_at(f"postgresql://{at}", timeout_seconds=2.0)
    assert (error.problem, error.retry_is_safe) == ("unavailable", True)
    assert error.cause is not None
