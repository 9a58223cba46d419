"""What an index keeps of whole histories: who said what, in which order, and what was undone."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.for_each import for_each
from tests.formats.large_history import lines
from tests.formats.sqlite_histories import connect
from tests.indexed import open_index, write

CASES = json.loads((Path(__file__).parents[1] / "data/past_chats.json").read_text())
COLUMNS = "conversation_id, role, content, json_extract(metadata_json, '$.on_current_path') = 0, timestamp, turn_index"


def write_history(path: Path, content: Any) -> None:
    """Write a text, a JSON document, JSON Lines, or a database by its statements."""
    if path.suffix == ".db":
        with closing(connect(path)) as tool:
            tool.executescript(";\n".join(content))
    elif isinstance(content, str):
        write(path, content)
    else:
        write(path, lines(*content) if isinstance(content, list) else json.dumps(content))


@for_each("case", CASES)
def test_a_history_is_kept_as_it_was_said(tmp_path: Path, case: Any) -> None:
    with open_index(tmp_path / str(CASES.index(case))) as past:
        for path, content in case["files"].items():
            write_history(past.folder / path, content)
        report = past.index()
        assert (report.issues, report.unknown_records) == ((), {})
        rows = past.rows(COLUMNS)
        again = past.index(rereads_all=True).turns
        assert (again.new, again.updated, again.superseded, past.rows(COLUMNS)) == (0, 0, 0, rows)
    said: dict[str, list[list[object]]] = {}
    for conversation, role, content, is_undone, *_ in rows:
        turn = [role, content, "undone"] if is_undone else [role, content]
        said.setdefault(str(conversation).replace(str(past.folder), "FOLDER"), []).append(turn)
    assert said == case["said"]
    if "times" in case:
        assert [time for *_, time, _ in rows] == case["times"]
    if len(said) == 1:
        assert [number for *_, number in rows] == list(range(len(rows)))
