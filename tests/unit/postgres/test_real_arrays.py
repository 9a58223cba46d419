"""Vectors are sent and read whole, not number by number."""

import numpy as np

from chatmemory_layers.postgres.engine.connection import Connection
from tests.unit.postgres.beside import connected, open_messages

ARRAYS = (np.array([0.25, -1e-30, 3e38], np.float32), np.zeros(0, np.float32))


async def echoed(connection: Connection, numbers: object) -> object:
    (row,) = await connection.fetch("SELECT $1::real[] AS numbers", numbers)
    return row["numbers"]


async def test_a_connection_of_the_store_takes_and_returns_arrays_of_numpy(own_dsn: str) -> None:
    async with open_messages(own_dsn) as messages:
        for numbers in ARRAYS:
            outcome = messages.database.read("read an array", echoed, numbers)
            back = await outcome.or_raise()
            assert isinstance(back, np.ndarray)  # asyncpg's own codec returns a list
            assert back.dtype == np.float32
            assert back.tolist() == numbers.tolist()


async def test_a_connection_without_the_codec_takes_the_same_arrays(own_dsn: str) -> None:
    async with connected(own_dsn) as connection:
        for numbers in ARRAYS:
            assert np.array_equal(np.asarray(await echoed(connection, numbers), np.float32), numbers)
