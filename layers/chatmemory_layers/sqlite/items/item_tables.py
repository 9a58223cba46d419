"""The tables of items (``chatmemory/items/item_repository.py``); statements only, ``migrations.py`` executes the steps.

``namespace``      the labels, each followed by a ``.``
``value``          JSON, as it was given
``search_terms``   NULL: no query finds the item by words
``lifetime_us``    NULL: the item does not expire; else it expires at ``expires_at_us``
"""

from typing import Final

# Renamed to ``item`` in step 18.
CREATE_ITEM = """
CREATE TABLE stored_item (
    item_key INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    search_terms TEXT,
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL,
    lifetime_us INTEGER,
    expires_at_us INTEGER,
    UNIQUE (namespace, key)
)
"""
CREATE_EXPIRY = """
CREATE INDEX stored_item_expiry ON stored_item (expires_at_us) WHERE expires_at_us IS NOT NULL
"""
CREATE_PASSAGE = """
CREATE TABLE item_passage (
    item_key INTEGER NOT NULL,
    number INTEGER NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (item_key, number)
) WITHOUT ROWID
"""
CREATE_REMOVAL = """
CREATE TRIGGER stored_item_removed AFTER DELETE ON stored_item BEGIN
    DELETE FROM item_passage WHERE item_key = old.item_key;
END
"""
ITEM_STATEMENTS: Final = (CREATE_ITEM, CREATE_EXPIRY, CREATE_PASSAGE, CREATE_REMOVAL)

# Earlier values: the newest few of each item.
CREATE_ITEM_VERSION = """
CREATE TABLE item_version (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    search_terms TEXT,
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL,
    ended_at_us INTEGER NOT NULL,
    PRIMARY KEY (namespace, key, version)
)
"""
EARLIER: Final = (
    "ALTER TABLE stored_item ADD COLUMN version INTEGER NOT NULL DEFAULT 1",
    CREATE_ITEM_VERSION,
    "CREATE INDEX item_version_ended ON item_version (ended_at_us)",
)

CREATE_REWRITING = """
CREATE TRIGGER stored_item_rewritten AFTER UPDATE OF value ON stored_item BEGIN
    DELETE FROM item_passage WHERE item_key = old.item_key;
END
"""
