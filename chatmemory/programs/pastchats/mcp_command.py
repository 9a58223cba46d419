"""``mcp``: be a server of the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chatmemory.programs.pastchats.host import McpServing
from chatmemory.programs.pastchats.options import with_host

if TYPE_CHECKING:
    from chatmemory.programs.pastchats.host import Host


@click.command()
@click.option("--http", "is_http", is_flag=True, help="Serve over streamable HTTP; by default over stdio.")
@click.option(
    "--host", "address", help="With --http: the address to listen at; one that others reach needs a token."
)
@click.option(
    "--port", type=click.IntRange(0, 65_535), help="With --http; 0: one that is free.  [default: 8643]"
)
@click.option("--store", metavar="FILE", help="The SQLite file of conversations and memories.")
@click.option("--user", help="Whose memories; the client cannot choose.")
@click.option("--app", help="In which app; not given: in all of them.")
@click.option(
    "--allow-index",
    "folders",
    multiple=True,
    metavar="FOLDER",
    help="Let index_paths read this folder too; may be repeated.",
)
@with_host
def mcp(
    host: Host, address: str | None, port: int | None, store: str | None, user: str | None, app: str | None,
    folders: tuple[str, ...], *, is_http: bool,
) -> None:  # fmt: skip
    """Give an agent memory over the Model Context Protocol.

    The agent's program starts it, and talks to it over standard input and output.  What is not given here, the settings
    say.  index_paths reads where the known tools keep their histories, and what --allow-index names.

    \b
      claude mcp add memory -- pastchats-memory mcp
      pastchats-memory mcp --store ~/memory.db --user ada
      pastchats-memory mcp --http --port 8643
    """
    if not is_http and (address is not None or port is not None):
        raise click.UsageError("--host and --port go with --http")
    host.serve_mcp(
        McpServing(
            is_http=is_http, address=address, port=port, store=store, user=user, app=app, folders=folders
        )
    )
