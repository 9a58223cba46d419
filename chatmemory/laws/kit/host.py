"""``Host``: a repository on an event loop in its own thread, for a state machine, which is not asynchronous."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack
from types import TracebackType
from typing import Generic, Self, TypeVar, final

from anyio.from_thread import BlockingPortal, start_blocking_portal

from chatmemory.laws.kit.law import EventLoop

T = TypeVar("T")
W = TypeVar("W")


@final
class Host(AbstractContextManager["Host[W]"], Generic[W]):
    """Keeps a repository open; *witness* asks it, and is a new one after every ``reopen``."""

    def __init__(
        self, open_witness: Callable[[], AbstractAsyncContextManager[W]], *, event_loop: EventLoop
    ) -> None:
        self._open_witness = open_witness
        self._event_loop = event_loop
        self._running = ExitStack()
        self._opened = ExitStack()
        self._portal: BlockingPortal
        self.witness: W

    def __enter__(self) -> Self:
        self._portal = self._running.enter_context(start_blocking_portal(self._event_loop))
        self._running.push(self._opened)
        self.reopen()
        return self

    def reopen(self) -> None:
        """Close the repository if it is open, and open it (again)."""
        self._opened.close()
        opening = self._portal.wrap_async_context_manager(self._open_witness())
        self.witness = self._opened.enter_context(opening)

    def ask(self, question: Callable[[W], Awaitable[T]]) -> T:
        """Await *question*, called with the witness, on the event loop."""
        return self._portal.call(question, self.witness)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._running.__exit__(kind, error, trace)
