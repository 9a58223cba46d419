"""An event and the change that it tells of are one transaction."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Granted, Principal, acting_as
from chatmemory.effect import Failure
from chatmemory.events.event_log import AuditQuery
from chatmemory.laws.memories.memory_samples import remembered
from tests.unit.sqlite.stores import batch, open_memories, open_repository

MEI = Namespace("mei")
PHONE = Principal(name="phone", namespace=MEI, granted=(Granted(MEI),))

# Of one target alone, so that others of the same group show what becomes of them.
REFUSE_EVENTS = """
CREATE TRIGGER no_event BEFORE INSERT ON event WHEN NEW.target_id = 'lost'
BEGIN SELECT RAISE(ABORT, 'no room for events'); END
"""


def run(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()


async def test_a_message_whose_event_cannot_be_written_is_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with open_repository(path) as repository:
        run(path, REFUSE_EVENTS)
        with acting_as(PHONE):
            appends = [repository.append(batch("m1", to=name)).run() for name in ("a", "lost", "b")]
            outcomes = await asyncio.gather(*appends)
        refused = [isinstance(one, Failure) and "no room" in str(one.failure()) for one in outcomes]
        assert refused == [False, True, False]
        assert run(path, "SELECT conversation_id FROM chat_conversation ORDER BY 1") == [("a",), ("b",)]
        targets = [entry.target for entry in await repository.log.acted(AuditQuery()).or_raise()]
        assert sorted(targets) == ["a", "b"]


async def test_a_memory_whose_event_cannot_be_written_is_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with open_memories(path) as repository:
        run(path, REFUSE_EVENTS)
        with acting_as(PHONE):
            outcome = await repository.store(
                (remembered("kept", namespace=MEI), remembered("lost", namespace=MEI))
            )
        assert isinstance(outcome, Failure)
        assert "no room for events" in str(outcome.failure())
        assert await repository.get(MEI, "kept").or_raise() is None
        assert await repository.log.acted(AuditQuery()).or_raise() == ()
