"""What makes two turns one turn, and two texts one text."""

from chatmemory.pastchats.indexing.identity import Occurrences, native_hash, text_hash
from tests.for_each import for_each

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


@for_each(
    ("one", "other"),
    [("ok\r\nok", "ok\nok"), ("ok \n\n", "ok"), (COMPOSED, DECOMPOSED), ("你好　\n", "你好")],
)
def test_texts_that_read_alike_are_one_text(one: str, other: str) -> None:
    assert text_hash(one) == text_hash(other)


@for_each(("one", "other"), [("ok", "OK"), (" ok", "ok"), ("a\nb", "a b"), ("重试", "重試")])
def test_texts_that_read_differently_are_two(one: str, other: str) -> None:
    assert text_hash(one) != text_hash(other)


def test_a_native_id_belongs_to_its_conversation_unless_it_is_unique_in_the_world() -> None:
    def hash_in(conversation: str, *, is_global: bool) -> str:
        return native_hash("claude_code", conversation, "u1", is_global=is_global)

    assert hash_in("claude_code:a", is_global=False) != hash_in("claude_code:b", is_global=False)
    assert hash_in("claude_code:a", is_global=True) == hash_in("claude_code:b", is_global=True)


def test_what_is_said_again_is_another_turn_and_the_same_one_when_it_is_read_again() -> None:
    def read(*texts: str) -> list[str]:
        said = Occurrences()
        return [said.hash_of("aider", "aider:a", "user", text_hash(text)) for text in texts]

    once = read("/undo", "好", "/undo")
    assert len(set(once)) == 3
    assert read("/undo", "好", "/undo", "/undo")[:3] == once
    # What is inserted elsewhere changes nobody's identity.
    assert set(read("/undo", "new", "好", "/undo")) > set(once)


def test_role_and_conversation_tell_equal_texts_apart() -> None:
    said = Occurrences()
    text = text_hash("ok")
    hashes = {
        said.hash_of("aider", conversation, role, text)
        for conversation in ("aider:a", "aider:b")
        for role in ("user", "assistant")
    }
    assert len(hashes) == 4
