"""``doctor`` checks the store; ``completion`` prints a shell's completion script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chatmemory.programs.commands.options import say, with_host
from chatmemory.programs.shell.command_group import completion_script
from chatmemory.programs.shell.exit_codes import FINDINGS
from chatmemory.programs.shell.findings import findings_object, findings_text
from chatmemory.programs.shell.options import as_json_option

if TYPE_CHECKING:
    from chatmemory.programs.commands.host import Host


@click.command()
@as_json_option
@with_host
def doctor(host: Host, *, as_json: bool) -> None:
    """Check the store without changing it; each finding says how to repair it.

    The exit code is 1 if something is wrong.

    \b
      chatmemory doctor --store agent.db
      chatmemory doctor --store postgresql://me@primary/chat
      chatmemory doctor --json | jq '.findings[] | select(.severity != "ok")'
    """
    findings = host.findings()
    told = findings_object(findings)
    say(told, findings_text(findings), as_json=as_json)
    if not told["isHealthy"]:
        raise click.exceptions.Exit(FINDINGS)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
      echo 'eval "$(chatmemory completion bash)"' >> ~/.bashrc
      echo 'eval "$(chatmemory completion zsh)"' >> ~/.zshrc
      chatmemory completion fish > ~/.config/fish/completions/chatmemory.fish
    """
    click.echo(completion_script(context, shell))
