"""``PostgresItemRepository``: ``ItemRepository`` in one PostgreSQL store, beside conversations and memories.

A search looks through the items below its prefix, as in ``sqlite/items/item_repository.py``.
"""

import hashlib
import json
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, Final, Never, TypeAlias, TypeVar, final
from uuid import UUID

from attrs import frozen

from chatmemory.effect import Effect, Failure, Layer, Outcome, Success
from chatmemory.errors import NotUndoableError, RepositoryError
from chatmemory.events.event import UNDO, because
from chatmemory.items.item_past import as_of_in, undoing_put
from chatmemory.items.item_ranking import Rankable, ranked
from chatmemory.items.item_repository import (
    Condition,
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepository,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
    StoredItem,
    Wanted,
    WholeItem,
    change_of_forgetting,
    change_of_put,
    change_of_sweep,
    last_of_each,
)
from chatmemory_layers.postgres.engine.connection import PLANNED_EACH_TIME, Connection, Row
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag
from chatmemory_layers.postgres.engine.groups import GroupedWork
from chatmemory_layers.postgres.engine.row_locks import ITEMS
from chatmemory_layers.postgres.engine.spread_keys import new_key, root_key
from chatmemory_layers.postgres.events.event_log import PostgresEventLog
from chatmemory_layers.postgres.events.noted_events import note_items
from chatmemory_layers.postgres.items.earlier_items import (
    FORGET_PAST,
    NAMED,
    earlier_item,
    keep_items,
)
from chatmemory_layers.sql.columns import to_us, vector_column
from chatmemory_layers.sql.item_columns import (
    ITEM,
    ValueRange,
    best_similarities,
    item_of,
    lifetime_us,
    narrowing,
    span,
    to_labels,
    to_text,
    whole_item,
)

# ruff: noqa: S608  conditions are put into statements, never values

READ_AT_ONCE: Final = 500
"""The number of items that are fetched at once to check conditions which SQL cannot check."""

A = TypeVar("A")

_Below: TypeAlias = tuple[str, str | None, int, UUID | None]

# $5 is the path, $6 has its variables.  PostgreSQL accepts neither NaN and Infinity in JSON nor \u0000 in text.
NARROWED: Final = r"""
CASE WHEN $5::text IS NULL OR value ~ '\\u|NaN|Infinity' THEN true
    ELSE jsonb_path_match(value::jsonb, $5::text::jsonpath, $6::text::jsonb, true) END
"""

# The parameters are arrays, with one element for each row.  An item that has expired at $8, the time, counts as new.
PUT_ITEMS: Final = """
WITH put AS (
    SELECT root_key, decode(name_hash, 'hex') AS name_hash, item_key, namespace, key, value, terms, lifetime_us, keeps
    FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
        $9::bigint[], $10::boolean[]
    ) AS put (root_key, name_hash, item_key, namespace, key, value, terms, lifetime_us, keeps)
), forgotten AS (
    DELETE FROM item_version USING put
    WHERE NOT keeps AND item_version.root_key = put.root_key AND item_version.name_hash = put.name_hash
)
INSERT INTO item AS old
    (root_key, name_hash, item_key, namespace, key, value, search_terms, created_at_us, updated_at_us, lifetime_us,
        expires_at_us, version)
SELECT root_key, name_hash, item_key, namespace, key, value, terms, $8::bigint, $8, lifetime_us, $8 + lifetime_us,
    CASE WHEN keeps THEN 1 + coalesce((
        SELECT max(version) FROM item_version
        WHERE item_version.root_key = put.root_key AND item_version.name_hash = put.name_hash
    ), 0) ELSE 1 END
FROM put
ON CONFLICT (root_key, name_hash) DO UPDATE SET
    value = excluded.value, search_terms = excluded.search_terms, updated_at_us = excluded.updated_at_us,
    created_at_us = CASE
        WHEN old.expires_at_us <= excluded.updated_at_us THEN excluded.created_at_us ELSE old.created_at_us
    END,
    lifetime_us = excluded.lifetime_us, expires_at_us = excluded.expires_at_us,
    version = CASE
        WHEN old.expires_at_us <= excluded.updated_at_us THEN excluded.version
        WHEN old.updated_at_us = excluded.updated_at_us THEN old.version
        ELSE old.version + 1
    END
"""
REMOVE_ITEMS: Final = f"""
DELETE FROM item WHERE {NAMED} RETURNING encode(name_hash, 'hex') AS name_hash
"""
DELETE_ITEMS: Final = f"""
WITH forgotten AS (DELETE FROM item_version WHERE {NAMED})
DELETE FROM item WHERE {NAMED} RETURNING encode(name_hash, 'hex') AS name_hash
"""
DELETE_PASSAGES: Final = f"DELETE FROM item_passage WHERE {NAMED}"
INSERT_PASSAGES: Final = """
INSERT INTO item_passage (root_key, name_hash, number, model, vector)
SELECT root_key, decode(name_hash, 'hex'), number, model, decode(vector, 'hex')
FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[])
    AS passage (root_key, name_hash, number, model, vector)
"""
REFRESH_ITEM: Final = """
UPDATE item SET expires_at_us = $3::bigint + lifetime_us
WHERE root_key = $1 AND name_hash = decode($2, 'hex') AND expires_at_us > $3
"""
SWEEP: Final = "DELETE FROM item WHERE expires_at_us <= $1 RETURNING namespace, key"

# left(): the index has only the beginning of a namespace, because an index row is limited.  $4 is NULL for the empty prefix.
_BELOW = """
    ($4::uuid IS NULL OR item.root_key = $4) AND left(namespace, 256) >= left($1::text, 256) AND namespace >= $1
    AND ($2::text IS NULL OR (left(namespace, 256) <= left($2, 256) AND namespace < $2))
    AND (expires_at_us IS NULL OR expires_at_us > $3)
"""
SELECT_ITEMS: Final = f"""
SELECT {ITEM}, encode(name_hash, 'hex') AS name_hash FROM item
WHERE {NAMED} AND (expires_at_us IS NULL OR expires_at_us > $3)
"""
SELECT_WHOLE: Final = f"""
SELECT {ITEM}, encode(name_hash, 'hex') AS name_hash, search_terms,
    ARRAY(
        SELECT model FROM item_passage
        WHERE item_passage.root_key = item.root_key AND item_passage.name_hash = item.name_hash ORDER BY number
    ) AS models,
    ARRAY(
        SELECT vector FROM item_passage
        WHERE item_passage.root_key = item.root_key AND item_passage.name_hash = item.name_hash ORDER BY number
    ) AS vectors
FROM item WHERE {NAMED} AND (expires_at_us IS NULL OR expires_at_us > $3)
"""
SELECT_NEWEST: Final = f"""
SELECT {ITEM} FROM item WHERE {_BELOW} AND {NARROWED} AND {PLANNED_EACH_TIME}
ORDER BY updated_at_us DESC, item_key DESC LIMIT $7 OFFSET $8
"""
SELECT_RANKABLE: Final = f"""
SELECT root_key, encode(name_hash, 'hex') AS name_hash, item_key, updated_at_us, search_terms,
    CASE WHEN $7 THEN value ELSE '' END AS value
FROM item WHERE {_BELOW} AND {NARROWED}
"""
SELECT_PASSAGES: Final = f"""
SELECT item_key, vector FROM item JOIN item_passage USING (root_key, name_hash) WHERE {_BELOW} AND model = $5
"""
SELECT_FOUND: Final = f"SELECT {ITEM}, item_key FROM item WHERE {NAMED}"
SELECT_NAMESPACES: Final = f"SELECT DISTINCT namespace FROM item WHERE {_BELOW}"


@final
@frozen
class PostgresItemRepository(ItemRepository):
    """Stores items in *database*."""

    database: Database

    @property
    def log(self) -> PostgresEventLog:
        """The log of the store."""
        return PostgresEventLog(self.database)

    def undo(
        self, name: ItemName, /, *, now: datetime
    ) -> Effect[StoredItem | None, NotUndoableError | RepositoryError]:
        return self.database.write("undo a change of an item", ITEMS, _undo, name, now=now)

    def forget(self, names: tuple[ItemName, ...], /) -> Effect[int, RepositoryError]:
        return self.database.write("forget items", ITEMS, _forget, names)

    def search(
        self, search: ItemSearch, /, *, now: datetime
    ) -> Effect[tuple[StoredItem, ...], RepositoryError]:
        takes_one_statement = not search.is_query and not search.conditions
        read = self.database.read if takes_one_statement else self.database.read_snapshot
        return read("search items", _search, search, now=now)

    def namespaces(self, prefix: Labels, *, now: datetime) -> Effect[tuple[Labels, ...], RepositoryError]:
        return self.database.read("list namespaces", _namespaces, prefix, now=now)

    def refresh(self, names: tuple[ItemName, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        return self.database.write("refresh items", ITEMS, _refresh, names, now=now)

    def sweep(self, *, now: datetime) -> Effect[int, RepositoryError]:
        return self.database.write("sweep items", ITEMS, _sweep, now=now)

    def read(
        self, names: tuple[ItemName, ...], *, now: datetime, as_of: int | datetime | None = None
    ) -> Effect[tuple[StoredItem | None, ...], RepositoryError]:
        # The primary server: an agent must read its latest writes.
        return self.database.read_primary("read items", _read, names, now=now, as_of=as_of)

    def whole(
        self, names: tuple[ItemName, ...], *, now: datetime
    ) -> Effect[tuple[WholeItem | None, ...], RepositoryError]:
        return self.database.read_primary("read items whole", _whole, names, now=now)

    def write(self, puts: tuple[ItemPut, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        return self.database.write_together(ITEMS, _WRITES, partial(_write, puts=puts, now=now))

    def change(self, steps: Callable[[], ItemChange[A]], *, now: datetime) -> Effect[A, RepositoryError]:
        return self.database.write_together(ITEMS, _CHANGES, partial(_change, steps=steps, now=now))


item_repository = Layer.effect(
    ItemRepositoryTag, Effect.service(DatabaseTag).map(PostgresItemRepository), needs=[DatabaseTag]
)


def _call(
    connection: Connection, work: Callable[[Connection], Coroutine[Any, Any, Outcome[Any, Any]]]
) -> Coroutine[Any, Any, Outcome[Any, Any]]:
    return work(connection)


# All writes of items have one owner: a batch may name any items, and two must not lock them in different orders.
_WRITES: Final[GroupedWork[Any, Any, Any]] = GroupedWork("store items", _call)
_CHANGES: Final[GroupedWork[Any, Any, Any]] = GroupedWork("change items", _call)


async def _write(connection: Connection, puts: tuple[ItemPut, ...], *, now: datetime) -> Outcome[None, Never]:
    last = last_of_each(puts)
    stored = [put for put in last if put.value is not None]
    deleted: set[str] = set()
    if keeping := [put.name for put in last if put.keeps]:
        await keep_items(connection, _keys(keeping), to_us(now))
    for statement, keeps in ((REMOVE_ITEMS, True), (DELETE_ITEMS, False)):
        if names := [put.name for put in last if put.value is None and put.keeps is keeps]:
            deleted |= {row["name_hash"] for row in await connection.fetch(statement, *_keys(names))}
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
            [put.keeps for put in stored],
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
        wanted = next(change)
        while True:
            wanted = change.send(await _answer(connection, wanted, now=now))
    except StopIteration as end:
        puts, answer = end.value
    await _write(connection, puts, now=now)
    return Success(answer)


async def _answer(connection: Connection, wanted: Wanted, *, now: datetime) -> tuple[StoredItem | None, ...]:
    if isinstance(wanted, ItemSearch):
        return await _search(connection, wanted, now=now)
    return await _read(connection, wanted, now=now)


async def _undo(
    connection: Connection, name: ItemName, /, *, now: datetime
) -> Outcome[StoredItem | None, NotUndoableError]:
    (present,) = await _read(connection, (name,), now=now)
    put = undoing_put(name, present, await earlier_item(connection, name, _key(name)))
    if not isinstance(put, ItemPut):
        return Failure(put)
    with because(UNDO):
        await _write(connection, (put,), now=now)
    return Success((await _read(connection, (name,), now=now))[0])


async def _forget(connection: Connection, names: tuple[ItemName, ...], /) -> Outcome[int, Never]:
    keys = _keys(names)
    await connection.execute(DELETE_PASSAGES, *keys)
    deleted = [*await connection.fetch(FORGET_PAST, *keys), *await connection.fetch(REMOVE_ITEMS, *keys)]
    found = {row["name_hash"] for row in deleted}
    gone = [name for name in dict.fromkeys(names) if _key(name)[1] in found]
    await note_items(connection, [change_of_forgetting(name) for name in gone])
    return Success(len(gone))


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
    connection: Connection, names: tuple[ItemName, ...], *, now: datetime, as_of: int | datetime | None = None
) -> tuple[StoredItem | None, ...]:
    roots, hashes = _keys(names)
    rows = {row["name_hash"]: row for row in await connection.fetch(SELECT_ITEMS, roots, hashes, to_us(now))}
    present = [_item(rows[each]) if each in rows else None for each in hashes]
    if as_of is None:
        return tuple(present)
    found: list[StoredItem | None] = []
    for name, item in zip(names, present, strict=True):
        earlier = await earlier_item(connection, name, _key(name), as_of)
        found.append(as_of_in(item, () if earlier is None else (earlier,), as_of))
    return tuple(found)


async def _whole(
    connection: Connection, names: tuple[ItemName, ...], *, now: datetime
) -> tuple[WholeItem | None, ...]:
    roots, hashes = _keys(names)
    found: dict[str, WholeItem] = {}
    for row in await connection.fetch(SELECT_WHOLE, roots, hashes, to_us(now)):
        passages = list(zip(row["models"], row["vectors"], strict=True))
        found[row["name_hash"]] = whole_item(_item(row), row["search_terms"], passages)
    return tuple([found.get(name_hash) for name_hash in hashes])


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
    """Check the items that SQL returns page by page, until enough of them fulfil the conditions."""
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
    """Return the items that may be found, and root_key and name_hash of each by its place in the ranking."""
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


def narrowed(conditions: Sequence[Condition]) -> tuple[str | None, str]:
    """Return the path and its variables; the path is None if PostgreSQL can check none of the conditions."""
    variables: dict[str, float | str | bool] = {}
    ranges = [each for each in narrowing(conditions) if (each.low, each.high) != (None, None)]
    parts = [_condition(each, number, variables) for number, each in enumerate(ranges, start=1)]
    return " && ".join(parts) or None, json.dumps(variables)


def _condition(range_: ValueRange, number: int, variables: dict[str, float | str | bool]) -> str:
    comparisons: list[str] = []
    for sign, end, bound in ((">=", "low", range_.low), ("<=", "high", range_.high)):
        if bound is not None:
            name = f"{end}_{number}"
            variables[name] = bound
            # PostgreSQL does not order true and false.
            comparisons.append(f"{{0}} {'==' if isinstance(bound, bool) else sign} ${name}")
    comparison = " && ".join(comparisons)
    return "(" + " || ".join([f"({comparison.format(path)})" for path in range_.paths]) + ")"


def _below(prefix: Labels, now: datetime) -> _Below:
    return *span(prefix), to_us(now), root_key(prefix) if prefix else None


def _key(name: ItemName) -> tuple[str, str]:
    """Return root_key and name_hash of an item."""
    text = f"{to_text(name.namespace)}\0{name.key}"
    return str(root_key(name.namespace)), hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _keys(names: Iterable[ItemName]) -> tuple[list[str], list[str]]:
    """Return the columns root_key and name_hash as arrays, with one element for each name."""
    keys = [_key(name) for name in names]
    return [root for root, _ in keys], [name_hash for _, name_hash in keys]


def _item(row: Row, score: float | None = None) -> StoredItem:
    return item_of(tuple(row.values()), score)
