"""What makes two memories the same, and that what memory has put before a model is not learned again from it."""

from attrs import evolve

from chatmemory.longterm.memories import DedupPolicy, NewMemory
from chatmemory.longterm.recall.recalling import is_echo
from chatmemory.longterm.saving.memory_drafts import PREFIX_CHARACTERS, dedup_key
from tests.for_each import for_each

ECHOES = [
    ("I live in Berlin", "I live in Berlin."),
    ("You live in Berlin!", "i LIVE in  berlin"),
    ("that you’re allergic to peanuts", "I'm allergic to peanuts, so take care"),
    ("您对花生过敏", "我对花生过敏，看病要注意。"),
    ("编程语言：Ｐｙｔｈｏｎ", "编程语言: Python"),
]
NO_ECHOES = [
    ("I live in Bonn", "I live in Berlin"),
    ("I like tea with milk", "I like tea"),
    ("I like coffee", "I don't like coffee"),
    ("I live in Berlin", "I used to live in Berlin"),
    ("I live in Berlin", "I live in Munich and work in Berlin"),
    ("Bob manages Alice", "Alice manages Bob"),
    ("I am 34", "I am 345 years old"),
    ("我喜欢咖啡", "我不喜欢咖啡"),
    ("我在北京工作", "以前我在北京工作"),
    ("我住在杭州", "我住在苏州"),
    ("Berlin", "I live in Berlin"),
    ("", ""),
    ("!?", "!?"),
]


def test_the_same_said_again_is_an_echo_and_what_says_something_else_or_more_is_none() -> None:
    missed = [(text, said) for text, said in ECHOES if not is_echo(text, ["something else", said])]
    assert missed == []
    assert [(text, said) for text, said in NO_ECHOES if is_echo(text, [said])] == []
    assert not is_echo("I live in Berlin", [])


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
