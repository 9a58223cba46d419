"""``audit_pruning``: removes old entries of the audit trail when a server starts, and then every day."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final, Never, final

import anyio
from attrs import frozen

from chatmemory.effect import Failure, Layer, Tag
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.events.audit import AuditTrail, AuditTrailTag

SECONDS_BETWEEN: Final = 24 * 60 * 60.0

log = logging.getLogger("chatmemory.audit")


@final
@frozen
class AuditPruning:
    """Removes entries that are older than *days* days; 0: it removes none."""

    trail: AuditTrail
    clock: Clock
    days: int

    async def keep_pruning(self) -> None:
        """Remove old entries again and again; a failure is logged, because the next attempt may succeed."""
        while self.days:
            outcome = await self.trail.prune(self.clock.now() - timedelta(days=self.days))
            if isinstance(outcome, Failure):
                log.warning("the audit trail could not be pruned: %s", outcome.failure().problem)
            await self.clock.sleep(SECONDS_BETWEEN)


class AuditPruningTag(Tag[AuditPruning]):
    """The tag under which layers provide ``AuditPruning``."""


def audit_pruning(days: int) -> Layer[AuditPruningTag, Never, AuditTrailTag]:
    """Return the layer that prunes entries older than *days* while it is open; 0: entries are kept for ever."""

    @asynccontextmanager
    async def pruned(trail: AuditTrail, clock: Clock) -> AsyncGenerator[AuditPruning]:
        pruning = AuditPruning(trail, clock, days)
        async with anyio.create_task_group() as group:
            group.start_soon(pruning.keep_pruning)
            yield pruning
            group.cancel_scope.cancel()

    return Layer.scoped(AuditPruningTag, pruned, AuditTrailTag, ClockTag)
