"""Three processes write through a PgBouncer while the primary crashes and comes back: nothing is lost, torn or doubled."""

import asyncio
import json
import random
import sys
from collections import Counter
from contextlib import ExitStack

from tests.bouncer import bouncer_of
from tests.forked import Forked
from tests.reliability.numbered import BATCH_SIZE, check_batches, full_view
from tests.reliability.own_postgres import crash, own_postgres
from tests.reliability.programs.append_through_faults import SHARED
from tests.reliability.store import open_store
from tests.thorough import rounds
from tests.unit.postgres.beside import run_in

PROCESSES, TASKS = 3, 22  # 66 writers
BATCHES = rounds(5, thorough=40)
CRASHES = rounds(1, thorough=5)
SESSIONS = 10
MOST_SECONDS = rounds(240, thorough=1800)


async def stored(dsn: str) -> int:
    return int((await run_in(dsn, "SELECT count(*) FROM chat_message"))[0][0])


async def test_a_primary_that_crashes_under_64_writers_loses_tears_and_doubles_nothing() -> None:
    writers = [[f"p{process}t{task}" for task in range(TASKS)] for process in range(PROCESSES)]
    with own_postgres() as server, bouncer_of(server.get_uri(), sessions=SESSIONS) as address:
        command = (sys.executable, "-m", "tests.reliability.programs.append_through_faults", address)
        with ExitStack() as running:
            words = [(*command, ",".join(names), str(BATCHES)) for names in writers]
            children = [running.enter_context(Forked(*one, longest_seconds=MOST_SECONDS)) for one in words]
            for child in children:
                assert child.stdout.readline() == "ready\n", child.stderr.read()
            ending = asyncio.gather(*(asyncio.to_thread(child.communicate, "go\n") for child in children))
            everything = 2 * PROCESSES * TASKS * BATCHES * BATCH_SIZE
            for number in range(CRASHES):
                # In the middle of the writing, whatever the speed of the machine.
                wanted = everything * (number + random.uniform(0.2, 0.8)) / (CRASHES + 1)
                while await stored(server.get_uri()) < wanted:  # noqa: ASYNC110  another process knows
                    await asyncio.sleep(0.02)  # between two looks at the store
                assert not ending.done()
                crash(server)
                await asyncio.sleep(random.uniform(0, 1))  # any time without a server
                await asyncio.to_thread(server.ensure_postgres_running)
            ended = await asyncio.wait_for(ending, MOST_SECONDS)
            assert [child.wait() for child in children] == [0] * PROCESSES, ended
        met: Counter[str] = Counter()
        for said, errors in ended:
            assert errors == ""
            met.update(json.loads(said))
        assert met.keys() <= {"unavailable", "outcome_unknown", "busy"}
        assert met
        async with open_store(server.get_uri()) as memory:
            names = [name for each in writers for name in each]
            assert check_batches(await full_view(memory, SHARED)) == dict.fromkeys(names, BATCHES)
            for name in names:
                assert check_batches(await full_view(memory, name)) == {name: BATCHES}
        assert await stored(server.get_uri()) == everything
