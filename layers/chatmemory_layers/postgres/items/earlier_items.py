"""Keeps, reads and restores earlier values of items."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from chatmemory.items.item_past import MOST_EARLIER, EarlierItem
from chatmemory.items.item_repository import ItemName
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sql.item_columns import EARLIER_ITEM, earlier_item_of

NAMED: Final = """root_key = ANY ($1::uuid[])
    AND name_hash = ANY (ARRAY(SELECT decode(wanted, 'hex') FROM unnest($2::text[]) AS wanted))
"""
# A value that is replaced in the instant in which it was put, or that has a lifetime, is not kept.
KEEP_ITEMS: Final = f"""
INSERT INTO item_version (root_key, name_hash, version, value, search_terms, created_at_us, updated_at_us, ended_at_us)
SELECT root_key, name_hash, version, value, search_terms, created_at_us, updated_at_us, $3::bigint FROM item
WHERE {NAMED} AND lifetime_us IS NULL AND updated_at_us <> $3
"""  # noqa: S608  made of a constant
TRIM_ITEMS: Final = f"""
DELETE FROM item_version USING (
    SELECT root_key, name_hash, version,
        row_number() OVER (PARTITION BY root_key, name_hash ORDER BY version DESC) AS place
    FROM item_version WHERE {NAMED}
) AS old
WHERE old.place > {MOST_EARLIER} AND item_version.root_key = old.root_key AND item_version.name_hash = old.name_hash
    AND item_version.version = old.version
"""  # noqa: S608  made of constants
FORGET_PAST: Final = f"""
DELETE FROM item_version WHERE {NAMED} RETURNING encode(name_hash, 'hex') AS name_hash
"""  # noqa: S608  made of a constant

_EARLIER: Final = f"""
SELECT {EARLIER_ITEM} FROM item_version WHERE root_key = $1 AND name_hash = decode($2, 'hex')
"""  # noqa: S608  made of a constant
SELECT_VERSION: Final = f"{_EARLIER} AND version = $3"
SELECT_AT: Final = f"{_EARLIER} AND updated_at_us <= $3 AND ended_at_us > $3 ORDER BY version DESC LIMIT 1"
SELECT_NEWEST_EARLIER: Final = f"{_EARLIER} ORDER BY version DESC LIMIT 1"
Keys = tuple[list[str], list[str]]
"""The columns root_key and name_hash."""


async def keep_items(connection: Connection, keys: Keys, now_us: int) -> None:
    """Keep the values that are about to be replaced or removed."""
    kept = await connection.execute(KEEP_ITEMS, *keys, now_us)
    if kept != "INSERT 0 0":
        await connection.execute(TRIM_ITEMS, *keys)


async def earlier_item(
    connection: Connection, name: ItemName, key: Sequence[str], as_of: int | datetime | None = None
) -> EarlierItem | None:
    """Return the earlier value of an item at a version or an instant, the newest for None; *key*: its columns root_key and name_hash."""
    if as_of is None:
        rows = await connection.fetch(SELECT_NEWEST_EARLIER, *key)
    elif isinstance(as_of, int):
        rows = await connection.fetch(SELECT_VERSION, *key, as_of)
    else:
        rows = await connection.fetch(SELECT_AT, *key, to_us(as_of))
    return earlier_item_of(name, tuple(rows[0].values())) if rows else None
