"""``run_in_span``: runs an effect and reports its start and end to the provided tracer."""

from __future__ import annotations

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.outcome import Outcome, exit_from_exception, exit_from_outcome
from chatmemory.effect.runs import Runs
from chatmemory.effect.services.tracer import Attributes, CurrentSpan, Tracer, TracerTag

__all__ = ["run_in_span"]

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")


async def run_in_span(
    effect: Runs[A, E, R], name: str, attributes: Attributes, context: Context[R]
) -> Outcome[A, E]:
    """Run *effect* within a span, if there is a tracer."""
    tracer: Tracer | None = context.get(TracerTag)
    if tracer is None:
        return await effect.run_in(context)
    span = tracer.start(name, attributes, context.get(CurrentSpan))
    try:
        outcome = await effect.run_in(context.add(CurrentSpan, span))
    except BaseException as exception:
        span.end(exit_from_exception(exception))
        raise
    span.end(exit_from_outcome(outcome))
    return outcome
