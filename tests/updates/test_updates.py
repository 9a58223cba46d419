"""What is true now, alone: how often, and that next to nothing is wrongly retired."""

import pytest

from chatmemory import ManagedRuntime
from chatmemory.access.namespace import Namespace
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.thorough import thorough
from tests.updates.score import figures, judge, pairs


@pytest.mark.parametrize(
    ("name", "least", "count"),
    [
        ("updates", 0.93, 234),
        pytest.param("tuned_on", 0.9, 450, marks=thorough),
        pytest.param("fresh", 0.93, 1122, marks=thorough),
        ("everyday", 0.93, 80),
        pytest.param("plain", 0.93, 472, marks=thorough),
        ("kinds", 0.93, 190),
        pytest.param("doubts", 0.93, 392, marks=thorough),
        ("held_out", 0.9, 40),
        ("ordinary_held_out", 0.8, 160),
    ],
)
async def test_what_is_current_is_found_alone_and_next_to_nothing_is_wrongly_retired(
    name: str, least: float, count: int
) -> None:
    lines = pairs(name)
    assert len(lines) == count
    judged = await judge(lines)
    reached = figures(judged)
    failed = [one.pair.id for one in judged if one.is_right is False or one.wrongly_retired]
    assert reached.current_and_alone >= least, failed
    assert reached.wrong_retirements <= 0.01, failed
    # Nothing is gained by what was never remembered.
    assert sum(one.was_known for one in judged if one.is_right is not None) >= 0.85 * reached.asked


@thorough
async def test_everyday_sentences_end_nothing() -> None:
    lines = pairs("ordinary")
    assert len(lines) == 514
    reached = figures(judged := await judge(lines))
    assert reached.wrong <= 0.01 * reached.kept, [one.pair.id for one in judged if one.wrongly_retired]
    assert reached.kept >= 0.95 * len(lines)


@for_each(
    ("known", "said"),
    [
        ("I like coffee", "I don't like coffee anymore"),
        ("我吃素", "我不吃素了"),
        ("I have two kids", "I have three kids now"),
    ],
)
async def test_what_ends_a_fact_is_remembered_once(known: str, said: str) -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        for turn in (known, said):
            await memory.auto_save(Namespace("u"), turn, role="user", session_id="s").or_raise()
        page = await memory.list(Namespace("u")).or_raise()
    assert [one.content for one in page.memories] == [said]
