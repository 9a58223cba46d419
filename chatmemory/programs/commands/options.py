"""Options that several commands of ``chatmemory`` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import click

from chatmemory.programs.shell.options import F, host_option, instant_of, number_option, pass_host

if TYPE_CHECKING:
    from datetime import datetime

    from chatmemory.programs.commands.host import Host

CATEGORIES: Final = ("preference", "fact", "pattern")
MEMORY_TYPES: Final = ("short_term", "long_term")
VIEWS: Final = ("model", "full")
STRATEGIES: Final = ("none", "summarize", "token_budget")


def with_host(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that select the store, and pass *command* the ``Host`` as its first argument."""
    store = host_option(
        "store", "FILE", "The SQLite file of conversations and memories; by default, as in the settings."
    )
    config = host_option("config", "FILE", "The settings file.  [env: CHATMEMORY_CONFIG]")
    user = host_option("user", "NAME", "The user whose memories are used; by default, as in the settings.")
    app = host_option("app", "NAME", "The app whose memories are used; by default, all apps.")
    decorated: Callable[..., None] = store(config(user(app(pass_host(command)))))
    return decorated


after_option: Final = click.option(
    "--after", metavar="CURSOR", help="Continue a list at this cursor, which the list prints at its end."
)


def page_options(command: F) -> F:
    """Add ``--limit`` and ``--after``."""
    limit = number_option("--limit", "-n", least=1, most=1000, default=20, help="The most to print.")
    limited: F = limit(after_option(command))
    return limited


as_of_option: Final = click.option(
    "--as-of",
    metavar="WHEN",
    help="The state at this time: 2026-03-01, 2026-03-01T14:30, or 7d for seven days ago.",
)


def past_instant(host: Host, text: str | None) -> datetime | None:
    """Return the instant given by ``--as-of``."""
    return instant_of("--as-of", text, host.now())


def say(value: object, text: str, *, as_json: bool) -> None:
    """Print *value* as JSON with ``--json``, else *text*."""
    if as_json:
        from chatmemory.input.structure import write_json

        text = write_json(value)
    click.echo(text)


def tell_more(cursor: str | int | None, option: str = "--after") -> None:
    """Print to stderr how to get the next page of a list."""
    if cursor is not None:
        click.echo(f"there are more: {option} '{cursor}'", err=True)
