"""Chance as a service: where jitter comes from, so that tests can seed it."""

from __future__ import annotations

from random import Random, SystemRandom

from chatmemory.effect.key import Reference

__all__ = ["RandomTag"]


class RandomTag(Reference[Random]):
    """Where effects find chance; tests provide ``random.Random(seed)``."""

    @classmethod
    def default(cls) -> Random:
        """Return the system's, which has no state that two forked processes could share."""
        return SystemRandom()
