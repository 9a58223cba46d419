"""``Tracer``: what spans are given to, so that somebody sees which effects ran, how long, and how they ended.

Nobody looks unless a tracer is provided: ``with_span`` then costs a look into the context.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from chatmemory.effect.key import Reference
from chatmemory.effect.outcome import Exit

__all__ = ["Attributes", "CurrentSpan", "Span", "Tracer", "TracerTag"]

Attributes: TypeAlias = Mapping[str, str | int | float | bool]


class Span(Protocol):
    """One run of an effect, from its start to its end."""

    def end(self, exit_: Exit[Any, Any], /) -> None:
        """Note how the effect ended; called once, in the task that started the span."""
        ...


class Tracer(Protocol):
    """What makes spans."""

    def start(self, name: str, attributes: Attributes, parent: Span | None, /) -> Span:
        """Start a span.

        Args:
            name: what is done.
            attributes: what else is to be known of it.
            parent: the span around it; None for the outermost one.
        """
        ...


class TracerTag(Reference[Tracer | None]):
    """Where ``with_span`` finds the ``Tracer``; none, unless one is provided."""

    @classmethod
    def default(cls) -> Tracer | None:
        """Return None: nobody looks."""
        return None


class CurrentSpan(Reference[Span | None]):
    """The span around the effect that runs; ``with_span`` provides it."""

    @classmethod
    def default(cls) -> Span | None:
        """Return None: there is no span around it."""
        return None
