"""``made_id``: derives ids from a key, so that a repeated write has the same ids and stores nothing twice.

No list of earlier keys is needed: a repeated write is recognized after a crash, by another process, and for ever.
"""

from hashlib import sha256


def made_id(*parts: str) -> str:
    """Return an id of 32 hexadecimal digits, which is the same for the same *parts* in every process."""
    # The length of each part keeps ("ab", "c") and ("a", "bc") apart.
    told_apart = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(told_apart.encode("utf-8", "surrogatepass")).hexdigest()[:32]
