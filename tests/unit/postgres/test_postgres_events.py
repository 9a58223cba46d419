"""An event and the change that it tells of are one transaction."""

import asyncpg

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Granted, Principal, acting_as
from chatmemory.effect import Failure
from chatmemory.events.event_log import AuditQuery
from chatmemory.laws.kit.samples import batch, said
from chatmemory.laws.memories.memory_samples import remembered
from chatmemory_layers.postgres.engine.database import Database
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository

MEI = Namespace("mei")
PHONE = Principal(name="phone", namespace=MEI, granted=(Granted(MEI),))


async def test_what_has_no_event_is_not_stored(dsn: str, database: Database) -> None:
    messages, memories = PostgresMessageRepository(database), PostgresMemoryRepository(database)
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("ALTER TABLE conversation_event ADD CHECK (conversation_id <> 'lost')")
        await connection.execute("ALTER TABLE memory_event ADD CHECK (memory_id <> 'lost')")
    finally:
        await connection.close()
    with acting_as(PHONE):
        for refused in (
            await messages.append(batch("lost", said("m1"))),
            await memories.store((remembered("kept", namespace=MEI), remembered("lost", namespace=MEI))),
        ):
            assert isinstance(refused, Failure)
            assert "_event" in str(refused.failure())
        await messages.append(batch("found", said("m1"))).or_raise()
    assert await messages.conversation("lost").or_raise() is None
    assert await memories.get(MEI, "kept").or_raise() is None
    (entry,) = await messages.log.acted(AuditQuery()).or_raise()
    assert entry.target == "found"
