"""``PostgresItemRepository``: ``ItemRepository`` on a server, beside conversations and memories.

A search looks through the items below its prefix, as in ``sqlite/item_repository.py``.
"""

import hashlib
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice
from typing import Final, Never, TypeAlias, TypeVar, final
from uuid import UUID

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
    change_of_put,
    change_of_sweep,
    last_of_each,
)
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag
from chatmemory_layers.postgres.engine.methods import reads, writes
from chatmemory_layers.postgres.engine.spread_keys import new_key, root_key
from chatmemory_layers.postgres.events.event_log import PostgresEventLog
from chatmemory_layers.postgres.events.noted_events import note_items
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

# Arrays, a row from each place in them.  What is gone at $8, the time, counts as new.
PUT_ITEMS: Final = """
INSERT INTO stored_item AS old
    (root_key, name_hash, item_key, namespace, key, value, search_terms, created_at_us, updated_at_us, lifetime_us,
        expires_at_us)
SELECT root_key, decode(name_hash, 'hex'), item_key, namespace, key, value, terms, $8::bigint, $8, lifetime_us,
    $8 + lifetime_us
FROM unnest($1::text[]::uuid[], $2::text[], $3::text[]::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
    $9::bigint[]
) AS put (root_key, name_hash, item_key, namespace, key, value, terms, lifetime_us)
ON CONFLICT (root_key, name_hash) DO UPDATE SET
    value = excluded.value, search_terms = excluded.search_terms, updated_at_us = excluded.updated_at_us,
    created_at_us = CASE
        WHEN old.expires_at_us <= excluded.updated_at_us THEN excluded.created_at_us ELSE old.created_at_us
    END,
    lifetime_us = excluded.lifetime_us, expires_at_us = excluded.expires_at_us
"""
_NAMED = """root_key = ANY ($1::text[]::uuid[])
    AND name_hash = ANY (ARRAY(SELECT decode(wanted, 'hex') FROM unnest($2::text[]) AS wanted))
"""
DELETE_ITEMS: Final = f"""
DELETE FROM stored_item WHERE {_NAMED} RETURNING encode(name_hash, 'hex') AS name_hash
"""
DELETE_PASSAGES: Final = f"DELETE FROM item_passage WHERE {_NAMED}"
INSERT_PASSAGES: Final = """
INSERT INTO item_passage (root_key, name_hash, number, model, vector)
SELECT root_key, decode(name_hash, 'hex'), number, model, decode(vector, 'hex')
FROM unnest($1::text[]::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[])
    AS passage (root_key, name_hash, number, model, vector)
"""
REFRESH_ITEM: Final = """
UPDATE stored_item SET expires_at_us = $3::bigint + lifetime_us
WHERE root_key = $1 AND name_hash = decode($2, 'hex') AND expires_at_us > $3
"""
SWEEP: Final = "DELETE FROM stored_item WHERE expires_at_us <= $1 RETURNING namespace, key"

_COLUMNS = "namespace, key, value, created_at_us, updated_at_us, lifetime_us"
# left(): the index holds no more of a name, for an index row has a limit.  $4: None below the empty prefix alone.
_BELOW = """
    ($4::uuid IS NULL OR stored_item.root_key = $4) AND left(namespace, 256) >= left($1::text, 256) AND namespace >= $1
    AND ($2::text IS NULL OR (left(namespace, 256) <= left($2, 256) AND namespace < $2))
    AND (expires_at_us IS NULL OR expires_at_us > $3)
"""
SELECT_ITEMS: Final = f"""
SELECT encode(name_hash, 'hex') AS name_hash, {_COLUMNS} FROM stored_item
WHERE {_NAMED} AND (expires_at_us IS NULL OR expires_at_us > $3)
"""
SELECT_NEWEST: Final = f"""
SELECT {_COLUMNS} FROM stored_item WHERE {_BELOW} AND {NARROWED} ORDER BY updated_at_us DESC, item_key DESC
LIMIT $7 OFFSET $8
"""
SELECT_RANKABLE: Final = f"""
SELECT root_key, encode(name_hash, 'hex') AS name_hash, item_key, updated_at_us, search_terms,
    CASE WHEN $7 THEN value ELSE '' END AS value
FROM stored_item WHERE {_BELOW} AND {NARROWED}
"""
SELECT_PASSAGES: Final = f"""
SELECT item_key, vector FROM stored_item JOIN item_passage USING (root_key, name_hash) WHERE {_BELOW} AND model = $5
"""
SELECT_FOUND: Final = f"SELECT item_key, {_COLUMNS} FROM stored_item WHERE {_NAMED}"
SELECT_NAMESPACES: Final = f"SELECT DISTINCT namespace FROM stored_item WHERE {_BELOW}"

A = TypeVar("A")

_Below: TypeAlias = tuple[str, str | None, int, UUID | None]

READ_AT_ONCE: Final = 500
"""Items that are compared with conditions before the next ones are fetched."""


async def _write(connection: Connection, puts: tuple[ItemPut, ...], *, now: datetime) -> Outcome[None, Never]:
    last = last_of_each(puts)
    removed = [put.name for put in last if put.value is None]
    stored = [put for put in last if put.value is not None]
    gone: list[ItemPut] = []
    if removed:
        deleted = {row["name_hash"] for row in await connection.fetch(DELETE_ITEMS, *_keys(removed))}
        gone = [put for put in last if put.value is None and _key(put.name)[1] in deleted]
    if stored:
        await connection.execute(
            PUT_ITEMS,
            *_keys([put.name for put in stored]),
            [new_key() for _ in stored],
            [to_text(put.name.namespace) for put in stored],
            [put.name.key for put in stored],
            [put.value for put in stored],
            [put.terms for put in stored],
            to_us(now),
            [lifetime_us(put.lifetime) for put in stored],
        )
        await connection.execute(DELETE_PASSAGES, *_keys([put.name for put in stored]))
    passages = [
        (*_key(put.name), number, put.model, vector_column(vector).hex())
        for put in stored
        for number, vector in enumerate(put.vectors)
    ]
    if passages:
        await connection.execute(INSERT_PASSAGES, *map(list, zip(*passages, strict=True)))
    await note_items(connection, [change_of_put(put) for put in (*gone, *stored)])
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
        await connection.execute(REFRESH_ITEM, *_key(name), to_us(now))
    return Success(None)


async def _sweep(connection: Connection, *, now: datetime) -> Outcome[int, Never]:
    gone = await connection.fetch(SWEEP, to_us(now))
    names = [ItemName(to_labels(row["namespace"]), row["key"]) for row in gone]
    await note_items(connection, [change_of_sweep(name) for name in names])
    return Success(len(gone))


async def _read(
    connection: Connection, names: tuple[ItemName, ...], *, now: datetime
) -> tuple[StoredItem | None, ...]:
    roots, hashes = _keys(names)
    rows = {row["name_hash"]: row for row in await connection.fetch(SELECT_ITEMS, roots, hashes, to_us(now))}
    return tuple([_item(rows[each]) if each in rows else None for each in hashes])


async def _search(connection: Connection, search: ItemSearch, /, *, now: datetime) -> tuple[StoredItem, ...]:
    below = _below(search.prefix, now)
    if search.is_query:
        items, keys = await _rankable(connection, search, below)
        places = ranked(search, items)
        roots = {keys[place][0] for place, _ in places}
        rows = await connection.fetch(SELECT_FOUND, [*roots], [keys[place][1] for place, _ in places])
        found = {row["item_key"].int: row for row in rows}
        return tuple([_item(found[place], score) for place, score in places])
    if not search.conditions:
        rows = await connection.fetch(SELECT_NEWEST, *below, None, "{}", search.limit, search.offset)
        return tuple(map(_item, rows))
    return await _fitting(connection, search, below)


async def _fitting(connection: Connection, search: ItemSearch, below: _Below) -> tuple[StoredItem, ...]:
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
    connection: Connection, search: ItemSearch, below: _Below
) -> tuple[list[Rankable], dict[int, tuple[str, str]]]:
    """Return what may be found, and by place the keys under which it stands."""
    similarities: dict[int, float] = {}
    if search.vector is not None:
        rows = await connection.fetch(SELECT_PASSAGES, *below, search.model)
        passages = [(row["item_key"].int, row["vector"]) for row in rows]
        similarities = best_similarities(search.vector, passages)
    parameters = (*below, *narrowed(search.conditions), bool(search.conditions))
    items: list[Rankable] = []
    keys: dict[int, tuple[str, str]] = {}
    for row in await connection.fetch(SELECT_RANKABLE, *parameters):
        if search.admits(row["value"]):
            place = row["item_key"].int
            keys[place] = str(row["root_key"]), row["name_hash"]
            similarity = similarities.get(place)
            items.append(Rankable(place, row["updated_at_us"], row["search_terms"], similarity))
    return items, keys


async def _namespaces(connection: Connection, prefix: Labels, *, now: datetime) -> tuple[Labels, ...]:
    rows = await connection.fetch(SELECT_NAMESPACES, *_below(prefix, now))
    return tuple(sorted([to_labels(row["namespace"]) for row in rows]))


def _below(prefix: Labels, now: datetime) -> _Below:
    return *span(prefix), to_us(now), root_key(prefix) if prefix else None


def _key(name: ItemName) -> tuple[str, str]:
    """Return root_key and name_hash."""
    text = f"{to_text(name.namespace)}\0{name.key}"
    return str(root_key(name.namespace)), hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _keys(names: Iterable[ItemName]) -> tuple[list[str], list[str]]:
    """Return the columns root_key and name_hash, a row for each name."""
    keys = [_key(name) for name in names]
    return [root for root, _ in keys], [name_hash for _, name_hash in keys]


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

    @property
    def log(self) -> PostgresEventLog:
        """See ``KeepsLog``."""
        return PostgresEventLog(self.database)

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
