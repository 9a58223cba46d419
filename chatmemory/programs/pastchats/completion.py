"""``completion``: what a shell needs to complete commands and options."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
      echo 'eval "$(pastchats-memory completion bash)"' >> ~/.bashrc
      echo 'eval "$(pastchats-memory completion zsh)"' >> ~/.zshrc
      pastchats-memory completion fish > ~/.config/fish/completions/pastchats-memory.fish
    """
    root = context.find_root()
    name = root.info_name or ""
    kind = get_completion_class(shell)
    if kind is None:
        msg = f"no completion for {shell}"
        raise click.UsageError(msg)
    click.echo(kind(root.command, {}, name, "_PASTCHATS_MEMORY_COMPLETE").source())
