"""Jan: the messages of a thread."""

from chatmemory.pastchats.formats.agents.jan import jan
from chatmemory.pastchats.formats.reading.text_reader import TextReader
from tests.formats.histories import format_of
from tests.formats.large_history import lines
from tests.formats.small_histories import TALK, small
from tests.read_turns import read


def test_it_is_known_by_its_content_and_what_is_no_message_is_counted() -> None:
    assert format_of(TextReader("x.jsonl", {"x.jsonl": small("jan")})).name == "jan"
    found = read(jan, small("jan") + lines({"object": "thread.run", "id": "r1"}))
    assert found.said == list(TALK)
    assert found.unknown == ["thread.run"]
