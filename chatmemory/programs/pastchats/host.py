"""``Host``: runs the effects of the ``pastchats-memory`` commands; ``PastChatsHost`` in ``chatmemory_layers`` implements it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from chatmemory.effect import Effect
    from chatmemory.errors import PastChatsError
    from chatmemory.pastchats.contract import PastChats, PastChatsIndex
    from chatmemory.settings.past_chats_settings import PastChatsSettings

A = TypeVar("A")


class McpServing(NamedTuple):
    """The options of ``mcp``; None means that the settings decide.

    Attributes:
        is_http: serve HTTP at *address* and *port* instead of standard input and output.
        store: the SQLite file of conversations and memories.
        folders: folders that may be indexed in addition to those of known tools.
    """

    is_http: bool
    address: str | None
    port: int | None
    store: str | None
    user: str | None
    app: str | None
    folders: tuple[str, ...]


class Host(Protocol):
    """Runs the effect of a command on the services, and returns its value.

    Commands do not import the kernel or a service, so that ``--help`` loads neither.  A typed failure is raised as
    ``CommandError``.

    Attributes:
        db: the index file from the command line, if any.
        config: the settings file from the command line, if any.
        longest_wait_seconds: how long to wait for a lock or an embedder, without a retry; None means as the settings say.
    """

    db: str | None
    config: str | None
    longest_wait_seconds: float | None

    def read(self, ask: Callable[[PastChats], Effect[A, PastChatsError]], /) -> A:
        """Run an effect that reads an index, which must exist."""
        ...

    def write(self, ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]], /) -> A:
        """Run an effect that changes an index; a missing index is created."""
        ...

    def dry_run(self, ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]], /) -> A:
        """Run an effect as a dry run: nothing is written or created."""
        ...

    def serve_mcp(self, serving: McpServing, /) -> None:
        """Serve MCP until the client ends it."""
        ...

    def settings(self) -> PastChatsSettings:
        """Return the settings of this run."""
        ...

    def path(self) -> str:
        """Return the path of the index."""
        ...

    def now(self) -> datetime:
        """Return the current time in the time zone of this machine."""
        ...


OpenHost: TypeAlias = Callable[..., Host]
"""Opens a host; the named arguments ``db`` and ``config`` are options of the command line."""
