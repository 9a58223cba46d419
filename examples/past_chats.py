"""The first part of the demo: histories of several tools are indexed, searched, and recalled before a task."""

import os
import shlex
from pathlib import Path

from on_screen import headline

from chatmemory.programs.pastchats.program import run
from chatmemory_layers.past_chats_host import PastChatsHost

HISTORIES = Path(__file__).parent / "histories"


def past_chats(db: Path) -> None:
    """Run the commands that an agent runs, on an index of their own."""
    os.environ["PASTCHATS_DB"] = str(db)
    headline("Histories that several tools left behind are indexed; what each file is, its content says")
    command(f"index {shlex.quote(os.path.relpath(HISTORIES))}")
    headline("A word in one language, a meaning in another: the best hits and why they are")
    command("search --limit 2 --query 'sqlite database is locked'")
    command("search --limit 1 --query 中文全文检索怎么分词")
    headline("Before a task an agent asks what worked and what failed; this is what its model receives")
    command("recall --tokens 700 --query 'build webhook retries'")


def command(line: str) -> None:
    """Print a command as one would type it, then what it prints."""
    print(f"$ pastchats-memory {line}", flush=True)
    run(PastChatsHost, shlex.split(line))
    print()
