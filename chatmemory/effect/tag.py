"""Tags: the keys under which services are provided, and the effects that ask for them.

``key.py`` defines keys, ``context.py`` stores services, and ``layers/layer.py`` makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Never, Self, cast

from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect
from chatmemory.effect.key import Key, TagOf

S = TypeVar("S")
B = TypeVar("B")
E = TypeVar("E")
R = TypeVar("R")


class Tag(Key[S]):
    """The key of a service that a layer provides: ``class ChatMemoryService(Tag[ChatMemory]): ...``."""

    @classmethod
    def get(cls) -> Effect[S, Never, Self]:
        """Return an effect that succeeds with the service."""
        # The class passes itself as the argument: type checkers see the protocol in `type[Db]`, but not in
        # `type[Self]`.
        return Effect.service(cast("TagOf[Self, S]", cls))

    @classmethod
    def use(cls, function: Callable[[S], Effect[B, E, R]]) -> Effect[B, E, R | Self]:
        """Return an effect that gets the service and continues with the effect that *function* makes from it."""
        return cls.get().bind(function)
