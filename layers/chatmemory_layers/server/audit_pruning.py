"""``audit_pruning``: removes old entries of the audit trail when a server starts, and then every day."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final, Never

import anyio

from chatmemory.effect import Failure, Layer, Tag
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.events.audit import AuditTrail, AuditTrailTag

SECONDS_BETWEEN: Final = 24 * 60 * 60.0

log = logging.getLogger("chatmemory.audit")


class AuditPruningTag(Tag[None]):
    """The tag of the layer that prunes the audit trail."""


def audit_pruning(days: int) -> Layer[AuditPruningTag, Never, AuditTrailTag]:
    """Return the layer that prunes entries older than *days* while it is open; 0: entries are kept for ever."""

    @asynccontextmanager
    async def pruned(trail: AuditTrail, clock: Clock) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(_keep_pruning, trail, clock, days)
            yield
            group.cancel_scope.cancel()

    return Layer.scoped(AuditPruningTag, pruned, AuditTrailTag, ClockTag)


async def _keep_pruning(trail: AuditTrail, clock: Clock, days: int) -> None:
    """Remove old entries again and again; a failure is logged, because the next attempt may succeed."""
    while days:
        outcome = await trail.prune(clock.now() - timedelta(days=days))
        if isinstance(outcome, Failure):
            log.warning("the audit trail could not be pruned: %s", outcome.failure().problem)
        await clock.sleep(SECONDS_BETWEEN)
