"""Every sample is read as ``expected.json`` says, which a person checked against the raw files."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chatmemory.pastchats.formats.histories import PromptTurn
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from tests.for_each import for_each
from tests.formats.histories import EXPECTED, FILES, FOLDER, detected
from tests.formats.read_turns import Read, read

EXAMPLES = Path(__file__).parents[2] / "examples" / "histories"
SHIPPED = sorted(path for path in EXAMPLES.rglob("*") if path.is_file() and path.name != "README.md")
WITH_TURNS = [sample for sample in EXPECTED if sample["conversations"]]


@for_each("name", ["", "x.json", "x.txt", "x"])
@for_each("sample", EXPECTED)
def test_a_sample_is_known_by_its_content_under_any_name(sample: dict[str, Any], name: str) -> None:
    path = sample["file"]
    detection = detected(name, FILES[path]) if name else detected(path)
    assert not detection.failures
    if sample["conversations"]:
        assert detection.format is not None, detection.issue
        assert detection.format.name == sample["format"]
    else:
        assert detection.format is None
        assert detection.issue is not None
        assert name or detection.issue.code == "not_a_transcript"


@for_each("sample", WITH_TURNS)
def test_a_sample_is_whole_and_holds_as_many_conversations_as_expected(sample: dict[str, Any]) -> None:
    found = read_sample(sample["file"])
    conversations = by_conversation(found)
    assert found.issues == []
    assert len(conversations) == sample.get("conversations_with_turns", sample["conversations"])
    if "total_turns_by_role" in sample:
        roles = Counter(turn.role for turns in conversations.values() for turn in turns)
        assert roles == sample["total_turns_by_role"]


@for_each(("sample", "case"), [(sample, case) for sample in WITH_TURNS for case in sample["cases"]])
def test_a_conversation_is_what_is_expected(sample: dict[str, Any], case: dict[str, Any]) -> None:
    turns = case_turns(sample, case)
    assert Counter(turn.role for turn in turns) == case["turns_by_role"]
    assert len(turns) == case["turns"]
    for turn, expected in ((turns[0], case["first_turn"]), (turns[-1], case["last_turn"])):
        assert (turn.role, " ".join(turn.content.split())[:60]) == (expected["role"], expected["text60"])
    times = [turn.timestamp for turn in turns if turn.timestamp is not None]
    for expected, found in ((case["first_timestamp"], min), (case["last_timestamp"], max)):
        if expected is None:
            assert times == []
        else:
            # Unix seconds are floats: what they mean is within a millisecond.
            assert abs((found(times) - instant(expected)).total_seconds()) < 0.001
    # A model may have said nothing but its thoughts.
    assert {turn.metadata.get("model") for turn in read_sample(sample["file"]).turns} >= set(
        case.get("models", ())
    )
    if "title" in case:
        assert {turn.metadata.get("title") for turn in turns} == {case["title"]}
    if "project" in case:
        assert {turn.project for turn in turns} == {case["project"]}


def read_sample(path: str) -> Read:
    detection = detected(path)
    assert detection.format is not None, detection
    return Read(tuple(detection.format.parse(TextReader(path, FILES))))


def by_conversation(found: Read) -> dict[str, list[PromptTurn]]:
    """Return what an index keeps unless it is asked for more, by conversation, in order."""
    kept: dict[str, dict[object, PromptTurn]] = {}
    for number, turn in enumerate(found.kept):
        kept.setdefault(turn.conversation_id, {})[turn.native_id or number] = turn
    return {
        conversation: sorted(turns.values(), key=lambda turn: turn.turn_index or 0)
        for conversation, turns in kept.items()
    }


def case_turns(sample: dict[str, Any], case: dict[str, Any]) -> Sequence[PromptTurn]:
    """Return the turns of the conversation that *case* speaks of: by its id, its line, or as the only one."""
    found = by_conversation(read_sample(sample["file"]))
    if case["conversation_id"] is not None:
        wanted = f"{sample['format']}:{case['conversation_id']}"
        return next(turns for name, turns in found.items() if name.startswith(wanted))
    if "line" in case:
        return next(turns for name, turns in found.items() if name.endswith(f"#L{case['line']}"))
    (turns,) = found.values()
    return turns


def instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    assert moment.tzinfo is not None
    return moment.astimezone(UTC)


def test_every_sample_is_listed_and_a_part_of_a_conversation_is_none() -> None:
    sources = (FOLDER / "SOURCES.md").read_text()
    assert [path for path in FILES if path not in sources] == []
    parts = [path for path in FILES if "/part/" in path or "/message/" in path]
    assert parts
    assert [path for path in parts if detected(path).issue is None] == []


@for_each("path", SHIPPED)
def test_each_history_that_ships_is_small_and_read_whole_by_the_format_of_its_folder(path: Path) -> None:
    found = detected(str(path), path.read_bytes()).format
    assert found is not None
    told = read(found, path.read_bytes(), path=str(path))
    name = path.relative_to(EXAMPLES).parts[0].replace("-", "_")
    assert {turn.conversation_id.split(":")[0] for turn in told.turns} == {name}
    assert told.issues == []
    assert {"user", "assistant"} <= {role for role, _ in told.said}
    assert path.stat().st_size < 20_000
