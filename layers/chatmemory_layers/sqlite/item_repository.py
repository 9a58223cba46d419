"""``SqliteItemRepository``: ``ItemRepository`` in one file, beside conversations and memories.

A search looks through the items below its prefix: their words or vectors are compared exactly, a filter reads one value
after the other and stops when it has enough.
"""

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, Never, TypeAlias, TypeVar, final

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
from chatmemory_layers.sqlite.database import Database, DatabaseTag
from chatmemory_layers.sqlite.group_commit import Transaction

# ruff: noqa: S608  conditions are put into statements, never values

# What is gone at :now_us counts as new.
PUT_ITEM = """
INSERT INTO stored_item (namespace, key, value, search_terms, created_at_us, updated_at_us, lifetime_us, expires_at_us)
VALUES (:namespace, :key, :value, :terms, :now_us, :now_us, :lifetime_us, :now_us + :lifetime_us)
ON CONFLICT (namespace, key) DO UPDATE SET
    value = excluded.value, search_terms = excluded.search_terms, updated_at_us = excluded.updated_at_us,
    created_at_us = CASE WHEN expires_at_us <= excluded.updated_at_us THEN excluded.created_at_us ELSE created_at_us END,
    lifetime_us = excluded.lifetime_us, expires_at_us = excluded.expires_at_us
RETURNING item_key
"""
DELETE_ITEM = "DELETE FROM stored_item WHERE namespace = :namespace AND key = :key"
DELETE_PASSAGES = "DELETE FROM item_passage WHERE item_key = ?"
INSERT_PASSAGE = "INSERT INTO item_passage (item_key, number, model, vector) VALUES (?, ?, ?, ?)"
REFRESH_ITEM = """
UPDATE stored_item SET expires_at_us = :now_us + lifetime_us
WHERE namespace = :namespace AND key = :key AND expires_at_us > :now_us
"""
SWEEP = "DELETE FROM stored_item WHERE expires_at_us <= :now_us"

_COLUMNS = "namespace, key, value, created_at_us, updated_at_us, lifetime_us"
_ALIVE = "(expires_at_us IS NULL OR expires_at_us > :now_us)"
_BELOW = f"namespace >= :first AND (:behind IS NULL OR namespace < :behind) AND {_ALIVE}"
SELECT_ITEM = f"SELECT {_COLUMNS} FROM stored_item WHERE namespace = :namespace AND key = :key AND {_ALIVE}"
SELECT_NEWEST = f"""
SELECT {_COLUMNS} FROM stored_item WHERE {_BELOW} ORDER BY updated_at_us DESC, item_key DESC
LIMIT :limit OFFSET :offset
"""
SELECT_RANKABLE = f"SELECT item_key, updated_at_us, search_terms, NULL FROM stored_item WHERE {_BELOW}"
SELECT_RANKABLE_VALUES = (
    f"SELECT item_key, updated_at_us, search_terms, value FROM stored_item WHERE {_BELOW}"
)
SELECT_PASSAGES = f"""
SELECT item_key, vector, updated_at_us FROM stored_item JOIN item_passage USING (item_key) WHERE {_BELOW} AND model = :model
"""
SELECT_FOUND = f"SELECT {_COLUMNS} FROM stored_item WHERE item_key = ?"
SELECT_NAMESPACES = f"SELECT DISTINCT namespace FROM stored_item WHERE {_BELOW} ORDER BY namespace"

Parameters: TypeAlias = dict[str, Any]
A = TypeVar("A")
Q = TypeVar("Q")


@final
@frozen
class Named:
    """Items by their names, at a time."""

    names: tuple[ItemName, ...]
    now: datetime


@final
@frozen
class SqliteItemRepository:
    """Items in the file of *database*."""

    database: Database

    def write(self, puts: tuple[ItemPut, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        """See ``ItemRepository.write``."""
        return Effect.from_outcome(partial(self.database.write, "store items", _write, (puts, now)))

    def read(
        self, names: tuple[ItemName, ...], *, now: datetime
    ) -> Effect[tuple[StoredItem | None, ...], RepositoryError]:
        """See ``ItemRepository.read``."""
        return Effect.from_outcome(partial(self.database.read, "read items", _read, Named(names, now)))

    def search(
        self, search: ItemSearch, /, *, now: datetime
    ) -> Effect[tuple[StoredItem, ...], RepositoryError]:
        """See ``ItemRepository.search``."""
        return Effect.from_outcome(partial(self.database.read, "search items", _search, (search, now)))

    def namespaces(self, prefix: Labels, *, now: datetime) -> Effect[tuple[Labels, ...], RepositoryError]:
        """See ``ItemRepository.namespaces``."""
        return Effect.from_outcome(partial(self.database.read, "list namespaces", _namespaces, (prefix, now)))

    def refresh(self, names: tuple[ItemName, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        """See ``ItemRepository.refresh``."""
        return Effect.from_outcome(partial(self.database.write, "refresh items", _refresh, Named(names, now)))

    def sweep(self, *, now: datetime) -> Effect[int, RepositoryError]:
        """See ``ItemRepository.sweep``."""
        return Effect.from_outcome(partial(self.database.write, "sweep items", _sweep, now))


def _write(transaction: Transaction, request: tuple[tuple[ItemPut, ...], datetime]) -> Outcome[None, Never]:
    puts, now = request
    for put in puts:
        row = {**_named(put.name), "now_us": to_us(now)}
        if put.value is None:
            transaction.execute(DELETE_ITEM, row)
            continue
        row |= {"value": put.value, "terms": put.terms, "lifetime_us": lifetime_us(put.lifetime)}
        (item_key,) = transaction.execute(PUT_ITEM, row).fetchone()
        transaction.execute(DELETE_PASSAGES, (item_key,))
        for number, vector in enumerate(put.vectors):
            transaction.execute(INSERT_PASSAGE, (item_key, number, put.model, vector_column(vector)))
    return Success(None)


def _refresh(transaction: Transaction, request: Named) -> Outcome[None, Never]:
    now_us = to_us(request.now)
    for name in request.names:
        transaction.execute(REFRESH_ITEM, {**_named(name), "now_us": now_us})
    return Success(None)


def _sweep(transaction: Transaction, now: datetime) -> Outcome[int, Never]:
    return Success(transaction.execute(SWEEP, {"now_us": to_us(now)}).rowcount)


def _read(connection: sqlite3.Connection, request: Named) -> tuple[StoredItem | None, ...]:
    now_us = to_us(request.now)
    rows = [
        connection.execute(SELECT_ITEM, {**_named(name), "now_us": now_us}).fetchone()
        for name in request.names
    ]
    return tuple([None if row is None else _item(row) for row in rows])


def _search(connection: sqlite3.Connection, request: tuple[ItemSearch, datetime]) -> tuple[StoredItem, ...]:
    search, now = request
    below = _below(search.prefix, now)
    if search.is_query:
        places = ranked(search, list(_rankable(connection, search, below)))
        rows = [(connection.execute(SELECT_FOUND, (key,)).fetchone(), score) for key, score in places]
        return tuple([_item(row, score) for row, score in rows])
    if search.fits is None:
        page = {**below, "limit": search.limit, "offset": search.offset}
        return tuple(map(_item, connection.execute(SELECT_NEWEST, page).fetchall()))
    cursor = connection.execute(SELECT_NEWEST, {**below, "limit": -1, "offset": 0})
    try:
        fitting = (row for row in cursor if search.fits(json.loads(row[2])))
        return tuple(map(_item, islice(fitting, search.offset, search.offset + search.limit)))
    finally:
        cursor.close()


def _rankable(connection: sqlite3.Connection, search: ItemSearch, below: Parameters) -> Iterator[Rankable]:
    similarities: dict[int, float] = {}
    if search.vector is not None:
        passages = connection.execute(SELECT_PASSAGES, {**below, "model": search.model}).fetchall()
        similarities = best_similarities(search.vector, [(key, vector) for key, vector, _ in passages])
        if not search.terms and search.fits is None:
            times = {key: updated_at_us for key, _, updated_at_us in passages}
            yield from [
                Rankable(key, times[key], None, similarity) for key, similarity in similarities.items()
            ]
            return
    statement = SELECT_RANKABLE if search.fits is None else SELECT_RANKABLE_VALUES
    for key, updated_at_us, terms, value in connection.execute(statement, below).fetchall():
        if search.fits is None or search.fits(json.loads(value)):
            yield Rankable(key, updated_at_us, terms, similarities.get(key))


def _namespaces(connection: sqlite3.Connection, request: tuple[Labels, datetime]) -> tuple[Labels, ...]:
    rows = connection.execute(SELECT_NAMESPACES, _below(*request)).fetchall()
    return tuple([to_labels(namespace) for (namespace,) in rows])


def _named(name: ItemName) -> Parameters:
    return {"namespace": to_text(name.namespace), "key": name.key}


def _below(prefix: Labels, now: datetime) -> Parameters:
    first, behind = span(prefix)
    return {"first": first, "behind": behind, "now_us": to_us(now)}


def _item(row: Any, score: float | None = None) -> StoredItem:
    namespace, key, value, created_at_us, updated_at_us, lifetime = row
    return StoredItem(
        ItemName(to_labels(namespace), key),
        value,
        from_us(created_at_us),
        from_us(updated_at_us),
        lifetime is not None,
        score,
    )


item_repository = Layer.effect(
    ItemRepositoryTag, Effect.service(DatabaseTag).map(SqliteItemRepository), needs=[DatabaseTag]
)
