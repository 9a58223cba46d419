"""Indexes some sources of its own and one that others index too, once it is told to.

python -m tests.reliability.programs.index_some PATH WRITER TIMES
"""

import os
import sys

from tests.past_turns import index, open_past_chats, state
from tests.reliability.indexed import index_round, source_of, turns_of

SHARED = source_of("shared", 0)


def main(path: str, writer: str, times: str) -> None:
    os.write(sys.stdout.fileno(), b"ready\n")
    sys.stdin.readline()
    for number in range(int(times)):
        with open_past_chats(path, busy_seconds=60) as past:
            index(past, turns_of(SHARED), state(SHARED))
            index_round(past, writer, number)


if __name__ == "__main__":
    main(*sys.argv[1:])
