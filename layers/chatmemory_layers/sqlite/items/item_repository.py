"""``SqliteItemRepository``: ``ItemRepository`` in one file, beside conversations and memories.

A search reads the items below its prefix: it compares their words or vectors exactly; SQL narrows conditions on values,
then each value is compared until there are enough items.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final, Never, TypeAlias, TypeVar, final

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
from chatmemory_layers.sql.columns import to_us, vector_column
from chatmemory_layers.sql.item_columns import (
    ITEM,
    ValueRange,
    best_similarities,
    item_of,
    lifetime_us,
    narrowing,
    nearest,
    span,
    to_labels,
    to_text,
    whole_item,
)
from chatmemory_layers.sqlite.engine.database import DatabaseTag
from chatmemory_layers.sqlite.engine.jobs import Database
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import SqliteEventLog, note
from chatmemory_layers.sqlite.items.earlier_items import FORGET_PAST, earlier_item, keep_items

# ruff: noqa: S608  conditions are put into statements, never values

Parameters: TypeAlias = dict[str, Any]
A = TypeVar("A")

# SQLite reads neither NaN nor Infinity as JSON, and may not find an escaped name that is not ASCII.
_NARROWED: Final = """
CASE WHEN NOT json_valid(value) OR (:has_other_script AND instr(value, '\\u')) THEN 1 ELSE {} END
"""

# An item that has expired at :now_us counts as new.
PUT_ITEM = """
INSERT INTO item (namespace, key, value, search_terms, created_at_us, updated_at_us, lifetime_us, expires_at_us, version)
VALUES (:namespace, :key, :value, :terms, :now_us, :now_us, :lifetime_us, :now_us + :lifetime_us,
    1 + coalesce((SELECT max(version) FROM item_version WHERE namespace = :namespace AND key = :key), 0))
ON CONFLICT (namespace, key) DO UPDATE SET
    value = excluded.value, search_terms = excluded.search_terms, updated_at_us = excluded.updated_at_us,
    created_at_us = CASE WHEN expires_at_us <= excluded.updated_at_us THEN excluded.created_at_us ELSE created_at_us END,
    lifetime_us = excluded.lifetime_us, expires_at_us = excluded.expires_at_us,
    version = CASE
        WHEN expires_at_us <= excluded.updated_at_us THEN excluded.version
        WHEN updated_at_us = excluded.updated_at_us THEN version
        ELSE version + 1
    END
"""
DELETE_ITEM = "DELETE FROM item WHERE namespace = :namespace AND key = :key"
INSERT_PASSAGE = """
INSERT INTO item_passage (item_key, number, model, vector)
SELECT item_key, :number, :model, :vector FROM item WHERE namespace = :namespace AND key = :key
"""
REFRESH_ITEM = """
UPDATE item SET expires_at_us = :now_us + lifetime_us
WHERE namespace = :namespace AND key = :key AND expires_at_us > :now_us
"""
SWEEP = "DELETE FROM item WHERE expires_at_us <= :now_us RETURNING namespace, key"

_ALIVE = "(expires_at_us IS NULL OR expires_at_us > :now_us)"
_BELOW = f"namespace >= :first AND (:behind IS NULL OR namespace < :behind) AND {_ALIVE}"
SELECT_ITEM = f"SELECT {ITEM} FROM item WHERE namespace = :namespace AND key = :key AND {_ALIVE}"
# CROSS: reads the names first, then the item of each by the index.
SELECT_ITEMS = f"""
SELECT namespace, item.key, item.value, created_at_us, updated_at_us, lifetime_us, version
FROM json_each(:names) AS name CROSS JOIN item
    ON namespace = json_extract(name.value, '$[0]') AND item.key = json_extract(name.value, '$[1]')
WHERE {_ALIVE}
"""
# {} is replaced by the conditions on the value, see ``narrowed``.
SELECT_NEWEST = f"""
SELECT {ITEM} FROM item WHERE {_BELOW} AND {{}} ORDER BY updated_at_us DESC, item_key DESC
LIMIT :limit OFFSET :offset
"""
SELECT_RANKABLE = f"SELECT item_key, updated_at_us, search_terms, NULL FROM item WHERE {_BELOW}"
SELECT_RANKABLE_VALUES = (
    f"SELECT item_key, updated_at_us, search_terms, value FROM item WHERE {_BELOW} AND {{}}"
)
SELECT_PASSAGES = f"""
SELECT item_key, vector, updated_at_us FROM item JOIN item_passage USING (item_key) WHERE {_BELOW} AND model = :model
"""
SELECT_FOUND = f"SELECT {ITEM} FROM item WHERE item_key = ?"
SELECT_WHOLE = f"""
SELECT {ITEM}, item_key, search_terms FROM item WHERE namespace = :namespace AND key = :key AND {_ALIVE}
"""
SELECT_PASSAGES_OF = "SELECT model, vector FROM item_passage WHERE item_key = ? ORDER BY number"
SELECT_NAMESPACES = f"SELECT DISTINCT namespace FROM item WHERE {_BELOW}"


@final
@frozen
class SqliteItemRepository(ItemRepository):
    """Keeps items in the file of *database*."""

    database: Database

    @property
    def log(self) -> SqliteEventLog:
        """The log of the store."""
        return SqliteEventLog(self.database)

    def write(self, puts: tuple[ItemPut, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        return self.database.write("store items", _write, puts, now=now)

    def read(
        self, names: tuple[ItemName, ...], *, now: datetime, as_of: int | datetime | None = None
    ) -> Effect[tuple[StoredItem | None, ...], RepositoryError]:
        return self.database.read("read items", _read, names, now=now, as_of=as_of)

    def whole(
        self, names: tuple[ItemName, ...], *, now: datetime
    ) -> Effect[tuple[WholeItem | None, ...], RepositoryError]:
        return self.database.read("read items whole", _whole, names, now=now)

    def undo(
        self, name: ItemName, /, *, now: datetime
    ) -> Effect[StoredItem | None, NotUndoableError | RepositoryError]:
        return self.database.write("undo a change of an item", _undo, name, now=now)

    def forget(self, names: tuple[ItemName, ...], /) -> Effect[int, RepositoryError]:
        return self.database.erase("forget items", _forget, bool, names)

    def search(
        self, search: ItemSearch, /, *, now: datetime
    ) -> Effect[tuple[StoredItem, ...], RepositoryError]:
        return self.database.read("search items", _search, search, now=now)

    def namespaces(self, prefix: Labels, *, now: datetime) -> Effect[tuple[Labels, ...], RepositoryError]:
        return self.database.read("list namespaces", _namespaces, prefix, now=now)

    def refresh(self, names: tuple[ItemName, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        return self.database.write("refresh items", _refresh, names, now=now)

    def sweep(self, *, now: datetime) -> Effect[int, RepositoryError]:
        return self.database.write("sweep items", _sweep, now=now)

    def change(self, steps: Callable[[], ItemChange[A]], *, now: datetime) -> Effect[A, RepositoryError]:
        return self.database.write("change items", _change, steps, now=now)


item_repository = Layer.effect(
    ItemRepositoryTag, Effect.service(DatabaseTag).map(SqliteItemRepository), needs=[DatabaseTag]
)


def _write(transaction: Transaction, puts: tuple[ItemPut, ...], *, now: datetime) -> Outcome[None, Never]:
    now_us = to_us(now)
    removed: list[tuple[ItemPut, Parameters]] = []
    stored: list[Parameters] = []
    passages: list[Parameters] = []
    kept: list[ItemPut] = []
    keeping: list[Parameters] = []
    forgetting: list[Parameters] = []
    for put in last_of_each(puts):
        name: Parameters = {**_named(put.name), "now_us": now_us}
        (keeping if put.keeps else forgetting).append(name)
        if put.value is None:
            removed.append((put, name))
            continue
        kept.append(put)
        lifetime = lifetime_us(put.lifetime)
        stored.append({**name, "value": put.value, "terms": put.terms, "lifetime_us": lifetime})
        for number, vector in enumerate(put.vectors):
            column = vector_column(vector)
            passages.append({**name, "number": number, "model": put.model, "vector": column})
    keep_items(transaction, keeping)
    if forgetting:
        transaction.executemany(FORGET_PAST, forgetting)
    gone = [put for put, name in removed if transaction.execute(DELETE_ITEM, name).rowcount]
    for statement, rows in ((PUT_ITEM, stored), (INSERT_PASSAGE, passages)):
        if rows:
            transaction.executemany(statement, rows)
    note(transaction, [change_of_put(put) for put in (*gone, *kept)])
    return Success(None)


def _change(
    transaction: Transaction, steps: Callable[[], ItemChange[A]], *, now: datetime
) -> Outcome[A, Never]:
    change = steps()
    try:
        wanted = next(change)
        while True:
            wanted = change.send(_answer(transaction, wanted, now=now))
    except StopIteration as end:
        puts, answer = end.value
    _write(transaction, puts, now=now)
    return Success(answer)


def _answer(transaction: Transaction, wanted: Wanted, *, now: datetime) -> tuple[StoredItem | None, ...]:
    if isinstance(wanted, ItemSearch):  # a search closes its cursors, so it needs its own
        return _search(transaction.cursor.connection, wanted, now=now)
    return _read(transaction, wanted, now=now)


def _undo(
    transaction: Transaction, name: ItemName, /, *, now: datetime
) -> Outcome[StoredItem | None, NotUndoableError]:
    (present,) = _read(transaction, (name,), now=now)
    put = undoing_put(name, present, earlier_item(transaction, name))
    if not isinstance(put, ItemPut):
        return Failure(put)
    with because(UNDO):
        _write(transaction, (put,), now=now)
    return Success(_read(transaction, (name,), now=now)[0])


def _forget(transaction: Transaction, names: tuple[ItemName, ...], /) -> Outcome[int, Never]:
    gone: list[ItemName] = []
    for name in dict.fromkeys(names):
        removed = transaction.execute(DELETE_ITEM, _named(name)).rowcount
        if removed + transaction.execute(FORGET_PAST, _named(name)).rowcount:
            gone.append(name)
    note(transaction, map(change_of_forgetting, gone))
    return Success(len(gone))


def _refresh(transaction: Transaction, names: tuple[ItemName, ...], *, now: datetime) -> Outcome[None, Never]:
    now_us = to_us(now)
    for name in names:
        transaction.execute(REFRESH_ITEM, {**_named(name), "now_us": now_us})
    return Success(None)


def _sweep(transaction: Transaction, *, now: datetime) -> Outcome[int, Never]:
    gone = transaction.execute(SWEEP, {"now_us": to_us(now)}).fetchall()
    note(transaction, [change_of_sweep(ItemName(to_labels(namespace), key)) for namespace, key in gone])
    return Success(len(gone))


def _read(
    connection: sqlite3.Connection | Transaction,
    names: tuple[ItemName, ...],
    *,
    now: datetime,
    as_of: int | datetime | None = None,
) -> tuple[StoredItem | None, ...]:
    if as_of is not None:
        present = _read(connection, names, now=now)
        return tuple(
            [_as_of(connection, name, item, as_of) for name, item in zip(names, present, strict=True)]
        )
    now_us = to_us(now)
    if len(names) == 1:
        (name,) = names
        row = connection.execute(SELECT_ITEM, {**_named(name), "now_us": now_us}).fetchone()
        return (None if row is None else item_of(row),)
    columns = [(to_text(name.namespace), name.key) for name in names]
    wanted = {"names": json.dumps(columns, ensure_ascii=False), "now_us": now_us}
    rows = {row[:2]: row for row in connection.execute(SELECT_ITEMS, wanted).fetchall()}
    return tuple([item_of(rows[key]) if key in rows else None for key in columns])


def _as_of(
    connection: sqlite3.Connection | Transaction,
    name: ItemName,
    present: StoredItem | None,
    as_of: int | datetime,
) -> StoredItem | None:
    earlier = earlier_item(connection, name, as_of)
    return as_of_in(present, () if earlier is None else (earlier,), as_of)


def _whole(
    connection: sqlite3.Connection, names: tuple[ItemName, ...], *, now: datetime
) -> tuple[WholeItem | None, ...]:
    found: list[WholeItem | None] = []
    for name in names:
        asked = {**_named(name), "now_us": to_us(now)}
        row = connection.execute(SELECT_WHOLE, asked).fetchone()
        if row is None:
            found.append(None)
            continue
        *_, item_key, terms = row
        passages = connection.execute(SELECT_PASSAGES_OF, (item_key,)).fetchall()
        found.append(whole_item(item_of(row), terms, passages))
    return tuple(found)


def _search(
    connection: sqlite3.Connection, search: ItemSearch, /, *, now: datetime
) -> tuple[StoredItem, ...]:
    below = _below(search.prefix, now)
    if search.is_query:
        places = ranked(search, list(_rankable(connection, search, below)))
        rows = [(connection.execute(SELECT_FOUND, (key,)).fetchone(), score) for key, score in places]
        return tuple([item_of(row, score) for row, score in rows])
    if not search.conditions:
        page = {**below, "limit": search.limit, "offset": search.offset}
        return tuple(map(item_of, connection.execute(SELECT_NEWEST.format("1"), page).fetchall()))
    condition, parameters = narrowed(search.conditions)
    everything = {**below, **parameters, "limit": -1, "offset": 0}
    cursor = connection.execute(SELECT_NEWEST.format(condition), everything)
    try:
        fitting = (row for row in cursor if search.admits(row[2]))
        return tuple(map(item_of, islice(fitting, search.offset, search.offset + search.limit)))
    finally:
        cursor.close()


def _rankable(connection: sqlite3.Connection, search: ItemSearch, below: Parameters) -> Iterator[Rankable]:
    similarities: dict[int, float] = {}
    if search.vector is not None:
        passages = connection.execute(SELECT_PASSAGES, {**below, "model": search.model}).fetchall()
        similarities = best_similarities(search.vector, [(key, vector) for key, vector, _ in passages])
        if not search.terms and not search.conditions:
            times = {key: updated_at_us for key, _, updated_at_us in passages}
            best = nearest(similarities, search.offset + search.limit)
            yield from [Rankable(key, times[key], None, similarity) for key, similarity in best]
            return
    condition, parameters = narrowed(search.conditions)
    statement = SELECT_RANKABLE_VALUES.format(condition) if search.conditions else SELECT_RANKABLE
    for key, updated_at_us, terms, value in connection.execute(statement, {**below, **parameters}).fetchall():
        if search.admits(value):
            yield Rankable(key, updated_at_us, terms, similarities.get(key))


def _namespaces(connection: sqlite3.Connection, prefix: Labels, *, now: datetime) -> tuple[Labels, ...]:
    rows = connection.execute(SELECT_NAMESPACES, _below(prefix, now)).fetchall()
    return tuple(sorted([to_labels(namespace) for (namespace,) in rows]))


def narrowed(conditions: Sequence[Condition]) -> tuple[str, Parameters]:
    """Return an SQL condition on ``value`` for a WHERE clause, and its parameters."""
    parameters: Parameters = {}
    parts = [
        _condition(range_, number, parameters) for number, range_ in enumerate(narrowing(conditions), start=1)
    ]
    if not parts:
        return "1", {}
    parameters["has_other_script"] = not all(condition.field.isascii() for condition in conditions)
    return _NARROWED.format(" AND ".join(parts)), parameters


def _condition(range_: ValueRange, number: int, parameters: Parameters) -> str:
    low, high = f"low_{number}", f"high_{number}"
    if range_.low is not None:
        parameters[low] = range_.low
    if range_.high is not None:
        parameters[high] = range_.high
    match (low in parameters, high in parameters):
        case (True, True):
            comparison = f"BETWEEN :{low} AND :{high}"
        case (True, False):
            comparison = f">= :{low}"
        case (False, True):
            comparison = f"<= :{high}"
        case _:
            comparison = "IS NULL"
    names = [f"path_{number}_{place}" for place in range(len(range_.paths))]
    parameters.update(zip(names, range_.paths, strict=True))
    return "(" + " OR ".join([f"json_extract(value, :{name}) {comparison}" for name in names]) + ")"


def _named(name: ItemName) -> Parameters:
    return {"namespace": to_text(name.namespace), "key": name.key}


def _below(prefix: Labels, now: datetime) -> Parameters:
    first, behind = span(prefix)
    return {"first": first, "behind": behind, "now_us": to_us(now)}
