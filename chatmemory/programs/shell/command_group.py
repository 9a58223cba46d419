"""``CommandGroup``: commands that are imported on first use; ``run_group`` runs one and returns its exit code.

``completion_command`` makes the command ``completion`` of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple, cast, final

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from chatmemory.programs.shell.exit_codes import (
    INTERRUPTED,
    UNWRITABLE,
    USAGE,
    CommandError,
    discard_unwritten,
    exit_code,
    explained,
)
from chatmemory.programs.shell.options import Opening


class Entry(NamedTuple):
    """A command: the module that defines it, which is imported on first use, and its line in ``--help``.

    Attributes:
        is_rare: ``--help`` lists only its name.
    """

    module: str
    help: str
    is_rare: bool = False


@final
class CommandGroup(click.Group):
    """A click group that imports a command on first use, so that a short one does not wait for the others."""

    def __init__(self, *args: Any, entries: Mapping[str, Entry], **kwargs: Any) -> None:
        """Make a group of *entries*, the commands by name in the order of ``--help``; the rest is as ``click.Group`` takes it."""
        super().__init__(*args, **kwargs)
        self.entries = entries

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; on Ctrl-C end it without the empty line that click would print."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click names it
        """Return the names in the order of ``--help``."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click names it
        """Return the command of that name."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        name = cmd_name.replace("-", "_")
        module = import_module(entry.module)
        return cast("click.Command", getattr(module, f"{name}_" if name == "import" else name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that *args* begin with; for an unknown one, suggest the nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            meant = get_close_matches(args[0], self.entries, n=1)
            if not meant:
                raise
            raise click.UsageError(f"{error.message} Did you mean '{meant[0]}'?", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  likewise
        """Write the line of each command."""
        rare = [name for name, entry in self.entries.items() if entry.is_rare]
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.help) for name, one in self.entries.items() if not one.is_rare])
            if rare:
                formatter.write_text(f"Also: {', '.join(rare)}.")


def run_group(
    group: click.Group,
    name: str,
    open_host: Callable[..., object],
    arguments: Sequence[str],
    *,
    is_colourful: bool = True,
    usage_code: Callable[[click.UsageError], int] = lambda _: USAGE,
) -> int:
    """Run the command that *arguments* name, and return its exit code.

    Args:
        group: the commands.
        name: the program's name, with which its lines on standard error begin.
        open_host: opens what runs the effects of the commands; its named arguments are the options that choose what it uses.
        arguments: the words of the command line after the program.
        is_colourful: whether output to a terminal has colours; a pipe never gets any.
        usage_code: the exit code of a usage error.
    """

    def said(message: str, code: int) -> int:
        click.echo(f"{name}: {message}", err=True)
        return code

    color = None if is_colourful else False
    try:
        code = group.main(
            arguments, prog_name=name, obj=Opening(open_host), standalone_mode=False, color=color
        )
    except CommandError as failed:
        return said(explained(failed.error, name), exit_code(failed.error))
    except click.UsageError as error:
        error.show()
        return usage_code(error)
    except click.ClickException as error:
        return said(error.format_message(), error.exit_code)
    except OSError as error:
        discard_unwritten()
        return said(f"input or output failed: {error.strerror or error}", UNWRITABLE)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    return code if isinstance(code, int) else 0


SHELLS: Final = {kind.name: kind for kind in (BashComplete, ZshComplete, FishComplete)}


def completion_command(name: str) -> click.Command:
    """Return the command that prints the completion script of a shell for the program *name*."""

    @click.command(
        help=f"""Print the completion script of SHELL.

        \b
          echo 'eval "$({name} completion bash)"' >> ~/.bashrc
          echo 'eval "$({name} completion zsh)"' >> ~/.zshrc
          {name} completion fish > ~/.config/fish/completions/{name}.fish
        """
    )
    @click.argument("shell", type=click.Choice(list(SHELLS)))
    @click.pass_context
    def completion(context: click.Context, shell: str) -> None:
        variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
        click.echo(SHELLS[shell](context.find_root().command, {}, name, variable).source())

    return completion
