"""The example of a streamed reply runs, and the conversation holds one message for each reply."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "streamed_reply.py"

SHOWN = """\
Two minutes, at 80 degrees.
Four minutes, ... the client hangs up
     user | How long does green tea take?
assistant | Two minutes, at 80 degrees.
     user | And black tea?
assistant | Four minutes, {'incomplete': 'interrupted'}
"""


def test_it_shows_the_pieces_and_keeps_one_message_of_each_reply() -> None:
    command = [sys.executable, "-W", "error", "-X", "utf8", str(EXAMPLE)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert [line.rstrip() for line in run.stdout.splitlines()] == SHOWN.splitlines()
