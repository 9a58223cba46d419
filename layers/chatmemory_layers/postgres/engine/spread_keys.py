"""Keys by which a distributed engine may spread the tables: made of names alone, so that nobody has to be asked for them.

A conversation's key is its id.  That of memories is the hash of their user, that of items the hash of the first label of
their namespace; each stands first in every primary key and unique index, and in every statement.
``tests/unit/postgres/test_spread_keys.py`` holds all tables and statements to it.
"""

import hashlib
from functools import lru_cache
from typing import Final
from uuid import UUID

from chatmemory.effect.services.ids import TimeOrderedIds
from chatmemory.items.item_repository import Labels

_REMEMBERED: Final = 512  # names: a batch has one of them many times

new_key: Final = TimeOrderedIds().next_id
"""Makes the key of a row within its spread key: a UUID as text, later ones behind earlier ones."""


def user_key(user: str) -> UUID:
    """Return the key of the memories of *user*, as migration 7 computes it in SQL."""
    return _hashed(user)


def branch_key(conversation_id: str) -> UUID:
    """Return the key of a branch among those of one conversation; its id may be too long for that."""
    return _hashed(conversation_id)


def term_salt(key: UUID) -> int:
    """Return the 64 bits with which the words of a new user's memories are hashed."""
    return int.from_bytes(key.bytes[:8], signed=True)


def root_key(namespace: Labels) -> UUID:
    """Return the key of the items of *namespace* and of all namespaces that begin with the same label."""
    return _hashed(namespace[0] if namespace else "")


@lru_cache(_REMEMBERED)
def _hashed(name: str) -> UUID:
    return UUID(bytes=hashlib.sha256(name.encode()).digest()[:16])
