"""Indexes source after source until it is killed, and prints a line for each that was finished.

python -m tests.reliability.programs.index_for_ever PATH WRITER
"""

import os
import sys
from itertools import count

from tests.past_turns import open_past_chats
from tests.reliability.indexed import index_round


def main(path: str, writer: str) -> None:
    with open_past_chats(path) as past:
        for number in count():
            index_round(past, writer, number)
            # One write of one line: it reaches the pipe whole, or not at all, whenever the end comes.
            os.write(sys.stdout.fileno(), f"{writer} {number}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
