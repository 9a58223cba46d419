"""The sample histories that ship with chatmemory: whole, small, and read by the formats that their folders name."""

from pathlib import Path

from chatmemory.pastchats.formats.detection import detect
from chatmemory.pastchats.formats.reading.text_reader import TextReader
from tests.for_each import for_each
from tests.formats.histories import formats
from tests.read_turns import Read

FOLDER = Path(__file__).parents[2] / "examples" / "histories"
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file() and path.name != "README.md")
LARGEST_BYTES = 20_000


def _read(path: Path) -> Read:
    reader = TextReader(str(path), {str(path): path.read_bytes()})
    found = detect(reader, formats().by_name.values())
    assert found.format is not None, found.issue
    return Read(tuple(found.format.parse(reader)))


@for_each("path", FILES)
def test_each_is_read_whole_by_the_format_of_its_folder(path: Path) -> None:
    read = _read(path)
    assert {turn.conversation_id.split(":")[0] for turn in read.turns} == {
        path.relative_to(FOLDER).parts[0].replace("-", "_")
    }
    assert read.issues == []
    assert {"user", "assistant"} <= {role for role, _ in read.said}
    assert path.stat().st_size < LARGEST_BYTES


def test_they_tell_of_nine_tools_in_two_languages_and_what_failed_before_it_worked() -> None:
    assert len({path.relative_to(FOLDER).parts[0] for path in FILES}) == 9
    texts = [text for path in FILES for _, text in _read(path).said]
    assert 60 <= len(texts) <= 100
    assert sum("，" in text or "。" in text for text in texts) >= 12
    asked = next(place for place, text in enumerate(texts) if text.startswith("build webhook retries"))
    assert "time.sleep" in texts[asked + 2] or "time.sleep" in texts[asked + 3]
    assert any("exponential backoff with full jitter" in text for text in texts[asked:])
    # One holds a key that is known to be none, and a password as it might be.
    assert sum("AKIAIOSFODNN7EXAMPLE" in text for text in texts) == 1
    assert sum("no-real-passw0rd" in text for text in texts) == 1
