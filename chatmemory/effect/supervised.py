"""``run_supervised``: runs an effect as a fiber, and ends what it has forked."""

from __future__ import annotations

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.family import Family
from chatmemory.effect.outcome import Outcome
from chatmemory.effect.runs import Runs

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")


async def run_supervised(effect: Runs[A, E, R], context: Context[R]) -> Outcome[A, E]:
    """Run *effect*; then interrupt the fibers that it has forked and that still run, and wait for their finalizers."""
    family = Family()
    try:
        return await effect.run_in(Context(context.services, family))
    finally:
        family.is_over = True
        if family.members:
            await family.end()
