"""``dedup_key``: what two memories have in common when the second one need not be stored."""

from hashlib import sha256
from json import JSONEncoder
from typing import Final, assert_never

from chatmemory.input.json_value import Json
from chatmemory.longterm.memories import DedupPolicy, NewMemory

PREFIX_CHARACTERS: Final = 50  # spec 000, "Deduplication by session and role"

# One encoder for all: making it takes as long as what it encodes.
_canonical: Final = JSONEncoder(sort_keys=True, default=dict).encode


def dedup_key(memory: NewMemory, policy: DedupPolicy) -> bytes | None:
    """Return 32 bytes that are the same for duplicates under *policy*; None: it has none.

    The user and the app are no part of it: a repository compares keys within them.
    """
    parts: tuple[Json, ...]
    match policy:
        case "none":
            return None
        case "first_50_characters":
            parts = (policy, memory.session_id, memory.role, memory.content[:PREFIX_CHARACTERS])
        case "exact":
            parts = (policy, memory.role, memory.key, memory.value, memory.content)
        case _:
            assert_never(policy)
    # JSON keeps apart what a separator could join, and None from the text "None".
    return sha256(_canonical(parts).encode()).digest()
