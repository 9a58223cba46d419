"""``Tracer``: receives spans, which show which effects ran, how long, and how they ended.

Without a tracer, ``with_span`` costs one look into the context.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from chatmemory.effect.key import Reference
from chatmemory.effect.outcome import Exit

Attributes: TypeAlias = Mapping[str, str | int | float | bool]


class Span(Protocol):
    """One run of an effect, from its start to its end."""

    def end(self, exit_: Exit[Any, Any], /) -> None:
        """Record how the effect ended; called once, in the task that started the span."""
        ...


class Tracer(Protocol):
    """Starts spans."""

    def start(self, name: str, attributes: Attributes, parent: Span | None, /) -> Span:
        """Start a span.

        Args:
            name: what is done.
            attributes: further facts about it.
            parent: the enclosing span; None: there is none.
        """
        ...


class TracerTag(Reference[Tracer | None]):
    """The tag of the ``Tracer`` that ``with_span`` uses; by default there is none."""

    @classmethod
    def default(cls) -> Tracer | None:
        """Return None: no tracer."""
        return None


class CurrentSpan(Reference[Span | None]):
    """The tag of the enclosing span; ``with_span`` provides it."""

    @classmethod
    def default(cls) -> Span | None:
        """Return None: no enclosing span."""
        return None
