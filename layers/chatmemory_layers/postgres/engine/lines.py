"""``Lines``: queues the writes of one process by their owner, so that each owner uses one connection at a time.

A turn goes to a write that waits for it, or to the next group of writes, see ``groups.py``.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeAlias, final

Turn: TypeAlias = Callable[[], bool]
"""The queue calls it when a turn is free.  It returns whether the turn is taken; then ``leave`` must follow."""


@final
class Lines:
    """The queues of one event loop, one for each owner."""

    def __init__(self) -> None:
        """Create no queue yet."""
        self._behind: dict[str, deque[Turn]] = {}  # by owner; the writer whose turn it is has left the queue

    def enter(self, owner: str, turn: Turn) -> None:
        """Join the queue of *owner*: call *turn* when its turn comes, at once if the queue is empty."""
        behind = self._behind.get(owner)
        if behind is not None:
            behind.append(turn)
        elif turn():
            self._behind[owner] = deque()

    def leave(self, owner: str) -> None:
        """End a turn, and offer it to the next in the queue until one takes it."""
        behind = self._behind[owner]
        while behind:
            if behind.popleft()():
                return
        del self._behind[owner]

    async def wait(self, owner: str) -> None:
        """Wait for the caller's turn with *owner*; a caller that is cancelled before leaves the queue."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def take() -> bool:
            if turn.done():
                return False
            turn.set_result(None)
            return True

        self.enter(owner, take)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # cancelled in the moment in which the turn was given
                self.leave(owner)
            raise
