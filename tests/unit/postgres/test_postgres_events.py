"""An event and the change that it tells of are one transaction."""

import asyncio

import pytest

from chatmemory import Granted, Namespace, Principal, acting_as
from chatmemory.events.event_log import AuditQuery, changes
from chatmemory.laws.kit.samples import batch, said
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from tests.patience import PATIENCE_SECONDS
from tests.unit.postgres.beside import connected, open_messages

MEI = Namespace("mei")
PHONE = Principal(name="phone", namespace=MEI, granted=(Granted(MEI),))


@pytest.mark.usefixtures("everybody")
async def test_what_has_no_event_is_not_stored(own_dsn: str) -> None:
    async with connected(own_dsn) as connection, open_messages(own_dsn) as messages:
        memories = PostgresMemoryRepository(messages.database)
        await connection.execute("ALTER TABLE conversation_event ADD CHECK (conversation_id <> 'lost')")
        await connection.execute("ALTER TABLE memory_event ADD CHECK (memory_id <> 'lost')")
        with acting_as(PHONE):
            drafts = (remembered("kept", namespace=MEI), remembered("lost", namespace=MEI))
            for refused in (await messages.append(batch("lost", said("m1"))), await memories.store(drafts)):
                assert "_event" in str(refused.failure())
            await messages.append(batch("found", said("m1"))).or_raise()
        assert await messages.conversation("lost").or_raise() is None
        assert await memories.get(MEI, "kept").or_raise() is None
        (entry,) = await messages.log.acted(AuditQuery()).or_raise()
        assert entry.target == "found"


AHEAD = 10**9
"""Transactions by which the server that a store comes from had got further than this one."""
MOVE = f"""
UPDATE conversation_event SET transaction_id = transaction_id + {AHEAD};
COMMENT ON FUNCTION chatmemory_shift() IS {{comment}}
"""


async def told_behind(
    messages: PostgresMessageRepository, cursor: str | None
) -> list[tuple[str, int | None]]:
    """Return what is told behind a cursor, once transactions of other tests hold nothing back."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            events = await changes(messages.log, since=cursor).run_collect().or_raise()
            if events and events[-1].target == "after":
                return [(event.target, event.version) for event in events]


@pytest.mark.parametrize("comment", ["'1'", "NULL"])  # a store of an earlier edition does not know its server
async def test_a_store_on_another_server_hides_no_event_and_old_cursors_lead_on(
    own_dsn: str, comment: str
) -> None:
    async with open_messages(own_dsn) as messages:
        for number in "123":
            await messages.append(batch("before", said(number))).or_raise()
    async with connected(own_dsn) as connection:
        await connection.execute(MOVE.format(comment=comment))
        rows = await connection.fetch("SELECT transaction_id FROM conversation_event ORDER BY 1")
        cursors = [f"{row[0]}.conversation.{number}.before" for number, row in enumerate(rows, 1)]
        cursors.append(f"{AHEAD + 10**6}")  # of the end of the log, when others had gone on
    for _ in range(2):  # it is moved once
        async with open_messages(own_dsn) as messages:
            await messages.append(batch("after", said("4"))).or_raise()
            expected = [("before", 1), ("before", 2), ("before", 3), ("after", 1)]
            for told, cursor in enumerate([None, *cursors]):
                assert await told_behind(messages, cursor) == expected[min(told, 3) :]
