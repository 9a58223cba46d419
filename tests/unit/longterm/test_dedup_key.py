"""What makes two memories duplicates under each policy, and what keeps them apart."""

from attrs import evolve

from chatmemory.longterm.memories import DedupPolicy, NewMemory
from chatmemory.longterm.saving.memory_drafts import PREFIX_CHARACTERS, dedup_key
from tests.for_each import for_each

BEGINNING = "记" * PREFIX_CHARACTERS
TEA = NewMemory(BEGINNING + "喝茶", key="饮品", value={"a": 1, "b": [2]}, session_id="s1", tags=("茶",))


@for_each(
    ("policy", "other", "is_same"),
    [
        ("exact", evolve(TEA, value={"b": [2], "a": 1}), True),
        ("exact", evolve(TEA, id="m2", session_id="s2", confidence=0.1, tags=(), pinned=True), True),
        ("exact", evolve(TEA, role="assistant"), False),
        ("exact", evolve(TEA, key="茶"), False),
        ("exact", evolve(TEA, key=None), False),
        ("exact", evolve(TEA, value=None), False),
        ("exact", evolve(TEA, value={"a": 1.0, "b": [2]}), False),
        ("exact", evolve(TEA, content=BEGINNING + "喝水"), False),
        ("first_50_characters", evolve(TEA, content=BEGINNING + "喝水", key=None, value=None), True),
        ("first_50_characters", evolve(TEA, content=BEGINNING[1:] + "喝水"), False),
        ("first_50_characters", evolve(TEA, session_id="s2"), False),
        ("first_50_characters", evolve(TEA, session_id=None), False),
        ("first_50_characters", evolve(TEA, role="assistant"), False),
    ],
)
def test_a_memory_is_the_same_as_one_that_differs_in_nothing_that_counts(
    policy: DedupPolicy, other: NewMemory, *, is_same: bool
) -> None:
    assert (dedup_key(TEA, policy) == dedup_key(other, policy)) is is_same


def test_a_key_is_32_bytes_and_that_of_its_policy_and_without_a_policy_nothing_is_a_duplicate() -> None:
    keys = {dedup_key(TEA, "exact"), dedup_key(TEA, "first_50_characters")}
    assert [len(key or b"") for key in keys] == [32, 32]
    assert dedup_key(TEA, "none") is None
