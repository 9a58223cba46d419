"""The ``pastchats-memory`` program: its commands, its exit codes, and what it prints without a command."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import click

from chatmemory.programs.pastchats.host import Host
from chatmemory.programs.pastchats.options import host_options
from chatmemory.programs.shell.command_group import CommandGroup, Entry, run_group
from chatmemory.programs.shell.exit_codes import HARMLESS, USAGE, CommandError
from chatmemory.text.shown_text import local_time

NAME: Final = "pastchats-memory"

MOST_NAMED: Final = 6
"""The number of formats that are named, those with the most files first."""

NEXT: Final = """
  pastchats-memory index                                     read new and changed chats
  pastchats-memory recall --query "build webhook retries"    what worked and what failed before
  pastchats-memory --help                                    all commands
"""

EXPLANATION: Final = """\
Exit codes: 0 done, 1 a problem was found, 2 usage, 3 input, 4 unknown source, 5 index, 6 embedder, 7 settings."""

COMMANDS: Final = {
    "init": Entry(f"{__package__}.index_commands", "Create an empty index and print its path.", is_rare=True),
    "index": Entry(
        f"{__package__}.index_commands", "Read chat histories; later runs read what is new or changed."
    ),
    "recall": Entry(
        f"{__package__}.find_commands", "Print what worked and what failed before, with sources."
    ),
    "search": Entry(f"{__package__}.find_commands", "Search turns by words and meaning."),
    "show": Entry(f"{__package__}.find_commands", "Print the turns around a search result."),
    "stats": Entry(
        f"{__package__}.maintenance_commands", "Count turns by format, role and project.", is_rare=True
    ),
    "doctor": Entry(f"{__package__}.maintenance_commands", "Check the index without changing it."),
    "watch": Entry(f"{__package__}.index_commands", "Index new turns whenever a history changes."),
    "service": Entry(
        f"{__package__}.serving_commands", "Print a unit file that keeps watch running.", is_rare=True
    ),
    "hook": Entry(f"{__package__}.hook_commands", "Run as a hook of a coding agent."),
    "mcp": Entry(f"{__package__}.serving_commands", "Run as an MCP server for a coding agent."),
    "forget": Entry(f"{__package__}.maintenance_commands", "Delete turns permanently.", is_rare=True),
    "prune": Entry(
        f"{__package__}.maintenance_commands", "Delete turns that are no longer in their files.", is_rare=True
    ),
    "reindex": Entry(f"{__package__}.index_commands", "Rebuild the word index.", is_rare=True),
    "re-embed": Entry(
        f"{__package__}.index_commands", "Recompute the vectors with the current embedder.", is_rare=True
    ),
    "export": Entry(f"{__package__}.maintenance_commands", "Write turns as JSON Lines.", is_rare=True),
    "import": Entry(f"{__package__}.maintenance_commands", "Read turns that export wrote.", is_rare=True),
    "completion": Entry(
        f"{__package__}.maintenance_commands", "Print the completion script of a shell.", is_rare=True
    ),
}


@click.group(
    cls=CommandGroup,
    entries=COMMANDS,
    epilog=EXPLANATION,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(package_name="chatmemory-effect", message="%(version)s")
@host_options
@click.pass_context
def program(context: click.Context) -> None:
    """Search years of agent chats before a task.  COMMAND --help explains each."""
    if context.invoked_subcommand is not None:
        return
    host: Host = context.obj.host()
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
    when = "" if at is None else f", last indexed {local_time(at)[0]}"
    return f"{statistics.prompts:,} turns of {statistics.conversations:,} conversations{when} ({host.path()})"


def _usage_code(error: click.UsageError) -> int:
    is_hook = error.ctx is not None and f"{NAME} hook" in error.ctx.command_path
    return HARMLESS if is_hook else USAGE


run: Final = partial(run_group, program, NAME, usage_code=_usage_code)
