"""``Runs``: the protocol of an effect for the modules that ``effect.py`` imports."""

from __future__ import annotations

from typing import Protocol

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.outcome import Outcome

__all__ = ["Runs"]

A_co = TypeVar("A_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)


class Runs(Protocol[A_co, E_co, R_co]):
    """Work that runs with services; ``Effect`` is the only implementation."""

    async def run_in(self, context: Context[R_co], /) -> Outcome[A_co, E_co]:
        """Run with the services of *context*."""
        ...
