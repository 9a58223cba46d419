"""A process that is killed (kill -9) while it forks, summarizes, clears and takes back leaves all conversations of the tree,
their past and their events as after one of its steps.
"""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from chatmemory import EventLog, EventLogTag, ManagedRuntime, MessageRepositoryTag
from tests.empty_store import empty_store
from tests.reliability.feed import every_change
from tests.reliability.killed import killed_at_random
from tests.reliability.rounds_of_trees import names_of, shown, steps_of
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


async def told_of(address: str, log: EventLog, talk: str) -> list[tuple[Any, ...]]:
    """Return what the log says was done to the conversations of a round, in the order of each."""
    names = names_of(talk)
    events = [one for one in await every_change(address, log) if one.target in names]
    return sorted(
        [(one.target, one.version, one.action, one.by, one.reason, one.reach) for one in events], key=str
    )


async def states_of_a_round(talk: str) -> Sequence[Any]:
    """Return what a store without a disk shows and tells before the round and after each of its steps."""
    async with ManagedRuntime(chat_store("memory")) as runtime:
        messages = await runtime.service(MessageRepositoryTag)
        log = await runtime.service(EventLogTag)
        before = (await shown(messages, talk), await told_of("memory", log, talk))
        steps = steps_of(messages, talk)
        after = [(await shown(messages, talk), await told_of("memory", log, talk)) async for _ in steps]
        return [before, *after]


async def test_a_tree_is_as_after_a_step_whenever_its_writer_is_killed(address: str) -> None:
    for kill in range(KILLS):
        run = f"run{kill}"
        done = (await killed_at_random("fork_for_ever", address, run, life=range(1, 8)))[run]
        async with ManagedRuntime(chat_store(address)) as runtime:
            messages = await runtime.service(MessageRepositoryTag)
            log = await runtime.service(EventLogTag)
            last = f"{run}-{done - 1}"
            *_, over = await states_of_a_round(last)
            assert (await shown(messages, last), await told_of(address, log, last)) == over
            interrupted = f"{run}-{done}"
            states = await states_of_a_round(interrupted)
            state = (await shown(messages, interrupted), await told_of(address, log, interrupted))
            assert state in states
    assert len(states) == len({str(one) for one in states})  # so that each step would be noticed
