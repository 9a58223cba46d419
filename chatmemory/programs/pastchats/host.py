"""``Host``: what a command runs its effect on; ``chatmemory_layers.main`` is one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from chatmemory.effect import Effect
    from chatmemory.effect.config.config_error import ConfigError
    from chatmemory.errors import PastChatsError
    from chatmemory.pastchats.contract import PastChats, PastChatsIndex
    from chatmemory.settings.past_chats_settings import PastChatsSettings

A = TypeVar("A")


class CommandError(Exception):
    """The effect of a command failed with *error*."""

    def __init__(self, error: PastChatsError | ConfigError) -> None:
        """Keep *error*, whose text is for the person at the terminal."""
        super().__init__(str(error))
        self.error = error


class McpServing(NamedTuple):
    """How the MCP server is to be; what is None, the settings say.

    Attributes:
        is_http: over HTTP, at *address* and *port*; otherwise over standard input and output.
        store: the SQLite file of conversations and memories.
        folders: which may be indexed, beside those that tools are known to use.
    """

    is_http: bool
    address: str | None
    port: int | None
    store: str | None
    user: str | None
    app: str | None
    folders: tuple[str, ...]


class Host(Protocol):
    """Runs what a command asks of the services, and returns what it succeeds with.

    A command imports no kernel and no service: ``--help`` loads neither.  A typed failure is raised as ``CommandError``.

    Attributes:
        db: the file of the index, where the command line names one.
        config: the file of the settings, where the command line names one.
        longest_wait_seconds: for a lock or an embedder, which is then asked once; None: as the settings say.
    """

    db: str | None
    config: str | None
    longest_wait_seconds: float | None

    def read(self, ask: Callable[[PastChats], Effect[A, PastChatsError]], /) -> A:
        """Ask an index that must exist, and write nothing."""
        ...

    def write(self, ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]], /) -> A:
        """Ask for a change of an index, which is made when it is not there."""
        ...

    def rehearse(self, ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]], /) -> A:
        """Ask what would change; nothing is written or made."""
        ...

    def serve_mcp(self, serving: McpServing, /) -> None:
        """Be an MCP server until the client ends it."""
        ...

    def settings(self) -> PastChatsSettings:
        """Return the settings of this run."""
        ...

    def path(self) -> str:
        """Return where the index lies."""
        ...

    def now(self) -> datetime:
        """Return the time, in the time zone of this machine."""
        ...
