"""``PostgresItemRepository``: ``ItemRepository`` on a server, beside conversations and memories.

A search looks through the items below its prefix, as in ``sqlite/item_repository.py``.
"""

import hashlib
from collections.abc import Callable
from datetime import datetime
from itertools import islice
from typing import Final, Never, TypeVar, final

from attrs import frozen

from chatmemory.effect import Effect, Layer, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory.items.item_ranking import Rankable, ranked
from chatmemory.items.item_repository import (
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
    StoredItem,
    last_of_each,
)
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag
from chatmemory_layers.postgres.engine.methods import reads, writes
from chatmemory_layers.postgres.items.item_filters import NARROWED, narrowed
from chatmemory_layers.sql.columns import from_us, to_us
from chatmemory_layers.sql.item_columns import (
    best_similarities,
    lifetime_us,
    span,
    to_labels,
    to_text,
    vector_column,
)

# ruff: noqa: S608  conditions are put into statements, never values

# Arrays, a row from each place in them.  What is gone at $6, the time, counts as new.
PUT_ITEMS: Final = """
INSERT INTO stored_item AS old
    (name_hash, namespace, key, value, search_terms, created_at_us, updated_at_us, lifetime_us, expires_at_us)
SELECT decode(name_hash, 'hex'), namespace, key, value, terms, $6::bigint, $6, lifetime_us, $6 + lifetime_us
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $7::bigint[]) WITH ORDINALITY
    AS put (name_hash, namespace, key, value, terms, lifetime_us, place)
ORDER BY place
ON CONFLICT (name_hash) DO UPDATE SET
    value = excluded.value, search_terms = excluded.search_terms, updated_at_us = excluded.updated_at_us,
    created_at_us = CASE
        WHEN old.expires_at_us <= excluded.updated_at_us THEN excluded.created_at_us ELSE old.created_at_us
    END,
    lifetime_us = excluded.lifetime_us, expires_at_us = excluded.expires_at_us
"""
_NAMED = "name_hash = ANY (ARRAY(SELECT decode(wanted, 'hex') FROM unnest($1::text[]) AS wanted))"
DELETE_ITEMS: Final = f"DELETE FROM stored_item WHERE {_NAMED}"
DELETE_PASSAGES: Final = f"DELETE FROM item_passage USING stored_item WHERE item_passage.item_key = stored_item.item_key AND {_NAMED}"
INSERT_PASSAGES: Final = """
INSERT INTO item_passage (item_key, number, model, vector)
SELECT item_key, number, model, decode(vector, 'hex')
FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) AS passage (wanted, number, model, vector)
JOIN stored_item ON name_hash = decode(wanted, 'hex')
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
WHERE {_NAMED} AND (expires_at_us IS NULL OR expires_at_us > $2)
"""
SELECT_NEWEST: Final = f"""
SELECT {_COLUMNS} FROM stored_item WHERE {_BELOW} AND {NARROWED} ORDER BY updated_at_us DESC, item_key DESC
LIMIT $6 OFFSET $7
"""
SELECT_RANKABLE: Final = f"""
SELECT item_key, updated_at_us, search_terms, CASE WHEN $6 THEN value ELSE '' END AS value
FROM stored_item WHERE {_BELOW} AND {NARROWED}
"""
SELECT_PASSAGES: Final = f"""
SELECT item_key, vector FROM stored_item JOIN item_passage USING (item_key) WHERE {_BELOW} AND model = $4
"""
SELECT_FOUND: Final = (
    f"SELECT item_key, {_COLUMNS} FROM stored_item WHERE item_key = ANY ($1::text[]::bigint[])"
)
SELECT_NAMESPACES: Final = f"SELECT DISTINCT namespace FROM stored_item WHERE {_BELOW}"

A = TypeVar("A")

READ_AT_ONCE: Final = 500
"""Items that are compared with conditions before the next ones are fetched."""


async def _write(connection: Connection, puts: tuple[ItemPut, ...], *, now: datetime) -> Outcome[None, Never]:
    last = last_of_each(puts)
    removed = [_name_hash(put.name) for put in last if put.value is None]
    stored = [(_name_hash(put.name), put) for put in last if put.value is not None]
    if removed:
        await connection.execute(DELETE_ITEMS, removed)
    if stored:
        await connection.execute(
            PUT_ITEMS,
            [name_hash for name_hash, _ in stored],
            [to_text(put.name.namespace) for _, put in stored],
            [put.name.key for _, put in stored],
            [put.value for _, put in stored],
            [put.terms for _, put in stored],
            to_us(now),
            [lifetime_us(put.lifetime) for _, put in stored],
        )
        await connection.execute(DELETE_PASSAGES, [name_hash for name_hash, _ in stored])
    passages = [
        (name_hash, number, put.model, vector_column(vector).hex())
        for name_hash, put in stored
        for number, vector in enumerate(put.vectors)
    ]
    if passages:
        await connection.execute(INSERT_PASSAGES, *map(list, zip(*passages, strict=True)))
    return Success(None)


async def _change(
    connection: Connection, steps: Callable[[], ItemChange[A]], *, now: datetime
) -> Outcome[A, Never]:
    change = steps()
    try:
        names = next(change)
        while True:
            names = change.send(await _read(connection, names, now=now))
    except StopIteration as end:
        puts, answer = end.value
    await _write(connection, puts, now=now)
    return Success(answer)


async def _refresh(
    connection: Connection, names: tuple[ItemName, ...], *, now: datetime
) -> Outcome[None, Never]:
    for name in names:
        await connection.execute(REFRESH_ITEM, _name_hash(name), to_us(now))
    return Success(None)


async def _sweep(connection: Connection, *, now: datetime) -> Outcome[int, Never]:
    return Success(len(await connection.fetch(SWEEP, to_us(now))))


async def _read(
    connection: Connection, names: tuple[ItemName, ...], *, now: datetime
) -> tuple[StoredItem | None, ...]:
    hashes = [_name_hash(name) for name in names]
    rows = {row["name_hash"]: row for row in await connection.fetch(SELECT_ITEMS, hashes, to_us(now))}
    return tuple([_item(rows[each]) if each in rows else None for each in hashes])


async def _search(connection: Connection, search: ItemSearch, /, *, now: datetime) -> tuple[StoredItem, ...]:
    below = (*span(search.prefix), to_us(now))
    if search.is_query:
        places = ranked(search, await _rankable(connection, search, below))
        rows = await connection.fetch(SELECT_FOUND, [str(key) for key, _ in places])
        found = {row["item_key"]: row for row in rows}
        return tuple([_item(found[key], score) for key, score in places])
    if not search.conditions:
        rows = await connection.fetch(SELECT_NEWEST, *below, None, "{}", search.limit, search.offset)
        return tuple(map(_item, rows))
    return await _fitting(connection, search, below)


async def _fitting(
    connection: Connection, search: ItemSearch, below: tuple[str, str | None, int]
) -> tuple[StoredItem, ...]:
    """Look at what SQL leaves page by page, until there are enough whose value fulfils the conditions."""
    narrowing, behind, start = narrowed(search.conditions), search.offset + search.limit, 0
    fitting: list[StoredItem] = []
    while len(fitting) < behind:
        rows = await connection.fetch(SELECT_NEWEST, *below, *narrowing, READ_AT_ONCE, start)
        fitting += [_item(row) for row in rows if search.admits(row["value"])]
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
    parameters = (*below, *narrowed(search.conditions), bool(search.conditions))
    return [
        Rankable(
            row["item_key"], row["updated_at_us"], row["search_terms"], similarities.get(row["item_key"])
        )
        for row in await connection.fetch(SELECT_RANKABLE, *parameters)
        if search.admits(row["value"])
    ]


async def _namespaces(connection: Connection, prefix: Labels, *, now: datetime) -> tuple[Labels, ...]:
    rows = await connection.fetch(SELECT_NAMESPACES, *span(prefix), to_us(now))
    return tuple(sorted([to_labels(row["namespace"]) for row in rows]))


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


def _owner(*_: object, **__: object) -> str:
    """Writers of items stand in one line: a batch may name any, and no two lock the same ones in another order."""
    return "items"


@final
@frozen
class PostgresItemRepository:
    """Items in the tables of *database*."""

    database: Database

    write = writes("store items", _write, owner=_owner)
    search = reads("search items", _search, on_snapshot=True)
    namespaces = reads("list namespaces", _namespaces)
    refresh = writes("refresh items", _refresh, owner=_owner)
    sweep = writes("sweep items", _sweep, owner=_owner)

    @Effect.coroutine
    async def read(
        self, names: tuple[ItemName, ...], *, now: datetime
    ) -> Outcome[tuple[StoredItem | None, ...], RepositoryError]:
        """See ``ItemRepository.read``; where the writes go, for an agent reads what it has just put."""
        return await self.database.read_primary("read items", _read, names, now=now)

    def change(self, steps: Callable[[], ItemChange[A]], *, now: datetime) -> Effect[A, RepositoryError]:
        """See ``ItemRepository.change``."""

        async def change() -> Outcome[A, RepositoryError]:
            return await self.database.write("change items", _owner(), _change, steps, now=now)

        return Effect.from_outcome(change)


item_repository = Layer.effect(
    ItemRepositoryTag, Effect.service(DatabaseTag).map(PostgresItemRepository), needs=[DatabaseTag]
)
