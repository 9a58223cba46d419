"""``killed_at_random``: starts a program that works for ever, kills it (kill -9), and counts what it has acknowledged."""

import asyncio
import random
import sys
from collections import Counter

from tests.patience import PATIENCE_SECONDS

Acknowledged = Counter[str]
"""What was done, by writer."""


async def killed_at_random(program: str, *words: str, life: range, writers: int = 1) -> Acknowledged:
    """Run *program* of ``tests.reliability.programs`` with *words*, and kill it in the middle of its work.

    It prints ``WRITER NUMBER`` for each piece of work that was acknowledged, numbered from 0 by writer.

    Args:
        program: a module there.
        words: of its command line.
        life: after how many acknowledgements it may be killed.
        writers: how many of its writers must have one before that.
    """
    command = ["-m", f"tests.reliability.programs.{program}", *words]
    child = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
    assert child.stdout is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        lines = [await child.stdout.readline() for _ in range(random.choice(life))]
        while len({line.split()[0] for line in lines if line}) < writers and not child.stdout.at_eof():
            lines.append(await child.stdout.readline())
        child.kill()
        lines += (await child.stdout.read()).splitlines()
    assert await child.wait() == -9
    acknowledged = Acknowledged()
    for line in lines:
        writer, number = line.decode().split()
        assert int(number) == acknowledged[writer]
        acknowledged[writer] += 1
    return acknowledged
