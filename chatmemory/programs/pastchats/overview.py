"""``print_overview``: what is on this disk, what the index holds, and what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from chatmemory.programs.shell.exit_codes import CommandError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chatmemory.programs.pastchats.host import Host

MOST_NAMED: Final = 6
"""The number of formats that are named, those with the most files first."""

NEXT: Final = """
  pastchats-memory index                                     read new and changed chats
  pastchats-memory recall --query "build webhook retries"    what worked and what failed before
  pastchats-memory --help                                    all commands
"""


def print_overview(host: Host) -> None:
    """Print the histories of this disk by format, the state of the index, and the next commands."""
    click.echo("Past chats with agents, searched on this machine; nothing leaves it.\n")
    click.echo(f"Found:  {found_text(host.dry_run(lambda index: index.histories()))}")
    click.echo(f"Index:  {_index_text(host)}")
    click.echo(NEXT, nl=False)


def found_text(histories: Mapping[str, int]) -> str:
    """Return the number of files of each format.

    >>> found_text({"codex_cli": 1, "claude_code": 1240})
    'claude_code 1,240 files, codex_cli 1 file'
    """
    if not histories:
        return "no histories of known tools; index a folder of your own: pastchats-memory index FOLDER"
    ordered = sorted(histories.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{name} {count:,} file{'s' * (count != 1)}" for name, count in ordered[:MOST_NAMED]]
    more = len(ordered) - MOST_NAMED
    return ", ".join(named) + (f" and {more} more formats" if more > 0 else "")


def _index_text(host: Host) -> str:
    try:
        statistics = host.read(lambda chats: chats.statistics())
    except CommandError as failed:
        reason = getattr(failed.error, "reason", None)
        return "none yet" if getattr(reason, "problem", None) == "missing" else str(failed)
    at = statistics.last_indexed_at
    when = "" if at is None else f", last indexed {at.astimezone(host.now().tzinfo):%Y-%m-%d %H:%M}"
    return f"{statistics.prompts:,} turns of {statistics.conversations:,} conversations{when} ({host.path()})"
