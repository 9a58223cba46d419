"""``pastchats-memory`` itself: its commands, and what it tells the shell when one of them ends."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Final, NamedTuple, cast, final

import click

from chatmemory.programs.pastchats.exit_codes import (
    EXPLANATION,
    HARMLESS,
    INTERRUPTED,
    UNWRITABLE,
    USAGE,
    exit_code,
)
from chatmemory.programs.pastchats.host import CommandError, Host
from chatmemory.programs.pastchats.options import with_host

NAME: Final = "pastchats-memory"


class Entry(NamedTuple):
    """A command: the module that defines it, and what ``--help`` says of it; it is imported when it is used."""

    module: str
    help: str


COMMANDS: Final = {
    "init": Entry("index_commands", "Create an empty index and print its path."),
    "index": Entry("index_commands", "Read chat histories; later runs read what is new or changed."),
    "recall": Entry("find_commands", "Print what worked and what failed before, with sources."),
    "search": Entry("find_commands", "Search turns by words and meaning."),
    "show": Entry("find_commands", "Print the turns around a search result."),
    "stats": Entry("maintenance_commands", "Count turns by format, role and project."),
    "doctor": Entry("maintenance_commands", "Check the index without changing it."),
    "watch": Entry("index_commands", "Index new turns whenever a history changes."),
    "hook": Entry("hook_commands", "Run as a hook of a coding agent."),
    "mcp": Entry("mcp_command", "Run as an MCP server for a coding agent."),
    "forget": Entry("maintenance_commands", "Delete turns permanently."),
    "prune": Entry("maintenance_commands", "Delete turns that are no longer in their files."),
    "reindex": Entry("index_commands", "Rebuild the word index."),
    "re-embed": Entry("index_commands", "Recompute the vectors with the current embedder."),
    "export": Entry("maintenance_commands", "Write turns as JSON Lines."),
    "import": Entry("maintenance_commands", "Read turns that export wrote."),
    "completion": Entry("maintenance_commands", "Print the completion script of a shell."),
}
FLAT_HOOKS: Final = {"hook-user-prompt-submit": "user-prompt-submit", "hook-stop": "stop"}
"""Further names of the hooks, for agents that are configured with a single word."""


@final
class Commands(click.Group):
    """Loads a command when it is used: a recall waits for no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click names it
        """Return the names in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name."""
        if cmd_name in FLAT_HOOKS:
            hooks = cast("click.Group", self.get_command(ctx, "hook"))
            return hooks.get_command(ctx, FLAT_HOOKS[cmd_name])
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = import_module(f"{__package__}.{entry.module}")
        name = cmd_name.replace("-", "_")
        return cast("click.Command", getattr(module, f"{name}_" if name == "import" else name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that *args* begin with, or say which one may have been meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            meant = get_close_matches(args[0], COMMANDS, n=1)
            if not meant:
                raise
            raise click.UsageError(f"{error.message} Did you mean '{meant[0]}'?", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  likewise
        """Write what each command does."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


@click.group(
    cls=Commands,
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
    """Run the command that *arguments* name, those of the process unless they are given, and return its exit code.

    Where *is_colourful*, a terminal gets colours, and a pipe none.
    """
    color = None if is_colourful else False
    try:
        code = program.main(arguments, prog_name=NAME, obj=host, standalone_mode=False, color=color)
    except CommandError as failed:
        return _said(str(failed), exit_code(failed.error))
    except click.UsageError as error:
        error.show()
        return HARMLESS if _is_hook(error) else USAGE
    except click.ClickException as error:
        return _said(error.format_message(), error.exit_code)
    except OSError as error:
        return _said(f"input or output failed: {error.strerror or error}", UNWRITABLE)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _is_hook(error: click.UsageError) -> bool:
    return error.ctx is not None and f"{NAME} hook" in error.ctx.command_path


def _said(message: str, code: int) -> int:
    click.echo(f"{NAME}: {message}", err=True)
    return code
