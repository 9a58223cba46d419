"""A store that a released edition has filled is read as that edition read it."""

import json
import lzma
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from chatmemory_layers.postgres.throwaway_server import fresh_database
from tests.released.released_store import read
from tests.unit.postgres.beside import run_in

STORES: Final = Path(os.environ.get("RELEASED_STORES", Path(__file__).parent))
EDITIONS: Final = ("0.5.0",)


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
        await run_in(dsn, dump)
        yield dsn


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
async def test_what_a_released_edition_has_stored_is_read_as_it_read_it(
    backend: str, edition: str, tmp_path: Path
) -> None:
    async with released(backend, edition, tmp_path) as place:
        assert await read(place, is_postgres=backend == "postgres") == contents(f"{backend}_{edition}")
