"""A process that is killed (kill -9) loses nothing that it has acknowledged, and leaves no half batch behind."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from chatmemory import ChatMemory
from chatmemory_layers.postgres.throwaway_server import fresh_database
from tests.reliability.killed import Acknowledged, killed_at_random
from tests.reliability.numbered import check_batches, check_coverage, full_view, ids_of
from tests.reliability.programs.append_for_ever import names, summarizing
from tests.reliability.store import finish_history_work, open_store
from tests.thorough import rounds, thorough

LONG_ENOUGH = range(30, 100)  # for a summary in each conversation
KILLS = rounds(1, thorough=8)


@pytest.fixture(params=["sqlite", "postgres"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "chat.db")
    else:
        async with fresh_database() as dsn:
            yield dsn


async def check_run(memory: ChatMemory, run: str, acknowledged: Acknowledged) -> None:
    """Assert that what is stored of a run is what was acknowledged; a batch on its way may be there too, whole."""
    for conversation_id, writers in names(run).items():
        stored = check_batches(await full_view(memory, conversation_id))
        assert stored.keys() <= set(writers)
        for writer in writers:
            assert stored.get(writer, 0) - acknowledged[writer] in {0, 1}


async def test_no_acknowledged_batch_is_lost_or_torn(address: str) -> None:
    runs: dict[str, Acknowledged] = {}
    for kill in range(KILLS):
        runs[f"run{kill}"] = await killed_at_random(
            "append_for_ever", address, f"run{kill}", life=range(1, 200)
        )
        async with open_store(address) as memory:
            for run, acknowledged in runs.items():
                await check_run(memory, run, acknowledged)


@pytest.mark.parametrize(
    "case",
    [
        "inline",
        "background deleting",
        pytest.param("inline deleting", marks=thorough),
        pytest.param("background", marks=thorough),
    ],
)
async def test_summaries_that_were_interrupted_are_resumed_and_cover_each_message_once(
    address: str, case: str
) -> None:
    words = case.split()
    strategy = summarizing(*words)
    summaries = 0
    for kill in range(KILLS):
        run = f"run{kill}"
        acknowledged = await killed_at_random("append_for_ever", address, run, *words, life=LONG_ENOUGH)
        await finish_history_work(address, strategy)
        async with open_store(address) as memory:
            if "deleting" not in words:
                await check_run(memory, run, acknowledged)
            for conversation_id, writers in names(run).items():
                ids = ids_of({writer: acknowledged[writer] for writer in writers})
                if not ids:  # a short life
                    continue
                summaries += await check_coverage(memory, conversation_id, ids)
                conversation = await memory.get_conversation(conversation_id).or_raise()
                assert conversation.open_count < strategy.summarize_every_n
    assert summaries > 0
