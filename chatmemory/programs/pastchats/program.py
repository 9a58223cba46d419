"""``pastchats-memory`` itself: its commands, and what it tells the shell when one of them ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

import click

from chatmemory.programs.pastchats.completion import completion
from chatmemory.programs.pastchats.exit_codes import BROKEN_PIPE, EXPLANATION, INTERRUPTED, USAGE, exit_code
from chatmemory.programs.pastchats.find_commands import recall, search, show
from chatmemory.programs.pastchats.hook_commands import hook, stop, user_prompt_submit
from chatmemory.programs.pastchats.host import CommandError, Host
from chatmemory.programs.pastchats.index_commands import index, init, re_embed, reindex, watch
from chatmemory.programs.pastchats.options import with_host
from chatmemory.programs.pastchats.tend_commands import doctor, export, forget, import_, prune, stats

NAME: Final = "pastchats-memory"


@click.group(
    epilog=EXPLANATION, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True
)
@click.version_option(package_name="chatmemory-effect", message="%(version)s")
@with_host
def program(_: Host) -> None:
    """Index years of agent chats, and recall what worked and what failed before a task.

    \b
      pastchats-memory index                                     once, and whenever there is more
      pastchats-memory recall --query "build webhook retries"    before a task
      pastchats-memory search "database is locked" --since 90d
      pastchats-memory COMMAND --help                            teaches by example

    Everything stays on this machine, in one SQLite file that only you can read.
    """


for command in (init, index, search, recall, show, stats, doctor, watch, forget, prune, reindex, re_embed, export, import_, hook, completion):  # fmt: skip
    program.add_command(command)
# Where hooks are configured as a single word.
program.add_command(user_prompt_submit, "hook-user-prompt-submit")
program.add_command(stop, "hook-stop")


def run(host: Host, arguments: Sequence[str] | None = None) -> int:
    """Run the command that *arguments* name, those of the process unless they are given, and return its exit code."""
    try:
        code = program.main(arguments, prog_name=NAME, obj=host, standalone_mode=False)
        sys.stdout.flush()
    except CommandError as failed:
        return _said(str(failed), exit_code(failed.error))
    except click.UsageError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        return _said(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read has gone; what Python flushes at its end must go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return code if isinstance(code, int) else 0


def _said(message: str, code: int) -> int:
    click.echo(f"{NAME}: {message}", err=True)
    return code
