"""What a store cannot keep is replaced and told; everything else comes through exactly."""

import json

from hypothesis import given, strategies as st

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.histories import Lossy
from chatmemory.pastchats.indexing.cleaning import DEEPEST, LONGEST_ID, LONGEST_TEXT, Cleaning
from tests.for_each import for_each


@for_each(
    ("given_text", "kept", "lost"),
    [
        ("plain 你好 🤣\r\n\t\u2028", "plain 你好 🤣\r\n\t\u2028", ()),
        ("a\0b", "a\ufffdb", ("nul",)),
        ("a\ud83e", "a\ufffd", ("surrogate",)),
        (b"caf\xe9".decode("utf-8", "surrogateescape"), "caf\ufffd", ("bad_utf8",)),
        ("\ud83e\udd23", "🤣", ()),  # two halves, written apart, are one character
    ],
)
def test_a_text_is_cleaned(given_text: str, kept: str, lost: tuple[Lossy, ...]) -> None:
    cleaning = Cleaning()
    assert (cleaning.text(given_text), cleaning.lost) == (kept, lost)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_every_text_can_be_kept_afterwards_and_clean_text_is_left_alone(text: str) -> None:
    kept = Cleaning().text(text)
    assert "\0" not in kept
    assert kept.encode().decode() == kept
    assert Cleaning().text(kept) == kept


def test_a_text_without_end_is_cut_and_told() -> None:
    cleaning = Cleaning()
    assert len(cleaning.text("好" * (LONGEST_TEXT + 1))) == LONGEST_TEXT
    assert cleaning.lost == ("truncated",)


def test_long_ids_stay_apart() -> None:
    one, other = (Cleaning().id("x" * LONGEST_ID + end) for end in "ab")
    assert one != other
    assert len(one) == LONGEST_ID


def test_metadata_become_json_that_every_reader_takes() -> None:
    given: dict[str, Json] = {
        "infinite": float("inf"),
        "big": 10**30,
        "huge": 10**5_000,
        "text": "a\0\ud83e",
        "k\0": [None, True, 1.5, -(2**63), {"深": "值"}],
    }
    kept = Cleaning().metadata(given)
    written = json.dumps(kept, allow_nan=False)
    assert json.loads(written) == kept
    assert kept["k\ufffd"] == [None, True, 1.5, -(2**63), {"深": "值"}]
    assert (kept["infinite"], kept["text"]) == ("inf", "a\ufffd\ufffd")


def test_metadata_without_bottom_or_end_are_cut() -> None:
    deep: Json = "bottom"
    for _ in range(5_000):
        deep = [deep]
    cleaning = Cleaning()
    kept = cleaning.metadata({"deep": deep, "wide": [*range(100_000)]})
    assert json.dumps(kept).count("[") <= DEEPEST + 2
    assert len(json.dumps(kept)) < 20_000
    assert cleaning.lost == ("truncated",)
