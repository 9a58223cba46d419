"""A server that is killed, or whose disk or database goes and comes back, stores each acknowledged write exactly once."""

import asyncio
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.http.served import CHATMEMORY, served, started
from tests.patience import PATIENCE_SECONDS
from tests.reliability.own_postgres import own_postgres
from tests.reliability.writing_clients import WritingClients
from tests.thorough import IS_THOROUGH, rounds, thorough

CLIENTS: Final = 32
KILLS: Final = rounds(1, thorough=15)
LIFE_SECONDS: Final = 2.0 if IS_THOROUGH else 0.5  # with the thorough kills, half a minute
DISK_BYTES: Final = 12_000_000
BALLAST_BYTES: Final = 6_000_000
LONG_TEXT: Final = 3000


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A file system of ``DISK_BYTES``."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", folder)
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        why_not = mounted.stderr.strip() if mounted.returncode else ""
    except FileNotFoundError as error:
        why_not = str(error)
    if why_not:
        pytest.skip(f"no small file system can be made here: {why_not}")
    yield folder
    subprocess.run(("umount", folder), check=True)


async def test_writes_that_are_repeated_across_kills_are_stored_exactly_once(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    clients = WritingClients(CLIENTS)
    async with asyncio.TaskGroup() as group:
        for life in range(KILLS):
            with served(store, "--quiet") as server:
                clients.find(server)
                if life == 0:
                    group.create_task(clients.write())
                await clients.have_written.wait()
                await asyncio.sleep(LIFE_SECONDS)
                clients.lose()
                server.process.kill()
                server.process.wait()
        with served(store, "--quiet") as server:
            clients.find(server)
            await clients.end()
            await clients.check_keys()
    await clients.check_store(str(store))
    assert clients.refusals[""] >= KILLS  # each kill came in the middle of something


@pytest.mark.parametrize(
    "is_log_kept",
    [pytest.param(False, id="the file grows", marks=thorough), pytest.param(True, id="the log grows")],
)
async def test_a_disk_that_was_full_takes_writes_again_without_a_restart(
    small_disk: Path, is_log_kept: bool
) -> None:
    store, ballast = small_disk / "memory.db", small_disk / "ballast"
    ballast.write_bytes(b"x" * BALLAST_BYTES)
    clients = WritingClients(CLIENTS, length=LONG_TEXT)
    with served(store, "--quiet") as server, closing(sqlite3.connect(store)) as reader:
        if is_log_kept:  # by somebody who reads for long
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM chat_message").fetchone()
        clients.url = server.url
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as http:
            async with asyncio.TaskGroup() as group:
                group.create_task(clients.write())
                await clients.are_refused.wait()
                assert clients.refusals
                assert all(": full (" in told for told in clients.refusals)
                read = [
                    await http.get("/readiness"),
                    await http.get("/conversations/c0/messages"),
                    await http.get("/memories"),
                    await http.post("/memories/recall", json={"query": "满"}),
                ]
                assert [answer.status_code for answer in read] == [200, 200, 200, 200]
                before = clients.count
                ballast.unlink()
                clients.find(server)
                await clients.end()
            assert clients.count >= before + CLIENTS
        await clients.check_keys()
        reader.close()
        server.process.kill()
        server.process.wait()
    await clients.check_store(str(store))


async def test_a_database_that_is_started_again_takes_writes_without_a_restart_of_ours(
    tmp_path: Path,
) -> None:
    with own_postgres() as database:
        dsn = database.get_uri()
        settings = tmp_path / "chatmemory.toml"
        settings.write_text(f'[memory.store]\nbackend = "postgres"\n[memory.store.postgres]\ndsn = "{dsn}"\n')
        past_chats = tmp_path / "past-chats.db"
        command = (
            CHATMEMORY,
            "serve",
            "--port",
            "0",
            "--config",
            settings,
            "--past-chats",
            past_chats,
            "--quiet",
        )
        clients = WritingClients(CLIENTS)
        with started(*command) as server:
            clients.url = server.url
            async with asyncio.TaskGroup() as group:
                group.create_task(clients.write())
                await clients.have_written.wait()
                database.stop()
                await clients.are_refused.wait()
                database.ensure_postgres_running()
                clients.find(server)
                await clients.end()
            await clients.check_keys()
            server.terminated()
        await clients.check_store(dsn)
