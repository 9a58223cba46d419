"""``chatmemory``, wired: ``serve`` opens the HTTP API and the page over what the settings say."""

import json
import logging
import os
import re
import socket
import sys
from collections.abc import Mapping
from datetime import timedelta
from importlib.util import find_spec
from typing import Final, NoReturn, cast, final

import anyio
import click

from chatmemory.effect import EffectFailed, Failure, ManagedRuntime, Success
from chatmemory.effect.config.config_error import ConfigError
from chatmemory.effect.services.clock import SystemClock
from chatmemory.errors import RepositoryError, memory_error
from chatmemory.extra import needed
from chatmemory.programs.operations.audit import MOST_ENTRIES, AuditList
from chatmemory.programs.pastchats.exit_codes import INTERRUPTED, exit_code
from chatmemory.settings.memory_settings import LONGEST_DAYS, Settings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory.settings.server_settings import HIGHEST_PORT, check_token_name
from chatmemory.settings.token_hash import new_token, token_hash
from chatmemory_layers.configuration import read_settings
from chatmemory_layers.server.token_notices import token_notices
from chatmemory_layers.setting_names import CONFIG

PARTS: Final = ("starlette", "uvicorn", "httptools")
"""Of the extra ``server``."""

EXIT_CODES: Final = """\
Exit codes: 0 ended by Ctrl-C or SIGTERM, 1 a part is not installed, 2 wrong usage, 5 the store cannot be opened,
7 invalid configuration, an address that needs a token, or a port that is taken, 130 Ctrl-C before it was open."""

EXIT_CODES_OF_READS: Final = """\
Exit codes: 0 success (also if nothing was found), 2 wrong usage, 3 invalid input, 5 the store cannot be opened,
7 invalid configuration."""

LINE: Final = "%(asctime)s %(message)s"

ABOUT_TOKENS: Final = """\
\b
Examples:
  chatmemory token phone --user mei
  chatmemory token phone --user mei 2>> chatmemory.toml    the token on the screen, its hash in the file

To replace a token, rename its hash and expires to previousHash and previousExpires, and put in the lines of the new one:
both are valid until the previous one expires or is removed."""
YEAR_DAYS: Final = 365

BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
"""What TOML takes for a key without quotes."""

log = logging.getLogger("chatmemory.http")


@final
class _Program(click.Group):
    """Ends quietly when Ctrl-C comes before the server that would hear it; click would say "Aborted!"."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


@click.group(cls=_Program)
@click.version_option(package_name="chatmemory-effect")
def main() -> None:
    """Memory of conversations, and beyond them, for agents; pastchats-memory searches the histories of other tools."""


@main.command(epilog=EXIT_CODES)
@click.option("--store", metavar="FILE", help="The SQLite file of conversations and memories.")
@click.option("--past-chats", metavar="FILE", help="The index that pastchats-memory keeps.")
@click.option("--host", help="The address to listen at; one that other machines reach needs a token.")
@click.option("--port", type=click.IntRange(0, HIGHEST_PORT), help="0: one that is free.")
@click.option("--user", help="Whose memories are shown.")
@click.option("--app", help="In which app; not given: in all of them.")
@click.option("--config", metavar="FILE", help=f"The TOML file of the settings; also {CONFIG}.")
@click.option("--quiet", is_flag=True, help="Log no requests.")
def serve(
    store: str | None,
    past_chats: str | None,
    host: str | None,
    port: int | None,
    user: str | None,
    app: str | None,
    config: str | None,
    *,
    quiet: bool,
) -> None:
    """Open the page and the HTTP API of a memory, until Ctrl-C.

    What is not given here, the settings say.
    """
    if missing := [part for part in PARTS if find_spec(part) is None]:
        click.echo(needed(", ".join(missing), extra="server"), err=True)
        sys.exit(1)
    given = {
        "server": {"host": host, "port": port, "user": user, "app": app},
        "memory": {"store": {"sqlite": {"path": store}}, "pastChats": {"path": past_chats}},
    }
    settings = _settings(config, given)
    logging.basicConfig(format=LINE, level=logging.WARNING)
    logging.getLogger("chatmemory.http").setLevel(logging.WARNING if quiet else logging.INFO)
    _serve(settings, names_past_chats=past_chats is not None)


@main.command(epilog=ABOUT_TOKENS)
@click.argument("name")
@click.option("--user", default="default", show_default=True, help="Whose memories the client sees.")
@click.option(
    "--days",
    type=click.IntRange(0, LONGEST_DAYS),
    default=YEAR_DAYS,
    show_default=True,
    help="How long it is valid; 0: until its hash is removed.",
)
def token(name: str, user: str, days: int) -> None:
    """Make a token for a client of the server, and call it NAME.

    The token is on standard output, this once; the configuration keeps the lines on standard error, and takes further
    ones: config/chatmemory.toml has them all.
    """
    try:
        check_token_name(name)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="NAME") from error
    if not user or not user.isprintable():
        raise click.BadParameter("a name, in letters, digits and signs", param_hint="--user")
    made = new_token()
    lines = [f"[server.tokens.{_toml(name)}]", f'hash = "{token_hash(made)}"']
    if days:
        lines.append(f"expires = {(SystemClock().now() + timedelta(days=days)).date()}")
    click.echo(made)
    click.echo("\n".join(["", *lines, f"user = {_toml_text(user)}"]), err=True)


def _toml(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else _toml_text(key)


def _toml_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # the same in TOML for whatever can be printed


@main.command(epilog=EXIT_CODES_OF_READS)
@click.option("--store", metavar="FILE", help="The SQLite file of conversations and memories.")
@click.option("--config", metavar="FILE", help=f"The TOML file of the settings; also {CONFIG}.")
@click.option(
    "--since", metavar="WHEN", help="From this time on: 2026-03-01, 2026-03, or 7d for the last seven days."
)
@click.option(
    "--who", metavar="NAME", help="Only what this client did: the name of its token, as the log shows it."
)
@click.option("--target", metavar="ID", help="Only what was done to this conversation or memory.")
@click.option("--limit", type=click.IntRange(1, MOST_ENTRIES), default=100, show_default=True)
@click.option("--after", metavar="CURSOR", help="Continue where a list has ended, which says how.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audit(
    store: str | None,
    config: str | None,
    since: str | None,
    who: str | None,
    target: str | None,
    limit: int,
    after: str | None,
    *,
    as_json: bool,
) -> None:
    """Print who did what to which conversation or memory, newest first, never what was said.

    Clients of servers are on record, by the name of their token; programs that have the store to themselves are not.

        chatmemory audit --since 7d --who phone
    """
    from chatmemory_layers.server.audit_command import instant_of, read_trail, show

    settings = _settings(config, {"memory": {"store": {"sqlite": {"path": store}}}})
    asked = AuditList(limit=limit, after=after, who=who, target=target, since=instant_of(since))
    match read_trail(settings, asked):
        case Success(page):
            show(page, as_json=as_json)
        case Failure(error):
            click.echo(f"chatmemory: {error}", err=True)
            sys.exit(exit_code(error))


def _settings(config: str | None, given: Mapping[str, object]) -> Settings:
    read = read_settings(config or os.environ.get(CONFIG) or None, given=given)
    return _fail(read.failure()) if isinstance(read, Failure) else read.unwrap()


def _miss(settings: PastChatsSettings) -> None:
    """Say that the index that was named is not there: its page would only be empty, and nobody would know why."""
    from chatmemory_layers.sqlite.prompts.prompt_store import store_path

    if not (path := store_path(settings)).exists():
        click.echo(
            f"chatmemory: --past-chats: there is no {path} yet; pastchats-memory index makes it", err=True
        )


def _serve(settings: Settings, *, names_past_chats: bool) -> None:
    from chatmemory_layers.server.listening import open_listener

    server = settings.server
    match open_listener(server.host, server.port, needs_token=server.needs_token):
        case Success(listener):
            pass
        case Failure(error):
            _fail(error)
    if names_past_chats:
        _miss(settings.memory.past_chats)
    for notice in token_notices(server, SystemClock().now()):
        log.warning("%s", notice)
    try:
        anyio.run(_answer, settings, listener)
    except EffectFailed as failed:  # the services could not be built
        _fail(cast("RepositoryError | ConfigError", failed.error))


async def _answer(settings: Settings, listener: socket.socket) -> None:
    from chatmemory.programs.http.app import application
    from chatmemory_layers.server.http_connection import ConnectionLimits
    from chatmemory_layers.server.interpreter import suit_many_clients
    from chatmemory_layers.server.listening import url_of
    from chatmemory_layers.server.serving import serve as serve_at
    from chatmemory_layers.server.stack import server_stack

    with listener:
        async with ManagedRuntime(server_stack(settings)) as runtime:
            closing = anyio.Event()
            app = application(runtime, settings.server, closing=closing)
            click.echo(f"chatmemory is at {url_of(listener)} (Ctrl-C ends it)")
            limits = ConnectionLimits(head_seconds=settings.server.header_seconds)
            suit_many_clients()
            await serve_at(app, listener, closing=closing, limits=limits)


def _fail(error: RepositoryError | ConfigError) -> NoReturn:
    lifted = memory_error(error)
    click.echo(f"chatmemory: {lifted}", err=True)
    sys.exit(exit_code(lifted))


if __name__ == "__main__":
    main()
