"""What tells an index of past chats from other SQLite files, in two numbers of its header.

A search reads them instead of the ledger of ``migrations.py``, with whose checksums it would wait longer than for its
answer.
"""

import sqlite3
from typing import Final

APPLICATION_ID: Final = 0x70636861
"""``pcha``, as ``file`` and others show it."""

NEWEST: Final = 2
"""The number of the last step in ``prompt_migrations.py``."""

OLDEST_READABLE: Final = 1
"""The later steps only make reading quicker: whoever upgrades goes on reading what the next index run will migrate."""


def versions_of(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the application id and the number of the last step."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application_id, version
