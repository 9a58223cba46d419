"""``service``: prints a unit file for systemd or launchd that keeps ``watch`` running; ``mcp``: serves an agent."""

from __future__ import annotations

import plistlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chatmemory.programs.pastchats.host import McpServing
from chatmemory.programs.pastchats.options import with_host

if TYPE_CHECKING:
    from chatmemory.programs.pastchats.host import Host


SYSTEMD: Final = """\
[Unit]
Description=Index chat histories whenever they change

[Service]
ExecStart={command}
Restart=on-failure
RestartSec=60
Nice=10

[Install]
WantedBy=default.target
"""
UNWRITABLE: Final = re.compile(
    "[\0-\x1f\x7f\ud800-\udfff]"
)  # systemd ends an entry at a line break, plistlib refuses the others
NEXT: Final = {
    "systemd": """\
next: pastchats-memory service systemd > ~/.config/systemd/user/pastchats-memory.service
      systemctl --user enable --now pastchats-memory""",
    "launchd": """\
next: pastchats-memory service launchd > ~/Library/LaunchAgents/chatmemory.pastchats.plist
      launchctl load ~/Library/LaunchAgents/chatmemory.pastchats.plist""",
}


@click.command()
@click.option("--http", "is_http", is_flag=True, help="Serve over streamable HTTP instead of stdio.")
@click.option(
    "--host",
    "address",
    help="With --http: the address to listen on; an address that other machines reach needs a token.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="With --http: the port; 0 for any free port.  [default: 8643]",
)
@click.option("--store", metavar="FILE", help="The SQLite file of conversations and memories.")
@click.option("--user", help="The user whose memories are used; the client cannot change it.")
@click.option("--app", help="The app whose memories are used; all apps if not given.")
@click.option(
    "--allow-index",
    "folders",
    multiple=True,
    metavar="FOLDER",
    help="Also let index_paths read this folder; may be repeated.",
)
@with_host
def mcp(
    host: Host, address: str | None, port: int | None, store: str | None, user: str | None, app: str | None,
    folders: tuple[str, ...], *, is_http: bool,
) -> None:  # fmt: skip
    """Give an agent memory over the Model Context Protocol.

    The agent starts this command and talks to it over standard input and output.  An option that is not given comes from
    the settings.  The tool index_paths may read the folders of known tools and those of --allow-index.

    \b
      claude mcp add memory -- pastchats-memory mcp
      pastchats-memory mcp --store ~/memory.db --user ada
      pastchats-memory mcp --http --port 8643
    """
    if not is_http and (address is not None or port is not None):
        raise click.UsageError("--host and --port need --http")
    host.serve_mcp(
        McpServing(
            is_http=is_http, address=address, port=port, store=store, user=user, app=app, folders=folders
        )
    )


@click.command()
@click.argument("manager", type=click.Choice(sorted(NEXT)), required=False)
@click.option(
    "--every",
    type=click.FloatRange(min=0.2),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between two checks.",
)
@with_host
def service(host: Host, manager: str | None, every: float) -> None:
    """Print a unit file for systemd or launchd (by default, the one of this system) that keeps watch running.

    \b
      pastchats-memory service systemd > ~/.config/systemd/user/pastchats-memory.service
      pastchats-memory service launchd --every 60
    """
    chosen = manager or ("launchd" if sys.platform == "darwin" else "systemd")
    watch = ["watch", "--every", f"{every:g}"]
    for option, path in (("--db", host.db), ("--config", host.config)):
        if path is not None:
            watch += [option, str(Path(path).absolute())]  # the service runs in another working folder
    command = [str(Path(sys.argv[0]).absolute()), *watch]
    if unwritable := next((word for word in command if UNWRITABLE.search(word)), None):
        raise click.UsageError(
            f"no unit file can name {unwritable!r}: rename it, without line breaks and other control characters"
        )
    click.echo(unit_file(chosen, command), nl=False)
    click.echo(NEXT[chosen], err=True)


def unit_file(manager: str, command: list[str]) -> str:
    """Return the unit file of *manager* that runs *command*.

    >>> unit_file("systemd", ["/home/mei/100 %/pastchats-memory", "watch"]).splitlines()[4]
    'ExecStart="/home/mei/100 %%/pastchats-memory" "watch"'
    """
    if manager == "systemd":
        return SYSTEMD.format(command=" ".join(map(_quoted, command)))
    agent = {
        "Label": "chatmemory.pastchats",
        "ProgramArguments": command,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
    }
    return plistlib.dumps(agent, sort_keys=False).decode()


def _quoted(word: str) -> str:
    """Quote *word* for systemd, which would otherwise expand variables and specifiers in it."""
    for special, written in (("\\", "\\\\"), ('"', '\\"'), ("$", "$$"), ("%", "%%")):
        word = word.replace(special, written)
    return f'"{word}"'
