"""``Call``: one call of a service, as a ``Spy`` or a ``Stub`` records it; ``Calls``: a list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, final

from attrs import define

from chatmemory.effect.outcome import Die, Interrupt, Outcome

__all__ = ["Call", "Calls"]

Ending: TypeAlias = Outcome[Any, Any] | Die | Interrupt


@final
@define
class Call:
    """One recorded run of one method.

    Attributes:
        service: the name of the contract, for example ``MessageRepository``.
        method: the name of the method, for example ``append``.
        arguments: the given arguments by name; omitted arguments are not included.
        outcome: ``Success`` with the value, ``Failure`` with the error, ``Die`` with the exception, or ``Interrupt``; None
            while the call is running.
    """

    service: str
    method: str
    arguments: Mapping[str, Any]
    outcome: Ending | None = None


@final
class Calls(list[Call]):
    """Calls in the order in which they began; several parts may record in one list."""

    @property
    def methods(self) -> list[str]:
        """The names of the called methods, in order."""
        return [call.method for call in self]

    def of(self, method: str) -> list[Call]:
        """Return the calls of *method*."""
        return [call for call in self if call.method == method]
