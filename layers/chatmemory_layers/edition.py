"""``edition``: the name under which the ledger of a store records who took a migration step."""

from functools import cache


@cache  # a new store records all steps
def edition() -> str:
    """Return the name of the running edition, such as ``chatmemory 0.6.0``."""
    from importlib.metadata import version  # the import takes 20 ms, and most openings take no step

    return f"chatmemory {version('chatmemory-effect')}"
