"""``mcp``: serve the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chatmemory.programs.pastchats.host import McpServing
from chatmemory.programs.pastchats.options import with_host

if TYPE_CHECKING:
    from chatmemory.programs.pastchats.host import Host


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
