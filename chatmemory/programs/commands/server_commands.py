"""``serve``, ``token``, ``audit``: the server, its tokens and its audit trail; ``doctor``, ``completion``: upkeep."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import click

from chatmemory.effect.lazy import LazyModule
from chatmemory.programs.commands.host import Serving
from chatmemory.programs.commands.options import after_option, say, tell_more, with_host
from chatmemory.programs.shell.command_group import completion_command
from chatmemory.programs.shell.exit_codes import FINDINGS
from chatmemory.programs.shell.findings import findings_object, findings_text
from chatmemory.programs.shell.options import as_json_option, instant_of, number_option
from chatmemory.text.shown_text import local_time, shown

if TYPE_CHECKING:
    from chatmemory.effect.services import clock
    from chatmemory.events.audit import AuditEntry
    from chatmemory.programs.commands.host import Host
    from chatmemory.programs.operations import changes
    from chatmemory.settings import server_settings
else:
    clock = LazyModule("chatmemory.effect.services.clock")
    changes = LazyModule("chatmemory.programs.operations.changes")
    server_settings = LazyModule("chatmemory.settings.server_settings")


EXIT_CODES: Final = """\
Exit codes: 0 ended by Ctrl-C or SIGTERM, 1 a part is not installed, 2 wrong usage, 5 the store cannot be opened,
7 invalid configuration, an address that needs a token, or a port in use, 130 Ctrl-C before the server was ready."""

ABOUT_TOKENS: Final = """\
\b
Examples:
  chatmemory token phone --user mei
  chatmemory token phone --user mei 2>> chatmemory.toml    prints the token, and adds its hash to the file

To replace a token, rename its hash and expires to previousHash and previousExpires, and add the lines of the new token.
Both are valid until the previous one expires or is removed."""

NOTHING: Final = (
    "no entries; only the clients of a server are recorded, not programs that open the store directly"
)
HIGHEST_PORT: Final = 65_535
LONGEST_DAYS: Final = 36_500  # the value of server_settings.py, repeated here so that --help need not load it
MOST_ENTRIES: Final = 1000  # the value of operations/changes.py, repeated for the same reason
YEAR_DAYS: Final = 365

BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
"""The characters of a TOML key that needs no quotes."""


@click.command(epilog=EXIT_CODES)
@click.option("--past-chats", metavar="FILE", help="The index file of pastchats-memory.")
@click.option(
    "--host", "address", help="The address to listen on; an address that other machines reach needs a token."
)
@click.option("--port", type=click.IntRange(0, HIGHEST_PORT), help="The port; 0 for any free port.")
@click.option("--quiet", is_flag=True, help="Log no requests.")
@with_host
def serve(host: Host, past_chats: str | None, address: str | None, port: int | None, *, quiet: bool) -> None:
    """Serve the page and the HTTP API of a memory, until Ctrl-C.

    An option that is not given comes from the settings.

    \b
      chatmemory serve
      chatmemory serve --store agent.db --user mei --port 8642
    """
    host.serve(Serving(past_chats, address, port, quiet))


@click.command(epilog=ABOUT_TOKENS)
@click.argument("name")
@click.option("--user", default="default", show_default=True, help="The user whose memories the client sees.")
@number_option(
    "--days",
    least=0,
    most=LONGEST_DAYS,
    default=YEAR_DAYS,
    help="The number of days that it is valid; 0: until its hash is removed.",
)
def token(name: str, user: str, days: int) -> None:
    """Make a token with the name NAME for a client of the server.

    The token is printed once, to standard output. Add the lines on standard error to the configuration;
    config/chatmemory.toml explains the other settings of a token.
    """
    try:
        server_settings.check_token_name(name)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="NAME") from error
    if not user or not user.isprintable():
        raise click.BadParameter("the name may contain only printable characters", param_hint="--user")
    made = server_settings.new_token()
    key = name if BARE_KEY.fullmatch(name) else _toml_text(name)
    lines = [f"[server.tokens.{key}]", f'hash = "{server_settings.token_hash(made)}"']
    if days:
        lines.append(f"expires = {(clock.SystemClock().now() + timedelta(days=days)).date()}")
    click.echo(made)
    click.echo("\n".join(["", *lines, f"user = {_toml_text(user)}"]), err=True)


def _toml_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # the same in TOML for whatever can be printed


@click.command()
@click.option(
    "--since", metavar="WHEN", help="From this time on: 2026-03-01, 2026-03, or 7d for the last seven days."
)
@click.option(
    "--who", metavar="NAME", help="Only changes by this client: the name of its token, as the log shows it."
)
@click.option("--target", metavar="ID", help="Only changes of this conversation or memory.")
@click.option("--limit", type=click.IntRange(1, MOST_ENTRIES), default=100, show_default=True)
@after_option
@as_json_option
@with_host
def audit(
    host: Host,
    since: str | None,
    who: str | None,
    target: str | None,
    limit: int,
    after: str | None,
    *,
    as_json: bool,
) -> None:
    """Print who did what to which conversation or memory, newest first, without any content.

    Only clients of a server are recorded, by the names of their tokens; programs that open the store directly are not.

    \b
      chatmemory audit --since 7d --who phone
    """
    since_at = instant_of("--since", since, host.now())
    asked = changes.AuditList(limit=limit, after=after, who=who, target=target, since=since_at)
    page = host.trail(lambda: changes.audit_page(asked))
    if as_json or page.entries:
        say(page, "\n".join(map(_line, page.entries)), as_json=as_json)
    else:
        click.echo(NOTHING, err=True)
    if not as_json:
        tell_more(page.next)


def _line(entry: AuditEntry) -> str:
    at = " ".join(local_time(entry.at, "%Y-%m-%d %H:%M:%S"))
    owner = "/".join(filter(None, [entry.owner.user, entry.owner.app])) or "nobody"
    return shown(f"{at}  {entry.who} ({entry.user}) {entry.action} {entry.kind} {entry.target!r} of {owner}")


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


completion = completion_command("chatmemory")
