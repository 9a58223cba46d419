"""Reading takes the memory of a record, not of a file: each history is written while it is read, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.thorough import thorough

ROOT = Path(__file__).parents[2]

MEGABYTES = 24
MIB_OF_IDS = 14  # of a tree of 17,000 ids and offsets; a reader that held the texts would take twice as much

ONE_LONG_RECORD = """
import json
from benchmarks.history_formats import peak_mib
from chatmemory.pastchats.formats.reading.json_lines import json_lines
from chatmemory.pastchats.formats.reading.json_walk import walk
from chatmemory.pastchats.formats.histories import HistoryIssue

class Reader:
    path = name = "x"
    def __init__(self, *parts): self.parts = parts
    def blocks(self):
        before, between, after = self.parts
        yield before
        for _ in range(50): yield between * 1_000_000
        yield after
    def sibling(self, relative): ...
    def entries(self, relative="."): return ()

def told(found): return [one.code if isinstance(one, HistoryIssue) else str(one)[:40] for one in found]

lines = told(json_lines(Reader(b'{"a": 1}\\n{"b": "', b"x", b'"}\\n{"c": 3}\\n')))
members = told(walk(Reader(b'[{"a": 1}, {"b": "', b"x", b'"}, {"c": 3}]'), ()))
print(json.dumps([lines, members, peak_mib()]))
"""


def printed(*arguments: str) -> Any:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "name",
    [
        "claude_code",
        "chatgpt",
        "copilot_chat",
        "aider",
        # Read as chatgpt is: lists of objects in one document.
        pytest.param("librechat", marks=thorough),
        pytest.param("sharegpt", marks=thorough),
    ],
)
def test_a_long_conversation_takes_no_more_memory_than_its_ids(name: str) -> None:
    found = printed("-m", "benchmarks.history_formats", "--measure", name, str(MEGABYTES * 1_000_000))
    assert found["issues"] == 0
    assert found["turns"] > 5_000
    assert found["peak_mib"] - found["base_mib"] < MIB_OF_IDS


def test_one_record_of_50_mb_is_left_out_and_the_rest_is_read() -> None:
    lines, members, peak_mib = printed("-c", ONE_LONG_RECORD)
    assert (lines.count("too_large"), members.count("too_large")) == (1, 1)
    assert (len(lines), len(members)) == (3, 4)
    assert peak_mib < 100
