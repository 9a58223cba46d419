"""``hook``: what coding agents call by themselves.

It never keeps an agent from working: it waits for nothing longer than ``LONGEST_WAIT_SECONDS``, and exits with 0, or with
1 when its own options are wrong; agents drop the prompt of a person for a hook that exits with 2.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from chatmemory.programs.pastchats.hooks import NoHook, captured, injected, prompt_hook, stop_hook
from chatmemory.programs.pastchats.host import CommandError
from chatmemory.programs.pastchats.options import with_host

if TYPE_CHECKING:
    from chatmemory.programs.pastchats.host import Host

LONGEST_WAIT_SECONDS: Final = 2.0  # a person sits there and waits for the agent


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
    host.longest_wait_seconds = LONGEST_WAIT_SECONDS
    asked = prompt_hook(_given(payload))
    if isinstance(asked, NoHook):
        _explain(asked)
        return
    try:
        answer = host.read(lambda chats: injected(chats, asked, tokens=host.settings().hook_tokens))
    except CommandError as failed:
        click.echo(str(failed), err=True)
    else:
        click.echo(answer, nl=bool(answer))


@hook.command()
@click.argument("payload", required=False)
@with_host
def stop(host: Host, payload: str | None) -> None:
    """Index the session in which the agent has just answered.

    \b
      echo '{"transcript_path": "~/.claude/projects/-app/0b7d.jsonl"}' | pastchats-memory hook stop
    """
    host.longest_wait_seconds = LONGEST_WAIT_SECONDS
    ended = stop_hook(_given(payload))
    if isinstance(ended, NoHook):
        _explain(ended)
        return
    try:
        report = host.write(lambda chats: captured(chats, ended))
    except CommandError as failed:
        click.echo(str(failed), err=True)
    else:
        for issue in report.issues:
            click.echo(str(issue), err=True)


def _given(payload: str | None) -> bytes:
    if payload:
        return payload.encode("utf-8", "surrogateescape")
    return sys.stdin.buffer.read()


def _explain(nothing: NoHook) -> None:
    if nothing.is_problem:
        click.echo(nothing.reason, err=True)
