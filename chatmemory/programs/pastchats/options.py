"""Options that several commands of ``pastchats-memory`` share, and the parsing of their values."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, cast, get_args

import click

from chatmemory.input.choices import Role
from chatmemory.pastchats.prompt import PromptFilter
from chatmemory.programs.shell.options import F, Opening, host_option, instant_of, pass_host

if TYPE_CHECKING:
    from chatmemory.programs.pastchats.host import Host

ROLES: Final[tuple[Role, ...]] = get_args(Role)


def host_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--db`` and ``--config``."""
    db = host_option("db", "FILE", "The index file.  [env: PASTCHATS_DB]")
    config = host_option("config", "FILE", "The settings file.  [env: CHATMEMORY_CONFIG]")
    decorated: Callable[..., None] = db(config(command))
    return decorated


def with_host(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--db`` and ``--config``, and pass *command* the resulting ``Host`` as its first argument."""
    return host_options(pass_host(command))


def each_named(_: click.Context, parameter: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse an empty path, which would mean the current folder."""
    if "" in paths:
        raise click.BadParameter("one of them is empty: is a shell variable unset?", param=parameter)
    return paths


paths_argument: Final = click.argument("paths", nargs=-1, metavar="[PATH]...", callback=each_named)


def resolved(path: str) -> str:
    """Return the absolute *path*, as a report names it, if the file exists."""
    return cast("str", click.Path(resolve_path=True).convert(path, None, None))


def filter_options(command: F) -> F:
    """Add the filter options, and pass them to the command as ``which: PromptFilter``."""

    @click.option(
        "--project",
        "-p",
        "projects",
        multiple=True,
        metavar="NAME",
        help="Only turns of this project; may be repeated, like the next three options.",
    )
    @click.option(
        "--role", "-r", "roles", multiple=True, type=click.Choice(ROLES), help="Only turns of this role."
    )
    @click.option(
        "--format",
        "-f",
        "formats",
        multiple=True,
        metavar="NAME",
        help="Only turns of this format, for example claude_code.",
    )
    @click.option(
        "--conversation",
        "-c",
        "conversations",
        multiple=True,
        metavar="ID",
        help="Only turns of this conversation.",
    )
    @click.option(
        "--since",
        metavar="WHEN",
        help="Only turns at or after this time: 2026-03-01, 2026-03, or 7d for the last seven days; without a zone in that of this machine.",
    )
    @click.option(
        "--until",
        metavar="WHEN",
        help="Only turns before this time: 2026-04-01, or 7d for turns older than seven days.",
    )
    @click.pass_obj
    @wraps(command)
    def run(
        opening: Opening, /, *args: Any,
        projects: tuple[str, ...], roles: tuple[Role, ...], formats: tuple[str, ...], conversations: tuple[str, ...],
        since: str | None, until: str | None, **kwargs: Any,
    ) -> None:  # fmt: skip
        now = opening.host().now()
        which = PromptFilter(
            projects=projects,
            roles=roles,
            formats=formats,
            conversations=conversations,
            since=instant_of("--since", since, now),
            until=instant_of("--until", until, now),
        )
        command(*args, which=which, **kwargs)

    return cast("F", run)


def given_filters(which: PromptFilter) -> list[str]:
    """Return the options of ``filter_options`` that *which* has a value of."""
    given = {
        "--project": which.projects,
        "--role": which.roles,
        "--format": which.formats,
        "--conversation": which.conversations,
        "--since": which.since,
        "--until": which.until,
    }
    return [option for option, value in given.items() if value]


_EXISTING: Final = click.Path(exists=True, dir_okay=False, resolve_path=True)


def _from_here(context: click.Context, parameter: click.Parameter, source: str) -> str:
    # After the path, "#" separates the number of a turn, and "!" the member of an archive.
    for end in (len(source), source.rfind("#"), source.find("!")):
        try:
            path = cast("str", _EXISTING.convert(source[: max(end, 0)], parameter, context))
        except click.BadParameter:
            continue
        return path + source[end:]
    return source  # a conversation, or a file that is gone


source_argument: Final = click.argument("source", callback=_from_here)
"""SOURCE, as search prints it; a relative path in it is made absolute."""


def tell_unknown_names(host: Host, which: PromptFilter) -> None:
    """Print to stderr which filters of *which* match nothing in the index; for an empty answer."""
    if not (which.projects or which.formats):
        return
    from chatmemory.programs.operations.past_chats import unknown_names

    statistics = host.read(lambda chats: chats.statistics())
    for line in unknown_names(which, statistics):
        click.echo(line, err=True)
