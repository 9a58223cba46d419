"""The keys by which a distributed engine may spread the tables.  They are computed from names, without asking the store.

The key of a conversation is its id.  The key of memories is the hash of their user, the key of items the hash of the first
label of their namespace.  Each is the first column of every primary key and unique index, and a condition of every
statement; ``tests/unit/postgres/test_spread_keys.py`` checks all tables and statements.
"""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from uuid import UUID

from chatmemory.effect.services.ids import TimeOrderedIds
from chatmemory.items.item_repository import Labels

SPREAD_BY: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "conversation",
            "conversation_tree",
            "chat_message",
            "summarization_metadata",
            "summary_coverage",
            "history_work",
            "conversation_event",
        ),
        "conversation_id",
    ),
    **dict.fromkeys(
        (
            "memory_user",
            "atomic_memory",
            "memory_embedding",
            "memory_use",
            "memory_event",
            "memory_version",
            "first_answer",
        ),
        "user_key",
    ),
    **dict.fromkeys(("item", "item_passage", "item_event", "item_version"), "root_key"),
}
"""The column by which each table is spread.  A table comes before the tables that refer to it."""

EVERYWHERE: Final = ("chatmemory_migration", "memory_space")
"""Small tables that hardly change, so that each server may have all of their rows."""

_REMEMBERED: Final = 512  # names: a batch repeats the same ones

new_key: Final = TimeOrderedIds().next_id
"""Returns a new key for a row among those of one spread key: a UUID as text; later ones sort behind earlier ones."""


def user_key(user: str) -> UUID:
    """Return the key of the memories of *user*, as migration 7 computes it in SQL."""
    return _hashed(user)


def branch_key(conversation_id: str) -> UUID:
    """Return the key of a branch among the branches of one conversation; the id of a branch may be too long for an index."""
    return _hashed(conversation_id)


def term_salt(key: UUID) -> int:
    """Return the 64 bits that salt the hashes of the words in the memories of a new user."""
    return int.from_bytes(key.bytes[:8], signed=True)


def root_key(namespace: Labels) -> UUID:
    """Return the key of the items of *namespace* and of all namespaces that begin with the same label."""
    return _hashed(namespace[0] if namespace else "")


@lru_cache(_REMEMBERED)
def _hashed(name: str) -> UUID:
    return UUID(bytes=hashlib.sha256(name.encode()).digest()[:16])
