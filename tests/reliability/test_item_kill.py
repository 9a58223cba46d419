"""A process that is killed (kill -9) while it writes items leaves them, their past and their events as after one of its steps."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from chatmemory import EventLog, EventLogTag, ItemRepositoryTag, ManagedRuntime
from chatmemory.items.item_repository import name_in_log
from tests.empty_store import empty_store
from tests.reliability.feed import every_change
from tests.reliability.killed import killed_at_random
from tests.reliability.rounds_of_items import names_of, shown, steps_of
from tests.reliability.store import chat_store
from tests.thorough import rounds

KILLS: Final = rounds(1, thorough=8)


@pytest.fixture(params=["sqlite", "postgres"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "chat.db")
    else:
        async with empty_store() as dsn:
            yield dsn


async def told_of(address: str, log: EventLog, talk: str) -> list[tuple[str, str]]:
    """Return what the log says was done to the items of a round."""
    events = await every_change(address, log)
    targets = {name_in_log(name): name.key for name in names_of(talk)}
    return sorted((targets[one.target], one.action) for one in events if one.target in targets)


async def states_of_a_round(talk: str) -> Sequence[Any]:
    """Return what a store without a disk shows and tells before the round and after each of its steps."""
    async with ManagedRuntime(chat_store("memory")) as runtime:
        items = await runtime.service(ItemRepositoryTag)
        log = await runtime.service(EventLogTag)
        states = [(await shown(items, talk), await told_of("memory", log, talk))]
        for step in steps_of(items, talk):
            await step
            states.append((await shown(items, talk), await told_of("memory", log, talk)))
        return states


async def test_items_are_as_after_a_step_whenever_their_writer_is_killed(address: str) -> None:
    for kill in range(KILLS):
        run = f"run{kill}"
        done = (await killed_at_random("keep_items_for_ever", address, run, life=range(1, 40)))[run]
        async with ManagedRuntime(chat_store(address)) as runtime:
            items = await runtime.service(ItemRepositoryTag)
            log = await runtime.service(EventLogTag)
            last = f"{run}-{done - 1}"
            *_, over = await states_of_a_round(last)
            assert (await shown(items, last), await told_of(address, log, last)) == over
            interrupted = f"{run}-{done}"
            states = await states_of_a_round(interrupted)
            state = (await shown(items, interrupted), await told_of(address, log, interrupted))
            assert state in states
    assert len(states) == len({str(one) for one in states})  # so that each step would be noticed
