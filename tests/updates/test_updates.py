"""What is true now, alone: how often, and that next to nothing is wrongly retired."""

from typing import Literal

import pytest

from chatmemory import ManagedRuntime
from chatmemory.access.namespace import Namespace
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.extraction.attributes.statements import statements_of
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
        ("held_out", 0.9, 40),
    ],
)
async def test_what_is_current_is_found_alone_and_next_to_nothing_is_wrongly_retired(
    name: Literal["updates", "tuned_on", "fresh", "everyday", "plain", "kinds", "held_out"], least: float, count: int
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


@for_each(
    "said",
    [
        "Peter is home",
        "Peter is home, he came back from Spain yesterday",
        "Sofie is home for Christmas, back from Toronto",
        "Noor is home again after the operation",
        "Carlos is home now, he says the flight was awful",
    ],
)
def test_who_is_home_lives_nowhere_else_for_that(said: str) -> None:
    assert "residence" not in {one.attribute for one in statements_of(said)}


@for_each(
    "said",
    ["Halifax is home now", "Cardiff's home these days", "Porto is our new home", "Bilbao is home to me"],
)
def test_what_is_home_to_somebody_is_where_they_live(said: str) -> None:
    assert [one.attribute for one in statements_of(said)] == ["residence"]


@for_each(
    ("known", "said", "is_over"),
    [
        ("I work at Zara", "quit Zara today", True),
        ("I work at Zara", "Kim quit Zara today", False),
        ("I work at Zara", "the new guy quit Zara after two days", False),
        ("I'm vegan", "the café stopped doing vegan cake", False),
        ("我在优衣库上班", "我从优衣库辞职了", True),
        ("我在优衣库上班", "店长今天从优衣库辞职了", False),
        ("我在威尔士健身", "威尔士健身我退了", True),
        ("我在威尔士健身", "再涨价我就把威尔士退了", False),
    ],
)
async def test_only_what_is_mine_ends(known: str, said: str, *, is_over: bool) -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        for turn in (known, said):
            await memory.auto_save(Namespace("u"), turn, role="user", session_id="s").or_raise()
        page = await memory.list(Namespace("u")).or_raise()
    assert (known not in [one.content for one in page.memories]) == is_over
