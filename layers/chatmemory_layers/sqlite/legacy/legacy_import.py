"""The command that imports a file of the desktop application, of any version, into a store.

    python -m chatmemory_layers.sqlite.legacy.legacy_import OLD NEW [--user NAME]

OLD is only read.  Running the command again stores nothing twice, and continues after an interruption.
``legacy_reader.py`` says what is read from such a file.  The exit code is 0 on success, 2 for a wrong call, 3 when OLD
cannot be read, 4 when NEW cannot be opened or written, and 130 when the command is interrupted.
"""

import asyncio
import sqlite3
import sys
from argparse import ArgumentParser, Namespace as Arguments
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, final

from attrs import define

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect, EffectFailed, Failure, ManagedRuntime, Outcome, Success
from chatmemory.errors import RememberError
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import Duplicate
from chatmemory.longterm.memory_rules import memory_problems, namespace_problems
from chatmemory.settings.memory_settings import MemorySettings, Settings, SqliteSettings, StoreSettings
from chatmemory_layers.sqlite.engine.sqlite_problem import repository_error
from chatmemory_layers.sqlite.legacy.legacy_reader import LegacyFile, open_legacy_file
from chatmemory_layers.stacks import Stack, configured

EXIT_OLD_UNREADABLE: Final = 3
EXIT_NEW_UNUSABLE: Final = 4
EXIT_INTERRUPTED: Final = 130

ROWS_AT_ONCE: Final = 100  # in memory, and in one transaction per app


@final
@define
class ImportCounts:
    """How many rows were stored, known already, or left out so far."""

    stored: int = 0
    known: int = 0
    left_out: int = 0
    without_vector: int = 0

    def __str__(self) -> str:
        return (
            f"{self.stored} memories stored ({self.without_vector} of them without a vector), "
            f"{self.known} there already, {self.left_out} rows left out that hold no text"
        )


@Effect.gen
async def import_memories(
    do: Do[RememberError, LongTermMemoryService],
    file: LegacyFile,
    *,
    user: str,
    progress: Callable[[ImportCounts], object],
) -> ImportCounts:
    """Store the memories of *file* as those of *user*.

    Args:
        do: runs a step.
        file: the open file of the application.
        user: the user to whom the memories belong in the store.
        progress: called with the counts so far.
    """
    memory, counts = do.service(LongTermMemoryService), ImportCounts()
    rows = file.memories()
    while window := list(islice(rows, ROWS_AT_ONCE)):
        usable = [row for row in window if not memory_problems("$", row.memory)]
        counts.left_out += len(window) - len(usable)
        for app in dict.fromkeys(row.app for row in usable):
            memories = [row.memory for row in usable if row.app == app]
            report = await do(memory.remember(Namespace(user, app), memories, dedup="none"))
            counts.stored += len(report.stored)
            counts.known += sum(isinstance(outcome, Duplicate) for outcome in report.outcomes)
            counts.without_vector += report.unembedded
        progress(counts)
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = _arguments(arguments)
    try:
        return asyncio.run(_run(given.old, given.new, given.user))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


async def _run(old: Path, new: Path, user: str) -> int:
    store = StoreSettings(sqlite=SqliteSettings(path=str(new), legacy_file="refuse"))
    try:
        with open_legacy_file(old) as file:
            match await _import_into(configured(Settings(memory=MemorySettings(store=store))), file, user):
                case Success(counts):
                    if file.left_behind:
                        _say(f"columns without a counterpart, left behind: {', '.join(file.left_behind)}")
                    _say(str(counts))
                    return 0
                case Failure(error):
                    _say(f"{new}: {error}")
                    return EXIT_NEW_UNUSABLE
    except EffectFailed as failed:
        _say(f"{old}: {failed.error}")
    except (sqlite3.Error, OSError) as error:
        _say(f"{old}: {repository_error('read the old file', error)}")
    return EXIT_OLD_UNREADABLE


async def _import_into(store: Stack, file: LegacyFile, user: str) -> Outcome[ImportCounts, object]:
    try:
        async with ManagedRuntime(store) as runtime:
            return await runtime.run(import_memories(file, user=user, progress=_show))
    except EffectFailed as failed:
        return Failure(failed.error)


def _arguments(arguments: Sequence[str] | None) -> Arguments:
    parser = ArgumentParser(
        prog="python -m chatmemory_layers.sqlite.legacy.legacy_import",
        description="Read the memories of the desktop application's file OLD into the store NEW.",
        epilog="OLD is only read.  Running it again stores nothing twice.",
    )
    parser.add_argument("old", metavar="OLD", type=Path, help="the application's file, of any version")
    parser.add_argument("new", metavar="NEW", type=Path, help="a chatmemory store; made when it is not there")
    parser.add_argument("--user", default=SqliteSettings().legacy_user, help="whose memories they are")
    given = parser.parse_args(arguments)
    if problems := namespace_problems(Namespace(given.user)):
        parser.error(f"--user: {problems[0].message}")
    with suppress(OSError):  # a file is missing, or cannot be examined: opening it will say so
        if given.old.samefile(given.new):
            parser.error("OLD and NEW are one file")
    return given


def _show(counts: ImportCounts) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{counts}\r")


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
