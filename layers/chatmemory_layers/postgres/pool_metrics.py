"""``PoolMetrics``: the OpenTelemetry metrics of the connections of stores, and of writes that are committed together.

================================== ==================================================================
name                               what it shows
================================== ==================================================================
db.client.connection.count         connections, by their state: ``idle`` or ``used``
db.client.connection.max           the most connections of the pool
db.client.connection.wait_time     seconds for which a read or a write waited for a connection
chatmemory.postgres.group.size     writes that one commit has made durable, by the operation
chatmemory.postgres.write.wait     seconds for which a write was queued before its commit began
================================== ==================================================================

The first three names are from OpenTelemetry's conventions.  No metric contains messages, memories or names of owners.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final, final

from chatmemory.observe.operations import active_meter
from chatmemory_layers.postgres.engine.connection import Pool

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation

_POOL: Final = "db.client.connection.pool.name"
_STATE: Final = "db.client.connection.state"
_OPERATION: Final = "db.operation.name"

# The name of each pool.  The instruments belong to the process; a closed store is removed here.
_watched: Final[dict[Pool, str]] = {}


@final
class PoolMetrics:
    """The instruments of one meter."""

    def __init__(self, meter: "Meter") -> None:
        self._wait_for_connection = meter.create_histogram("db.client.connection.wait_time", unit="s")
        self._group_size = meter.create_histogram("chatmemory.postgres.group.size", unit="{write}")
        self._wait_in_queue = meter.create_histogram("chatmemory.postgres.write.wait", unit="s")
        meter.create_observable_up_down_counter(
            "db.client.connection.count", [_observing(_by_state)], unit="{connection}"
        )
        meter.create_observable_up_down_counter(
            "db.client.connection.max", [_observing(_most)], unit="{connection}"
        )

    @staticmethod
    def at_hand() -> "PoolMetrics | None":
        """Return the instruments of the process, or None if metrics are not set up."""
        meter = active_meter()
        return None if meter is None else _metrics_of(meter)

    def watch(self, pool: Pool, name: str) -> None:
        """Observe the connections of *pool* under *name* until ``forget`` is called."""
        _watched[pool] = name

    def forget(self, pool: Pool) -> None:
        """Stop observing the connections of *pool*."""
        _watched.pop(pool, None)

    def waited_for_connection(self, name: str, seconds: float) -> None:
        """Record a wait of *seconds* for a connection of the pool called *name*."""
        self._wait_for_connection.record(seconds, {_POOL: name})

    def waited_in_queue(self, operation: str, waits: Iterable[float]) -> None:
        """Record the seconds for which each write of *operation* was queued."""
        for seconds in waits:
            self._wait_in_queue.record(seconds, {_OPERATION: operation})

    def committed(self, operation: str, writes: int) -> None:
        """Record a commit with the number of *writes* of *operation* that it has made durable."""
        self._group_size.record(writes, {_OPERATION: operation})


@lru_cache(maxsize=1)
def _metrics_of(meter: "Meter") -> PoolMetrics:
    return PoolMetrics(meter)


def _by_state(pool: Pool) -> Mapping[str, int]:
    idle = pool.get_idle_size()
    return {"idle": idle, "used": pool.get_size() - idle}


def _most(pool: Pool) -> Mapping[str, int]:
    return {"": pool.get_max_size()}


def _observing(
    figures: Callable[[Pool], Mapping[str, int]],
) -> "Callable[[CallbackOptions], Iterable[Observation]]":
    def observe(_: "CallbackOptions") -> "Iterator[Observation]":
        from opentelemetry.metrics import Observation

        for pool, name in [*_watched.items()]:
            for state, value in figures(pool).items():
                yield Observation(value, {_POOL: name, **({_STATE: state} if state else {})})

    return observe
