"""The formula of spec 001, D2: cosine, times a weight that halves in a hundred days."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from chatmemory.embedding.embedder import Matrix, Vector
from chatmemory.longterm.recall.recall_ranking import DECAY_PER_DAY, recall_scores, time_decay
from chatmemory.settings.memory_settings import RetrievalSettings

DIM = 5
numbers = st.floats(-(2.0**120), 2.0**120, width=32)
vectors = arrays.arrays(np.float32, DIM, elements=numbers)
matrices = arrays.arrays(np.float32, (4, DIM), elements=numbers)
ages = arrays.arrays(np.float32, 4, elements=st.floats(0, 1e6, width=32))


def row(*values: float) -> Vector:
    return np.array(values, dtype=np.float32)


def test_it_is_the_cosine_divided_by_the_age() -> None:
    memories = np.array([[3, 4], [30, 40], [4, 3], [-3, -4], [4, -3]], dtype=np.float32)
    scores = recall_scores(row(3, 4), memories, row(0, 100, 300, 0, 50))
    assert scores == pytest.approx([1, 1 / 2, 0.96 / 4, -1, 0])


def test_a_zero_vector_on_either_side_scores_zero() -> None:
    memories = np.array([[0, 0], [1, 0]], dtype=np.float32)
    assert recall_scores(row(1, 0), memories, row(0, 0)).tolist() == [0, 1]
    assert recall_scores(row(0, 0), memories, row(0, 0)).tolist() == [0, 0]


def test_without_memories_there_are_no_scores() -> None:
    assert recall_scores(row(1, 0), np.zeros((0, 2), np.float32), row()).shape == (0,)


@pytest.mark.parametrize(
    ("query", "memories", "age_days"),
    [
        ((3,), (2, 4), (2,)),
        ((4,), (2, 4), (3,)),
        ((1, 4), (2, 4), (2,)),
        ((4,), (4,), (4,)),
        ((), (2,), (2,)),
    ],
)
def test_shapes_that_do_not_belong_together_are_refused(
    query: tuple[int, ...], memories: tuple[int, ...], age_days: tuple[int, ...]
) -> None:
    with pytest.raises(ValueError, match="expected the shapes"):
        recall_scores(*(np.ones(shape, np.float32) for shape in (query, memories, age_days)))


@given(vectors, matrices, ages, st.floats(0, 100))
def test_scores_are_finite_and_never_above_one(
    query: Vector, memories: Matrix, age_days: Vector, rate: float
) -> None:
    scores = recall_scores(query, memories, age_days, decay_per_day=rate)
    assert scores.shape == (4,)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    assert np.abs(scores).max() <= 1


@given(vectors.filter(lambda vector: np.abs(vector).max() > 1e-30), st.floats(0.125, 8, width=32))
def test_a_memory_is_its_own_nearest_neighbour_whatever_its_scale(query: Vector, scale: float) -> None:
    memories = np.stack([query, query * np.float32(scale), np.roll(query, 1), -query])
    scores = recall_scores(query, memories, np.zeros(4, np.float32))
    assert scores[:2] == pytest.approx([1, 1], abs=1e-5)
    assert scores.max() <= scores[0] + 1e-5


@given(vectors, matrices, ages)
def test_without_decay_only_the_cosine_counts(query: Vector, memories: Matrix, age_days: Vector) -> None:
    young = recall_scores(query, memories, np.zeros_like(age_days))
    assert recall_scores(query, memories, age_days, decay_per_day=0).tolist() == young.tolist()


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9), st.floats(0, 1e3))
def test_a_weight_is_above_zero_up_to_one_and_never_grows_with_age(
    age_days: float, older: float, rate: float
) -> None:
    weight = time_decay(age_days, rate)
    assert 0 < weight <= 1
    assert time_decay(age_days + older, rate) <= weight


def test_a_hundred_days_halve_and_the_future_is_no_advantage() -> None:
    assert time_decay(100, DECAY_PER_DAY) == 0.5
    assert time_decay(-100, DECAY_PER_DAY) == 1


def test_the_rate_is_the_one_that_is_configured_by_default() -> None:
    assert RetrievalSettings().decay_per_day == DECAY_PER_DAY
