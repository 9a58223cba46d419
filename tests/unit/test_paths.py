"""The way of a call through the files stays as short as it is; ``benchmarks/path.py`` says what is counted, and shows it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

PATH: Final = Path(__file__).parents[2] / "benchmarks" / "path.py"

AT_MOST: Final = {
    "get_messages": {"files": 5, "backs": 3},
    "add_messages": {"files": 8, "backs": 5},
    "remember": {"files": 25, "backs": 72},
    "recall": {"files": 18, "backs": 44},
    "HTTP GET messages": {"files": 18, "backs": 19},
}
"""What was reached.  A way that has become shorter lowers its bound here."""


@pytest.fixture(scope="module")
def counted() -> dict[str, dict[str, int]]:
    # In a process of its own: a profiler of this one would see the other tests, and be seen by their coverage.
    done = subprocess.run(
        [sys.executable, str(PATH), "--json"], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    counts: dict[str, dict[str, int]] = json.loads(done.stdout)
    return counts


@pytest.mark.parametrize("call", AT_MOST)
def test_the_way_of_a_call_is_no_longer_than_it_was(call: str, counted: dict[str, dict[str, int]]) -> None:
    for what, most in AT_MOST[call].items():
        assert counted[call][what] <= most, f"{what}: {sys.executable} {PATH} --steps '{call}' shows the way"


def test_every_traced_call_has_a_bound_and_really_enters_files(counted: dict[str, dict[str, int]]) -> None:
    assert counted.keys() == AT_MOST.keys()
    assert all(counts["files"] > 1 for counts in counted.values())
