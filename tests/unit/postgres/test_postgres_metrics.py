"""What OpenTelemetry shows of a store on PostgreSQL: connections, waits and groups, and never what was said."""

import asyncio
from collections.abc import Generator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres import pool_metrics
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from tests.unit.postgres.said import batch, stored_ids


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Generator[InMemoryMetricReader]:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(pool_metrics, "active_meter", lambda: provider.get_meter("chatmemory"))
    yield reader
    provider.shutdown()


def points(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    data = reader.get_metrics_data()
    found = [] if data is None else data.resource_metrics[0].scope_metrics[0].metrics
    return {metric.name: list(metric.data.data_points) for metric in found}


async def test_connections_waits_and_groups_are_shown(dsn: str, reader: InMemoryMetricReader) -> None:
    async with open_database(PostgresSettings(dsn=dsn, pool_size=5)) as database:
        repository = PostgresMessageRepository(database)
        await asyncio.gather(*(repository.append(batch(f"秘密 {n}", "1")).or_raise() for n in range(20)))
        assert await stored_ids(repository, "秘密 1") == ["1"]
        seen = points(reader)
        states = {
            point.attributes["db.client.connection.state"]: point.value
            for point in seen["db.client.connection.count"]
        }
        assert states["used"] == 0
        assert states["idle"] >= 1
        assert [point.value for point in seen["db.client.connection.max"]] == [5]
        (size,) = seen["chatmemory.postgres.group.size"]
        assert size.sum == 20
        assert size.count < 20
        assert dict(size.attributes) == {"db.operation.name": "append messages"}
        (wait,) = seen["chatmemory.postgres.write.wait"]
        assert wait.count == 20
        assert seen["db.client.connection.wait_time"][0].count >= 2
        assert "秘密" not in str(seen)
    assert "db.client.connection.count" not in points(reader)


async def test_without_a_provider_nothing_is_counted() -> None:
    assert pool_metrics.PoolMetrics.at_hand() is None
