"""``hook``: the commands that coding agents run automatically.

A hook never blocks an agent: it waits at most ``LONGEST_WAIT_SECONDS``, and exits with 0, or with 1 if its own options are
wrong.  It never exits with 2, because agents then drop the user's prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chatmemory.programs.pastchats.hooks import NoHook, captured, stop_hook
from chatmemory.programs.pastchats.options import with_host
from chatmemory.programs.pastchats.quick_commands import LONGEST_WAIT_SECONDS, answer_prompt, given_to_hook
from chatmemory.programs.shell.exit_codes import CommandError

if TYPE_CHECKING:
    from chatmemory.programs.pastchats.host import Host


@click.group()
def hook() -> None:
    """Run as a hook of a coding agent, which passes JSON on stdin or as the last argument.

    It waits at most two seconds for a locked index or an embedder, and prints what failed to stderr.

    \b
    In ~/.claude/settings.json:
      {"hooks": {
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "pastchats-memory hook user-prompt-submit"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "pastchats-memory hook stop"}]}]}}
    """


@hook.command("user-prompt-submit")
@click.argument("payload", required=False)
@with_host
def user_prompt_submit(host: Host, payload: str | None) -> None:
    """Print a short recall for a prompt that asks for work.

    \b
      echo '{"prompt": "build webhook retries", "cwd": "/app"}' | pastchats-memory hook user-prompt-submit
    """
    answer_prompt(host, payload)


@hook.command()
@click.argument("payload", required=False)
@with_host
def stop(host: Host, payload: str | None) -> None:
    """Index the session in which the agent has just answered.

    \b
      echo '{"transcript_path": "~/.claude/projects/-app/0b7d.jsonl"}' | pastchats-memory hook stop
    """
    host.longest_wait_seconds = LONGEST_WAIT_SECONDS
    ended = stop_hook(given_to_hook(payload))
    if isinstance(ended, NoHook):
        if ended.is_problem:
            click.echo(ended.reason, err=True)
        return
    try:
        report = host.write(lambda chats: captured(chats, ended))
    except CommandError as failed:
        click.echo(str(failed), err=True)
    else:
        for issue in report.issues:
            click.echo(str(issue), err=True)
