"""``Owner``: the owner of a write, and the lock that lets one writer at a time write for this owner.

On one server each transaction takes an advisory lock, which is cheap and needs no row.  Only the server that gave such a
lock knows it, and programs may write to a distributed store through several servers; there, transactions lock a row.
``is_spread`` recognizes a distributed store when it is opened.  A row that does not exist cannot be locked: of two writers
that create the same conversation at once, one violates a unique index, and its transaction is run again.
"""

import hashlib
from collections.abc import Callable
from typing import Final, Self, final

from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.spread_keys import term_salt, user_key

# Citus's own catalog; to_regclass does not fail where there is none.
SELECT_HAS_CATALOG: Final = "SELECT to_regclass('pg_dist_partition') IS NOT NULL AS has_catalog"
SELECT_IS_SPREAD: Final = """
SELECT EXISTS (
    SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('conversation') AND partmethod = 'h'
) AS is_spread
"""

_CONVERSATION: Final = "SELECT FROM conversation WHERE conversation_id = {} FOR UPDATE;"
# One round trip.  For the service: row-level security would not lock a row that the caller may read and not change.
_HOLD: Final = """
SELECT set_config('chatmemory.principal_before', coalesce(current_setting('chatmemory.principal', TRUE), ''), TRUE);
SELECT set_config('chatmemory.principal', '*', TRUE);
SELECT pg_advisory_xact_lock({lock});
{row}
SELECT set_config('chatmemory.principal', current_setting('chatmemory.principal_before', TRUE), TRUE);
"""
# The row is created first: for a user without a row, no unique index would stop two writers that decide from old facts.
_USER: Final = """
INSERT INTO memory_user (user_key, user_name, term_salt) VALUES ('{key}'::uuid, {name}, {salt}) ON CONFLICT DO NOTHING;
SELECT FROM memory_user WHERE user_key = '{key}'::uuid FOR UPDATE;
"""
# A row of the table of migrations, which every server has.
_OF_THE_STORE: Final = "SELECT FROM chatmemory_migration WHERE number = {} FOR UPDATE;"

MEMORIES_OF: Final = "memories of "
"""The prefix of the name of an owner of memories; the name of the user follows."""


@final
class Owner(str):
    """The name of an owner, with the statements that begin each transaction of this owner.

    Attributes:
        row: returns, for the name, the statement that locks a row of the owner; used where advisory locks are not enough.
        first: a statement that is sent behind the lock in the same round trip; empty: none.
    """

    row: Callable[[str], str]
    first: str

    def __new__(cls, owner: str, *, row: Callable[[str], str], first: str = "") -> Self:
        """Create the owner called *owner*; see the attributes for the rest."""
        self = super().__new__(cls, owner)
        self.row = row
        self.first = first
        return self


def _owner_of_store(owner: str, *, step: int) -> Owner:
    """Return an owner of writes whose row is that of a step of the schema."""
    return Owner(owner, row=lambda _: _OF_THE_STORE.format(step))


ITEMS: Final = _owner_of_store("items", step=3)
"""One writer of items writes at a time."""

LOG: Final = _owner_of_store("the log", step=10)
"""One program prunes the log at a time."""

TREES: Final = _owner_of_store("trees of conversations", step=14)
"""One write of several conversations happens at a time."""


def conversation_owner(conversation_id: str) -> Owner:
    """Return the owner of the writes of a conversation."""
    return Owner(conversation_id, row=conversation_row)


def lock_of(owner: str) -> int:
    """Return the number of the advisory lock of *owner*."""
    return int.from_bytes(hashlib.blake2b(owner.encode(), digest_size=8).digest(), signed=True)


async def has_catalog(connection: Connection) -> bool:
    """Return whether the database has Citus."""
    (found,) = await connection.fetch(SELECT_HAS_CATALOG)
    return bool(found["has_catalog"])


async def is_spread(connection: Connection) -> bool:
    """Return whether the tables of the store are spread over servers."""
    if not await has_catalog(connection):
        return False
    (spread,) = await connection.fetch(SELECT_IS_SPREAD)
    return bool(spread["is_spread"])


def conversation_row(owner: str) -> str:
    """Return the statement that locks the conversation whose id is *owner*."""
    return _CONVERSATION.format(quoted(owner))


async def hold(connection: Connection, conversation_id: str) -> None:
    """Lock a further conversation until the transaction ends, by its advisory lock and, where it has one, by its row.

    The transaction does not know whether the tables are spread over servers, and on one server the row costs nothing.
    """
    await connection.execute(
        _HOLD.format(lock=lock_of(conversation_id), row=conversation_row(conversation_id))
    )


def user_row(owner: str) -> str:
    """Return the statements that create and lock the row of the user that *owner* names, see ``MEMORIES_OF``."""
    name = owner.removeprefix(MEMORIES_OF)
    key = user_key(name)
    return _USER.format(key=key, name=quoted(name), salt=term_salt(key))


def quoted(text: str) -> str:
    r"""Return *text* as a literal of SQL that means the same under any setting of the server.

    >>> print(quoted("it's a \\"))
    E'it\'s a \\'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"E'{escaped}'"
