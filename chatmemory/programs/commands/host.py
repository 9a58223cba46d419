"""``Host``: runs the effects of the ``chatmemory`` commands; ``MemoryHost`` in ``chatmemory_layers.server`` implements it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from chatmemory.access.namespace import Namespace
    from chatmemory.conversation.contract import ChatMemory
    from chatmemory.effect import Effect
    from chatmemory.errors import DataValidationError, GenericMemoryError, ServiceError
    from chatmemory.events.audit import AuditTrailTag
    from chatmemory.longterm.contract import LongTermMemory
    from chatmemory.pastchats.past_chats import Finding
    from chatmemory.programs.archive.rivals.rival import RivalFile

A = TypeVar("A")


class Serving(NamedTuple):
    """The options of ``serve``; None means that the settings decide.

    Attributes:
        past_chats: the index file of past chats.
        address: the address to listen on.
        port: the port to listen on; 0 chooses a free one.
        is_quiet: log no requests.
    """

    past_chats: str | None
    address: str | None
    port: int | None
    is_quiet: bool


class Host(Protocol):
    """Runs the effect of a command on the services, and returns its value.

    Commands do not import the kernel or a service, so that ``--help`` loads neither.  A typed failure is raised as
    ``CommandError``.  The services see the same data as a client of ``chatmemory serve`` without a token: the data of the
    user, and data without an owner.
    """

    def conversations(self, ask: Callable[[ChatMemory], Effect[A, ServiceError]], /) -> A:
        """Run an effect on the conversations of a store, which must exist."""
        ...

    def memories(
        self, ask: Callable[[LongTermMemory, Namespace], Effect[A, ServiceError]], /, *, creates: bool = False
    ) -> A:
        """Run an effect on the memories of the user; *creates* makes a missing store."""
        ...

    def run(
        self,
        ask: Callable[[], Effect[A, ServiceError, Any]],
        /,
        *,
        creates: bool = False,
        everybody: bool = False,
    ) -> A:
        """Run the effect that *ask* returns on all services, for the user or, with *everybody*, for all users."""
        ...

    def scratch(self, ask: Callable[[], Effect[A, ServiceError, Any]], /) -> A:
        """Run the effect that *ask* returns on all services of a new, empty store, which is deleted afterwards."""
        ...

    def trail(
        self, ask: Callable[[], Effect[A, DataValidationError | GenericMemoryError, AuditTrailTag]], /
    ) -> A:
        """Run the effect that *ask* returns on the audit trail of the store."""
        ...

    def findings(self) -> tuple[Finding, ...]:
        """Check the store, which must exist, without changing it."""
        ...

    def serve(self, serving: Serving, /) -> None:
        """Serve until Ctrl-C."""
        ...

    def rival_file(self, path: str, /) -> RivalFile:
        """Open the export of another tool."""
        ...

    def namespace(self) -> Namespace:
        """Return the namespace of the memories: user and app."""
        ...

    def now(self) -> datetime:
        """Return the current time in the time zone of this machine."""
        ...
