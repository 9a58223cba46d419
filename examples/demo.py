"""The main job, on a file, with nothing to install beside it and no network: ``make demo``.

First the histories of other tools are indexed and recalled (``past_chats.py``), then a conversation is kept and
summarized (``on_call.py``), then facts outlive theirs (``acquaintance.py``).
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from acquaintance import acquaintance
from on_call import on_call
from past_chats import past_chats


async def main(folder: Path) -> None:
    """Play what goes on in one event loop, each part in a file of its own."""
    await on_call(folder / "agent.db")
    await acquaintance(folder / "acquaintance.db")


if __name__ == "__main__":
    if isinstance(sys.stdout.encoding, str) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a pipe in the C locale speaks ASCII
    try:
        with tempfile.TemporaryDirectory() as folder:
            past_chats(Path(folder) / "pastchats.db")
            asyncio.run(main(Path(folder)))
    except BrokenPipeError:  # whoever reads has seen enough; Python's last flush must not complain either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
