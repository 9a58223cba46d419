"""The way of a call through the files stays as short as it is; ``benchmarks/path.py`` says what is counted, and shows it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.patience import PATIENCE_SECONDS

PATH: Final = Path(__file__).parents[2] / "benchmarks" / "path.py"

AT_MOST: Final = {
    "get_messages": {"files": 5, "backs": 3},
    "add_messages": {"files": 8, "backs": 5},
    "remember": {"files": 25, "backs": 72},
    "recall": {"files": 18, "backs": 44},
    "HTTP GET messages": {"files": 18, "backs": 19},
}
"""What was reached.  A way that has become shorter lowers its bound here."""


def test_the_way_of_a_call_is_no_longer_than_it_was() -> None:
    # In a process of its own: a profiler of this one would see the other tests, and be seen by their coverage.
    command = [sys.executable, str(PATH), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    counted: dict[str, dict[str, int]] = json.loads(done.stdout)
    assert counted.keys() == AT_MOST.keys()
    assert all(counts["files"] > 1 for counts in counted.values())
    longer = {
        call: counted[call]
        for call, most in AT_MOST.items()
        if any(counted[call][what] > bound for what, bound in most.items())
    }
    assert longer == {}, f"{sys.executable} {PATH} --steps CALL shows the way"
