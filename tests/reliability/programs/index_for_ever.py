"""``PATH WRITER``: indexes source after source until it is killed, and prints a line for each that was finished."""

import sys
from itertools import count

from tests.past_turns import open_past_chats
from tests.reliability.indexed import index_round
from tests.reliability.programs.append_for_ever import acknowledge


def main(path: str, writer: str) -> None:
    with open_past_chats(path) as past:
        for number in count():
            index_round(past, writer, number)
            acknowledge(writer, number)


if __name__ == "__main__":
    main(*sys.argv[1:])
