"""``made_id``: who repeats a write with the same key writes the same ids, and the store writes nothing twice.

So a repeated write needs no memory of its own, and is recognized after a crash, by another process, and for ever.
"""

from hashlib import sha256


def made_id(*parts: str) -> str:
    """Return an id made from *parts*: 32 hexadecimal digits, in every process the same for the same parts."""
    # The length of each part keeps ("ab", "c") and ("a", "bc") apart.
    told_apart = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(told_apart.encode("utf-8", "surrogatepass")).hexdigest()[:32]
