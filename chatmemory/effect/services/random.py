"""Randomness as a service: the source of jitter, which tests can seed."""

from __future__ import annotations

from random import Random, SystemRandom

from chatmemory.effect.key import Reference

__all__ = ["RandomTag"]


class RandomTag(Reference[Random]):
    """The tag of the random source; tests provide ``random.Random(seed)``."""

    @classmethod
    def default(cls) -> Random:
        """Return the system's random source, which has no state that two forked processes could share."""
        return SystemRandom()
