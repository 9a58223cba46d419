"""The main job, on a file, with nothing to install beside it and no network: ``make demo``.

First the histories of other tools are indexed and recalled (``past_chats.py``), then a conversation is kept and
summarized (``on_call.py``), then facts outlive theirs (``acquaintance.py``).

``python examples/demo.py FOLDER`` leaves its data in FOLDER, in the place of an earlier run's, and says how to open them
in a browser; without a FOLDER nothing stays.
"""

import asyncio
import os
import shlex
import sys
import tempfile
from pathlib import Path

from acquaintance import MEI, acquaintance
from change_of_mind import change_of_mind
from on_call import on_call
from on_screen import headline
from past_chats import past_chats

STORE, PAST_CHATS = "agent.db", "past-chats.db"


def main(folder: Path) -> None:
    """Play every part, each from a module of its own."""
    past_chats(folder / PAST_CHATS)
    asyncio.run(on_call(folder / STORE))
    asyncio.run(acquaintance(folder / STORE))
    asyncio.run(change_of_mind(folder / STORE))


def again(folder: Path) -> None:
    """Play in *folder*, without what an earlier run has left there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"{folder}: {error.strerror}")
    # An earlier run left both, the index first.
    if (folder / STORE).exists() and not (folder / PAST_CHATS).exists():
        sys.exit(f"{folder / STORE} is not the demo's, and stays as it is: name an empty folder")
    for file in (STORE, PAST_CHATS):
        for journal in ("", "-wal", "-shm"):
            (folder / f"{file}{journal}").unlink(missing_ok=True)
    main(folder)
    headline(
        "All this in a browser: a line of a conversation saved to memory, memories found, promoted, forgotten"
    )
    serve = [Path(sys.executable).with_name("chatmemory"), "serve", "--store", folder / STORE]
    serve += ["--past-chats", folder / PAST_CHATS, "--user", MEI.user, "--app", MEI.app]
    print(shlex.join(_from_here(part) for part in serve))


def _from_here(part: str | Path) -> str:
    here = Path.cwd()
    return str(part.relative_to(here) if isinstance(part, Path) and part.is_relative_to(here) else part)


if __name__ == "__main__":
    if isinstance(sys.stdout.encoding, str) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8")  # a pipe in the C locale speaks ASCII
    try:
        if sys.argv[1:]:
            again(Path(sys.argv[1]))
        else:
            with tempfile.TemporaryDirectory() as folder:
                main(Path(folder))
    except BrokenPipeError:  # whoever reads has seen enough; Python's last flush must not complain either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
