"""``PostgresItemRepository``: ``ItemRepository`` on a server, beside conversations and memories.

A search looks through the items below its prefix, as in ``sqlite/item_repository.py``.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Final, Never, TypeVar, final

from attrs import frozen

from chatmemory.contracts import ItemName, ItemPut, ItemRepositoryTag, ItemSearch, Labels, StoredItem
from chatmemory.effect import Effect, Layer, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory.longterm.item_ranking import Rankable, ranked
from chatmemory_layers.columns import from_us, to_us
from chatmemory_layers.item_columns import (
    best_similarities,
    lifetime_us,
    span,
    to_labels,
    to_text,
    vector_column,
)
from chatmemory_layers.postgres.connection import Connection, Row
from chatmemory_layers.postgres.database import Database, DatabaseTag

# ruff: noqa: S608  conditions are put into statements, never values

# What is gone at $5 counts as new.
PUT_ITEM: Final = """
INSERT INTO stored_item AS old
    (name_hash, namespace, key, value, search_terms, created_at_us, updated_at_us, lifetime_us, expires_at_us)
VALUES (decode($1, 'hex'), $2, $3, $4, $6, $5, $5, $7, $5::bigint + $7::bigint)
ON CONFLICT (name_hash) DO UPDATE SET
    value = excluded.value, search_terms = excluded.search_terms, updated_at_us = excluded.updated_at_us,
    created_at_us = CASE
        WHEN old.expires_at_us <= excluded.updated_at_us THEN excluded.created_at_us ELSE old.created_at_us
    END,
    lifetime_us = excluded.lifetime_us, expires_at_us = excluded.expires_at_us
RETURNING item_key
"""
DELETE_ITEM: Final = "DELETE FROM stored_item WHERE name_hash = decode($1, 'hex')"
DELETE_PASSAGES: Final = "DELETE FROM item_passage WHERE item_key = $1"
INSERT_PASSAGE: Final = """
INSERT INTO item_passage (item_key, number, model, vector) VALUES ($1, $2, $3, decode($4, 'hex'))
"""
REFRESH_ITEM: Final = """
UPDATE stored_item SET expires_at_us = $2::bigint + lifetime_us
WHERE name_hash = decode($1, 'hex') AND expires_at_us > $2
"""
SWEEP: Final = "DELETE FROM stored_item WHERE expires_at_us <= $1 RETURNING item_key"

_COLUMNS = "namespace, key, value, created_at_us, updated_at_us, lifetime_us"
# left(): the index holds no more of a name, for an index row has a limit.
_BELOW = """
    left(namespace, 256) >= left($1::text, 256) AND namespace >= $1
    AND ($2::text IS NULL OR (left(namespace, 256) <= left($2, 256) AND namespace < $2))
    AND (expires_at_us IS NULL OR expires_at_us > $3)
"""
SELECT_ITEMS: Final = f"""
SELECT encode(name_hash, 'hex') AS name_hash, {_COLUMNS} FROM stored_item
WHERE name_hash = ANY (ARRAY(SELECT decode(wanted, 'hex') FROM unnest($1::text[]) AS wanted))
    AND (expires_at_us IS NULL OR expires_at_us > $2)
"""
SELECT_NEWEST: Final = f"""
SELECT {_COLUMNS} FROM stored_item WHERE {_BELOW} ORDER BY updated_at_us DESC, item_key DESC LIMIT $4 OFFSET $5
"""
SELECT_RANKABLE: Final = f"""
SELECT item_key, updated_at_us, search_terms, CASE WHEN $4 THEN value END AS value FROM stored_item WHERE {_BELOW}
"""
SELECT_PASSAGES: Final = f"""
SELECT item_key, vector FROM stored_item JOIN item_passage USING (item_key) WHERE {_BELOW} AND model = $4
"""
SELECT_FOUND: Final = (
    f"SELECT item_key, {_COLUMNS} FROM stored_item WHERE item_key = ANY ($1::text[]::bigint[])"
)
SELECT_NAMESPACES: Final = f"SELECT DISTINCT namespace FROM stored_item WHERE {_BELOW} ORDER BY namespace"

Q = TypeVar("Q")

READ_AT_ONCE: Final = 500
"""Items that a filter looks at before the next ones are fetched."""

OWNER: Final = "items"
"""Writers of items stand in one line: a batch may name any, and no two lock the same ones in another order."""


@final
@frozen
class PostgresItemRepository:
    """Items in the tables of *database*."""

    database: Database

    def write(self, puts: tuple[ItemPut, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        """See ``ItemRepository.write``."""
        return self._write("store items", _put_all, (puts, now))

    def read(
        self, names: tuple[ItemName, ...], *, now: datetime
    ) -> Effect[tuple[StoredItem | None, ...], RepositoryError]:
        """See ``ItemRepository.read``; where the writes go, for an agent reads what it has just put."""
        return Effect.from_outcome(
            partial(self.database.read_primary, "read items", _read, (names, to_us(now)))
        )

    def search(
        self, search: ItemSearch, /, *, now: datetime
    ) -> Effect[tuple[StoredItem, ...], RepositoryError]:
        """See ``ItemRepository.search``."""
        request = (search, now)
        return Effect.from_outcome(partial(self.database.read_snapshot, "search items", _search, request))

    def namespaces(self, prefix: Labels, *, now: datetime) -> Effect[tuple[Labels, ...], RepositoryError]:
        """See ``ItemRepository.namespaces``."""
        request = (prefix, now)
        return Effect.from_outcome(partial(self.database.read, "list namespaces", _namespaces, request))

    def refresh(self, names: tuple[ItemName, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        """See ``ItemRepository.refresh``."""
        return self._write("refresh items", _refresh, (names, to_us(now)))

    def sweep(self, *, now: datetime) -> Effect[int, RepositoryError]:
        """See ``ItemRepository.sweep``."""
        return Effect.from_outcome(partial(self.database.write, "sweep items", OWNER, _sweep, to_us(now)))

    def _write(
        self, operation: str, work: Callable[[Connection, Q], Awaitable[Outcome[None, Never]]], request: Q
    ) -> Effect[None, RepositoryError]:
        return Effect.from_outcome(partial(self.database.write, operation, OWNER, work, request))


async def _put_all(
    connection: Connection, request: tuple[tuple[ItemPut, ...], datetime]
) -> Outcome[None, Never]:
    puts, now = request
    for put in puts:
        name_hash = _name_hash(put.name)
        if put.value is None:
            await connection.execute(DELETE_ITEM, name_hash)
            continue
        (row,) = await connection.fetch(
            PUT_ITEM,
            name_hash,
            to_text(put.name.namespace),
            put.name.key,
            put.value,
            to_us(now),
            put.terms,
            lifetime_us(put.lifetime),
        )
        await connection.execute(DELETE_PASSAGES, row["item_key"])
        for number, vector in enumerate(put.vectors):
            passage = (row["item_key"], number, put.model, vector_column(vector).hex())
            await connection.execute(INSERT_PASSAGE, *passage)
    return Success(None)


async def _refresh(connection: Connection, request: tuple[tuple[ItemName, ...], int]) -> Outcome[None, Never]:
    names, now_us = request
    for name in names:
        await connection.execute(REFRESH_ITEM, _name_hash(name), now_us)
    return Success(None)


async def _sweep(connection: Connection, now_us: int) -> Outcome[int, Never]:
    return Success(len(await connection.fetch(SWEEP, now_us)))


async def _read(
    connection: Connection, request: tuple[tuple[ItemName, ...], int]
) -> tuple[StoredItem | None, ...]:
    names, now_us = request
    hashes = [_name_hash(name) for name in names]
    rows = {row["name_hash"]: row for row in await connection.fetch(SELECT_ITEMS, hashes, now_us)}
    return tuple([_item(rows[each]) if each in rows else None for each in hashes])


async def _search(connection: Connection, request: tuple[ItemSearch, datetime]) -> tuple[StoredItem, ...]:
    search, now = request
    below = (*span(search.prefix), to_us(now))
    if search.is_query:
        places = ranked(search, await _rankable(connection, search, below))
        rows = await connection.fetch(SELECT_FOUND, [str(key) for key, _ in places])
        found = {row["item_key"]: row for row in rows}
        return tuple([_item(found[key], score) for key, score in places])
    if search.fits is None:
        rows = await connection.fetch(SELECT_NEWEST, *below, search.limit, search.offset)
        return tuple(map(_item, rows))
    return await _fitting(connection, search, below)


async def _fitting(
    connection: Connection, search: ItemSearch, below: tuple[str, str | None, int]
) -> tuple[StoredItem, ...]:
    """Look at the items page by page, until there are enough whose value fits."""
    fits, behind, start = search.fits, search.offset + search.limit, 0
    fitting: list[StoredItem] = []
    while len(fitting) < behind:
        rows = await connection.fetch(SELECT_NEWEST, *below, READ_AT_ONCE, start)
        fitting += [_item(row) for row in rows if fits is None or fits(json.loads(row["value"]))]
        start += len(rows)
        if len(rows) < READ_AT_ONCE:
            break
    return tuple(islice(fitting, search.offset, behind))


async def _rankable(
    connection: Connection, search: ItemSearch, below: tuple[str, str | None, int]
) -> list[Rankable]:
    similarities: dict[int, float] = {}
    if search.vector is not None:
        rows = await connection.fetch(SELECT_PASSAGES, *below, search.model)
        similarities = best_similarities(search.vector, [(row["item_key"], row["vector"]) for row in rows])
    fits = search.fits
    return [
        Rankable(
            row["item_key"], row["updated_at_us"], row["search_terms"], similarities.get(row["item_key"])
        )
        for row in await connection.fetch(SELECT_RANKABLE, *below, fits is not None)
        if fits is None or fits(json.loads(row["value"]))
    ]


async def _namespaces(connection: Connection, request: tuple[Labels, datetime]) -> tuple[Labels, ...]:
    prefix, now = request
    rows = await connection.fetch(SELECT_NAMESPACES, *span(prefix), to_us(now))
    return tuple([to_labels(row["namespace"]) for row in rows])


def _name_hash(name: ItemName) -> str:
    return hashlib.blake2b(f"{to_text(name.namespace)}\0{name.key}".encode(), digest_size=16).hexdigest()


def _item(row: Row, score: float | None = None) -> StoredItem:
    return StoredItem(
        ItemName(to_labels(row["namespace"]), row["key"]),
        row["value"],
        from_us(row["created_at_us"]),
        from_us(row["updated_at_us"]),
        row["lifetime_us"] is not None,
        score,
    )


item_repository = Layer.effect(
    ItemRepositoryTag, Effect.service(DatabaseTag).map(PostgresItemRepository), needs=[DatabaseTag]
)
