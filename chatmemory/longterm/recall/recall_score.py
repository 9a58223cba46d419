"""What a memory is worth by its vector and its age: the formula of spec 001, D2.

Which memories are compared, and what their words add to it, is said in ``recall_ranking.py``: it goes through the
candidates one by one, and is held to the formula for whole arrays that stands here.
"""

from __future__ import annotations

from typing import Final

from chatmemory.embedding.embedder import Matrix, Vector

DECAY_PER_DAY: Final = 0.01  # halves a memory's weight after 100 days; spec 001, D2


def recall_scores(
    query: Vector, memories: Matrix, age_days: Vector, *, decay_per_day: float = DECAY_PER_DAY
) -> Vector:
    """Score *memories* against *query*; higher is better, never above 1.

    ``score[i] = cosine(query, memories[i]) / (1 + age_days[i] * decay_per_day)``   (spec 001, D2)

    Args:
        query: shape ``(dim,)``, any scale.
        memories: shape ``(count, dim)``, one row per memory, of any scale.
        age_days: shape ``(count,)``, days since creation, 0 or more.
        decay_per_day: 1/day.

    Returns:
        shape ``(count,)``. A zero vector on either side scores 0.

    Raises:
        ValueError: the three shapes do not belong together.
    """
    import numpy as np

    count = len(age_days)
    if memories.shape != (count, *query.shape) or age_days.shape != (count,) or query.ndim != 1:
        shapes = f"query {query.shape}, memories {memories.shape}, age_days {age_days.shape}"
        raise ValueError(f"expected the shapes (dim,), (count, dim) and (count,), not {shapes}")
    # The square of a large float32 would be infinite; and what rounding adds to a cosine of 1 is gone in the result.
    exact = memories.astype(np.float64)
    wanted = query.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1) * np.linalg.norm(wanted)
    cosines = np.divide(exact @ wanted, lengths, out=np.zeros(count), where=lengths > 0)
    decays = 1 / (1 + age_days.astype(np.float64) * decay_per_day)
    scores: Vector = (cosines * decays).astype(np.float32)
    return scores


def time_decay(age_days: float, decay_per_day: float) -> float:
    """Return the weight that *age_days* leave a memory, above 0 and up to 1; one from the future has age 0."""
    return 1 / (1 + max(0.0, age_days) * decay_per_day)
