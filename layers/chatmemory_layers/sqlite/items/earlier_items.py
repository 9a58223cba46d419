"""Stores, reads and restores earlier values of items, inside transactions that other writes may share."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from chatmemory.items.item_past import MOST_EARLIER, EarlierItem
from chatmemory.items.item_repository import ItemName
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sql.item_columns import EARLIER_ITEM, earlier_item_of, to_text
from chatmemory_layers.sqlite.engine.transaction import Transaction

# An item that is put twice in one instant, or that has a lifetime, keeps no earlier value.
KEEP_ITEM = """
INSERT INTO item_version (namespace, key, version, value, search_terms, created_at_us, updated_at_us, ended_at_us)
SELECT namespace, key, version, value, search_terms, created_at_us, updated_at_us, :now_us FROM item
WHERE namespace = :namespace AND key = :key AND lifetime_us IS NULL AND updated_at_us <> :now_us
"""
TRIM_ITEM = f"""
DELETE FROM item_version WHERE namespace = :namespace AND key = :key AND version IN (
    SELECT version FROM item_version WHERE namespace = :namespace AND key = :key
    ORDER BY version DESC LIMIT -1 OFFSET {MOST_EARLIER}
)
"""  # noqa: S608  made of a constant
FORGET_PAST = "DELETE FROM item_version WHERE namespace = :namespace AND key = :key"

_EARLIER = f"""
SELECT {EARLIER_ITEM} FROM item_version WHERE namespace = :namespace AND key = :key
"""  # noqa: S608  made of a constant
SELECT_VERSION = f"{_EARLIER} AND version = :as_of"
SELECT_AT = f"{_EARLIER} AND updated_at_us <= :as_of AND ended_at_us > :as_of ORDER BY version DESC LIMIT 1"
SELECT_NEWEST_EARLIER = f"{_EARLIER} ORDER BY version DESC LIMIT 1"


def keep_items(transaction: Transaction, names: Sequence[dict[str, Any]]) -> None:
    """Store the values that are about to be replaced or removed; each of *names* also contains ``now_us``."""
    if names:
        transaction.executemany(KEEP_ITEM, names)
        transaction.executemany(TRIM_ITEM, names)


def earlier_item(
    connection: sqlite3.Connection | Transaction, name: ItemName, as_of: int | datetime | None = None
) -> EarlierItem | None:
    """Return the value of a version or of an instant; None for *as_of*: the newest earlier value.  None when there is none."""
    asked: dict[str, Any] = {"namespace": to_text(name.namespace), "key": name.key}
    if as_of is None:
        row = connection.execute(SELECT_NEWEST_EARLIER, asked).fetchone()
    elif isinstance(as_of, int):
        row = connection.execute(SELECT_VERSION, {**asked, "as_of": as_of}).fetchone()
    else:
        row = connection.execute(SELECT_AT, {**asked, "as_of": to_us(as_of)}).fetchone()
    return None if row is None else earlier_item_of(name, row)
