"""``Ref``: a variable that fibers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, final

from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect

__all__ = ["Ref"]

A = TypeVar("A")
B = TypeVar("B")


@final
class Ref(Generic[A]):
    """A variable that effects read and change.

    Each method is atomic: no other fiber of this event loop runs between reading and writing.  When a function raises, the
    value does not change.
    """

    __slots__ = ("_value",)

    def __init__(self, value: A) -> None:
        """Begin with *value*."""
        self._value = value

    def get(self) -> Effect[A]:
        """Succeed with the value."""
        return Effect.sync(lambda: self._value)

    def set(self, value: A) -> Effect[None]:
        """Replace the value."""
        return self.update(lambda _: value)

    def update(self, function: Callable[[A], A]) -> Effect[None]:
        """Replace the value by the result of *function*."""
        return self.modify(lambda value: (None, function(value)))

    def update_and_get(self, function: Callable[[A], A]) -> Effect[A]:
        """Replace the value by the result of *function*, and succeed with the new value."""
        return self.modify(lambda value: (changed := function(value), changed))

    def get_and_update(self, function: Callable[[A], A]) -> Effect[A]:
        """Replace the value by the result of *function*, and succeed with the old value."""
        return self.modify(lambda value: (value, function(value)))

    def modify(self, function: Callable[[A], tuple[B, A]]) -> Effect[B]:
        """Replace the value and succeed with a result; *function* returns ``(result, new value)``."""

        def change() -> B:
            result, self._value = function(self._value)
            return result

        return Effect.sync(change)

    def __repr__(self) -> str:
        return f"Ref({self._value!r})"
