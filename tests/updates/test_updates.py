"""What is true now, alone: how often, and that next to nothing is wrongly retired."""

from typing import Literal

import pytest

from tests.updates.score import figures, judge, pairs


@pytest.mark.parametrize(
    ("name", "least", "count"),
    [("updates", 0.93, 234), ("tuned_on", 0.9, 450), ("fresh", 0.93, 462), ("held_out", 0.9, 40)],
)
async def test_what_is_current_is_found_alone_and_next_to_nothing_is_wrongly_retired(
    name: Literal["updates", "tuned_on", "fresh", "held_out"], least: float, count: int
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
