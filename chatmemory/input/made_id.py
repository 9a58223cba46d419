"""``made_id``: derives an id from other names, so that whatever has these names has the same id in every process."""

from hashlib import sha256


def made_id(*parts: str) -> str:
    """Return an id of 32 hexadecimal digits, which is the same for the same *parts* in every process."""
    # The length of each part keeps ("ab", "c") and ("a", "bc") apart.
    told_apart = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(told_apart.encode("utf-8", "surrogatepass")).hexdigest()[:32]
