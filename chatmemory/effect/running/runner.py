"""``Runner``: what runs effects with the services that they need, wherever those live."""

from typing import Protocol

from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Outcome

__all__ = ["Runner"]

A = TypeVar("A")
E = TypeVar("E")
R_contra = TypeVar("R_contra", contravariant=True)


class Runner(Protocol[R_contra]):
    """What an adapter asks for: ``ManagedRuntime`` in the event loop of the caller, ``ThreadRuntime`` in any."""

    async def run(self, effect: Effect[A, E, R_contra], /) -> Outcome[A, E]:
        """Run *effect* and return its outcome.

        Raises:
            EffectInterrupted: the runtime is closed, or was closed meanwhile.
        """
        ...
