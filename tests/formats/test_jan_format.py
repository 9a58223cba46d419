"""Jan: the messages of a thread."""

from chatmemory.pastchats.formats.agents.jan import jan
from chatmemory.pastchats.formats.reading.text_reader import TextReader
from tests.formats.agent_histories import JAN, TALK, lines
from tests.formats.histories import format_of
from tests.read_turns import read


def test_a_thread_says_who_said_what_and_when() -> None:
    assert format_of(TextReader("x.jsonl", {"x.jsonl": JAN})).name == "jan"
    found = read(jan, JAN)
    assert found.said == list(TALK)
    first = found.kept[0]
    assert (first.conversation_id, first.native_id) == ("jan:t1", "msg_0")
    assert first.timestamp is not None


def test_what_is_no_message_is_counted() -> None:
    found = read(jan, JAN + lines({"object": "thread.run", "id": "r1"}))
    assert found.said == list(TALK)
    assert found.unknown == ["thread.run"]
