"""A store that a released edition has filled is read as that edition read it, also when its first opening was killed."""

import json
import lzma
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest

from chatmemory_layers.postgres.throwaway_server import fresh_database
from tests.forked import Forked
from tests.released.released_store import read
from tests.thorough import rounds
from tests.unit.postgres.beside import connected

STORES: Final = Path(os.environ.get("RELEASED_STORES", Path(__file__).parent))
EDITIONS: Final = ("0.5.0",)
KILLS: Final = 3
ROUNDS: Final = rounds(1, thorough=2)

OPENS_IT: Final = (
    "import asyncio, sys; from chatmemory_layers import stacks; from chatmemory import ManagedRuntime;"
    "make = stacks.postgres if sys.argv[2] == 'postgres' else stacks.embedded;"
    "print('ready', flush=True); asyncio.run(ManagedRuntime(make(sys.argv[1])).__aenter__())"
)


def contents(name: str) -> Any:
    return json.loads(lzma.decompress((STORES / f"{name}.json.xz").read_bytes()))


@asynccontextmanager
async def released(backend: str, edition: str, folder: Path) -> AsyncGenerator[str]:
    """Lend the place of a store as *edition* has left it."""
    if backend == "sqlite":
        file = folder / "released.db"
        file.write_bytes(lzma.decompress((STORES / f"sqlite_{edition}.db.xz").read_bytes()))
        yield str(file)
        return
    dump = lzma.decompress((STORES / f"postgres_{edition}.sql.xz").read_bytes()).decode()
    async with fresh_database() as dsn:
        async with connected(dsn) as connection:
            await connection.execute(dump)
        yield dsn


def opened_in_a_child(place: str, backend: str, *, killed_within: float) -> float:
    """Open the store in another process, kill it within so many seconds, and return how long it was let live."""
    with Forked(sys.executable, "-c", OPENS_IT, place, backend) as child:
        child.stdout.readline()
        began = time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            child.wait(killed_within)
        return time.monotonic() - began


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
async def test_what_a_released_edition_has_stored_is_read_as_it_read_it(
    backend: str, edition: str, tmp_path: Path
) -> None:
    async with released(backend, edition, tmp_path) as place:
        assert await read(place, is_postgres=backend == "postgres") == contents(f"{backend}_{edition}")


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
async def test_an_opening_that_is_killed_three_times_loses_nothing_of_a_released_store(
    backend: str, edition: str, tmp_path: Path
) -> None:
    async with released(backend, edition, tmp_path) as place:
        whole = opened_in_a_child(place, backend, killed_within=600)
    for _ in range(ROUNDS):
        async with released(backend, edition, tmp_path) as place:
            for _ in range(KILLS):
                opened_in_a_child(place, backend, killed_within=random.uniform(0, whole))
            assert await read(place, is_postgres=backend == "postgres") == contents(f"{backend}_{edition}")
