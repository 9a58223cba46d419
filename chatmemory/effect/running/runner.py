"""``Runner``: the protocol of objects that run effects with the services that they need."""

from typing import Protocol

from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Outcome

__all__ = ["Runner"]

A = TypeVar("A")
E = TypeVar("E")
R_contra = TypeVar("R_contra", contravariant=True)


class Runner(Protocol[R_contra]):
    """Runs effects; adapters accept any runner.

    ``ManagedRuntime`` runs them in the event loop that opened it, ``ThreadRuntime`` for callers in any event loop.
    """

    async def run(self, effect: Effect[A, E, R_contra], /) -> Outcome[A, E]:
        """Run *effect* and return its outcome.

        Raises:
            EffectInterrupted: the runtime is closed, or was closed while the effect ran.
        """
        ...
