"""The weight of a memory at its age (spec 001, D2): it halves in a hundred days."""

from hypothesis import given, strategies as st

from chatmemory.longterm.recall.recall_ranking import time_decay
from chatmemory.settings.memory_settings import RetrievalSettings


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9), st.floats(0, 1e3))
def test_a_weight_is_above_zero_up_to_one_and_never_grows_with_age(
    age_days: float, older: float, rate: float
) -> None:
    weight = time_decay(age_days, rate)
    assert 0 < weight <= 1
    assert time_decay(age_days + older, rate) <= weight


def test_a_hundred_days_halve_by_default_and_the_future_is_no_advantage() -> None:
    usual = RetrievalSettings().decay_per_day
    assert time_decay(100, usual) == 0.5
    assert time_decay(-100, usual) == 1
