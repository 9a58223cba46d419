"""``killed_at_random``: starts a program that works for ever, kills it (kill -9), and counts what it has acknowledged."""

import random
import sys
from collections import Counter

from tests.forked import Forked

Acknowledged = Counter[str]
"""What was done, by writer."""


def killed_at_random(program: str, *words: str, life: range, writers: int = 1) -> Acknowledged:
    """Run *program* of ``tests.reliability.programs`` with *words*, and kill it in the middle of its work.

    It prints ``WRITER NUMBER`` for each piece of work that was acknowledged, numbered from 0 by writer.

    Args:
        program: a module there.
        words: of its command line.
        life: after how many acknowledgements it may be killed.
        writers: how many of its writers must have one before that.
    """
    with Forked(sys.executable, "-m", f"tests.reliability.programs.{program}", *words) as child:
        lines = [child.stdout.readline() for _ in range(random.choice(life))]
        while len({line.split()[0] for line in lines if line}) < writers and lines[-1]:
            lines.append(child.stdout.readline())
        child.kill()
        lines += child.stdout.read().splitlines()
        assert child.wait() == -9, child.stderr.read()
    acknowledged = Acknowledged()
    for line in filter(None, lines):
        writer, number = line.split()
        assert int(number) == acknowledged[writer]
        acknowledged[writer] += 1
    return acknowledged
