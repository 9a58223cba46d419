"""What a store cannot keep is replaced and told; everything else comes through exactly."""

import json

from hypothesis import given, strategies as st

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.histories import Lossy
from chatmemory.pastchats.indexing.cleaning import DEEPEST, LONGEST_ID, LONGEST_TEXT, Cleaning
from chatmemory.pastchats.indexing.prompt_drafts import Occurrences, native_hash, text_hash
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


def test_a_text_without_end_is_cut_and_told_and_long_ids_stay_apart() -> None:
    cleaning = Cleaning()
    assert len(cleaning.text("好" * (LONGEST_TEXT + 1))) == LONGEST_TEXT
    assert cleaning.lost == ("truncated",)
    one, other = (Cleaning().id("x" * LONGEST_ID + end) for end in "ab")
    assert one != other
    assert len(one) == LONGEST_ID


def test_metadata_become_json_that_every_reader_takes_and_are_cut_where_they_have_no_end() -> None:
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
    deep: Json = "bottom"
    for _ in range(5_000):
        deep = [deep]
    cleaning = Cleaning()
    kept = cleaning.metadata({"deep": deep, "wide": [*range(100_000)]})
    assert json.dumps(kept).count("[") <= DEEPEST + 2
    assert len(json.dumps(kept)) < 20_000
    assert cleaning.lost == ("truncated",)


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def test_texts_that_read_alike_are_one_text_and_others_are_two() -> None:
    for one, other in (
        ("ok\r\nok", "ok\nok"),
        ("ok \n\n", "ok"),
        (COMPOSED, DECOMPOSED),
        ("你好　\n", "你好"),
    ):
        assert text_hash(one) == text_hash(other), one
    for one, other in (("ok", "OK"), (" ok", "ok"), ("a\nb", "a b"), ("重试", "重試")):
        assert text_hash(one) != text_hash(other), one


def test_a_native_id_belongs_to_its_conversation_unless_it_is_unique_in_the_world() -> None:
    def hash_in(conversation: str, *, is_global: bool) -> str:
        return native_hash("claude_code", conversation, "u1", is_global=is_global)

    assert hash_in("claude_code:a", is_global=False) != hash_in("claude_code:b", is_global=False)
    assert hash_in("claude_code:a", is_global=True) == hash_in("claude_code:b", is_global=True)


def test_what_is_said_again_or_elsewhere_is_another_turn_and_the_same_one_when_it_is_read_again() -> None:
    def read(*texts: str) -> list[str]:
        said = Occurrences()
        return [said.hash_of("aider", "aider:a", "user", text_hash(text)) for text in texts]

    once = read("/undo", "好", "/undo")
    assert len(set(once)) == 3
    assert read("/undo", "好", "/undo", "/undo")[:3] == once
    # What is inserted elsewhere changes nobody's identity.
    assert set(read("/undo", "new", "好", "/undo")) > set(once)
    said = Occurrences()
    text = text_hash("ok")
    hashes = {
        said.hash_of("aider", conversation, role, text)
        for conversation in ("aider:a", "aider:b")
        for role in ("user", "assistant")
    }
    assert len(hashes) == 4
