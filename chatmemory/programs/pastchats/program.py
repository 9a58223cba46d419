"""The ``pastchats-memory`` program: its commands, and its exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from chatmemory.programs.pastchats.host import Host
from chatmemory.programs.pastchats.options import with_host
from chatmemory.programs.shell.command_group import CommandGroup, Entry, run_group
from chatmemory.programs.shell.exit_codes import HARMLESS, USAGE

NAME: Final = "pastchats-memory"


EXPLANATION: Final = """\
Exit codes: 0 success (also if nothing was found), 1 doctor found an error, index could not read a given path, import
could read nothing, or the output could not be written, 2 wrong usage, 3 invalid input, 4 unknown source, 5 the index cannot be used, 6 the embedder failed,
7 invalid configuration."""

COMMANDS: Final = {
    "init": Entry(f"{__package__}.index_commands", "Create an empty index and print its path."),
    "index": Entry(
        f"{__package__}.index_commands", "Read chat histories; later runs read what is new or changed."
    ),
    "recall": Entry(
        f"{__package__}.find_commands", "Print what worked and what failed before, with sources."
    ),
    "search": Entry(f"{__package__}.find_commands", "Search turns by words and meaning."),
    "show": Entry(f"{__package__}.find_commands", "Print the turns around a search result."),
    "stats": Entry(f"{__package__}.maintenance_commands", "Count turns by format, role and project."),
    "doctor": Entry(f"{__package__}.maintenance_commands", "Check the index without changing it."),
    "watch": Entry(f"{__package__}.index_commands", "Index new turns whenever a history changes."),
    "service": Entry(f"{__package__}.service_command", "Print a unit file that keeps watch running."),
    "hook": Entry(f"{__package__}.hook_commands", "Run as a hook of a coding agent."),
    "mcp": Entry(f"{__package__}.mcp_command", "Run as an MCP server for a coding agent."),
    "forget": Entry(f"{__package__}.maintenance_commands", "Delete turns permanently."),
    "prune": Entry(f"{__package__}.maintenance_commands", "Delete turns that are no longer in their files."),
    "reindex": Entry(f"{__package__}.index_commands", "Rebuild the word index."),
    "re-embed": Entry(f"{__package__}.index_commands", "Recompute the vectors with the current embedder."),
    "export": Entry(f"{__package__}.maintenance_commands", "Write turns as JSON Lines."),
    "import": Entry(f"{__package__}.maintenance_commands", "Read turns that export wrote."),
    "completion": Entry(f"{__package__}.maintenance_commands", "Print the completion script of a shell."),
}
FLAT_HOOKS: Final = {
    "hook-user-prompt-submit": ("hook", "user-prompt-submit"),
    "hook-stop": ("hook", "stop"),
}
"""Aliases of the hooks, for agents that configure a single word."""


@click.group(
    cls=CommandGroup,
    entries=COMMANDS,
    flat=FLAT_HOOKS,
    epilog=EXPLANATION,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
)
@click.version_option(package_name="chatmemory-effect", message="%(version)s")
@with_host
def program(_: Host) -> None:
    """Index years of agent chats, and recall what worked and what failed before a task.

    \b
      pastchats-memory index                                     first, and when there are new chats
      pastchats-memory recall --query "build webhook retries"    before a task
      pastchats-memory search "database is locked" --since 90d
      pastchats-memory COMMAND --help                            shows examples

    Everything stays on this machine, in one SQLite file that only you can read.
    """


def run(host: Host, arguments: Sequence[str] | None = None, *, is_colourful: bool = True) -> int:
    """Run the command that *arguments* (those of the process by default) name, and return its exit code.

    With *is_colourful* the output to a terminal has colours; a pipe never gets any.
    """
    return run_group(program, NAME, host, arguments, is_colourful=is_colourful, usage_code=_usage_code)


def _usage_code(error: click.UsageError) -> int:
    return HARMLESS if _is_hook(error) else USAGE


def _is_hook(error: click.UsageError) -> bool:
    return error.ctx is not None and f"{NAME} hook" in error.ctx.command_path
