"""``JobGroups``: what the tasks of a loop ask of one connection, done on its thread, group after group.

A group is whatever waits when the thread becomes free: it forms while the previous one runs, so nobody waits for
company, and it costs one hop there and one back.  Who was alone the last time is taken to be alone again.  What is done
with a group stands in ``group_commit.py`` and ``group_read.py``.
"""

import asyncio
import sqlite3
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

from chatmemory_layers.sqlite.worker_connection import WorkerConnection, tell

Job: TypeAlias = tuple[str, Callable[[Any, Any], Any], Any, "asyncio.Future[Any]"]
"""The operation's name, its work, the work's argument, and the future of whoever waits."""

Group: TypeAlias = Callable[[sqlite3.Connection, Sequence[Job]], list[Any]]
"""Does the jobs of a group and returns their outcomes in order, a defect as an exception in the list."""


@final
class JobGroups:
    """The jobs of one event loop, on their way to one connection."""

    def __init__(self, connection: WorkerConnection, do_group: Group, *, most: int = sys.maxsize) -> None:
        """Belong to the running event loop; a group has at most so many jobs."""
        self._connection = connection
        self._do_group = do_group
        self._most = most
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Job] = deque()  # appended to by the loop, taken from by the thread
        self._is_draining = False  # known to the loop only, so that no lock is needed
        self._is_alone = True  # likewise: the last group was of one

    def submit(
        self, operation: str, work: Callable[[Any, Any], Any], request: object
    ) -> "asyncio.Future[Any]":
        """Queue a job.  Cancelling the future does not stop it: it happens whole."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append((operation, work, request, answer))
        if not self._is_draining:
            self._is_draining = True
            if self._is_alone:
                self._connection.post(self._drain)
            else:  # one turn of the loop later: the tasks that the last group woke have all submitted by then
                self._loop.call_soon(self._connection.post, self._drain)
        return answer

    async def close(self) -> None:
        """Do what was submitted, then close the connection."""
        self._connection.post(self._drain)
        await self._connection.close()

    def _drain(self) -> None:
        """On the thread: do group after group until nobody waits."""
        while self._waiting:
            group = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._most))]
            answers = self._do_group(self._connection.native, group)
            tell(self._loop, self._settle, group, answers, not self._waiting)

    def _settle(self, group: Sequence[Job], answers: Sequence[Any], is_last: bool) -> None:
        """On the loop: wake who waits, one turn of the loop for the whole group."""
        for (_, _, _, future), answer in zip(group, answers, strict=True):
            if future.done():
                continue
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)
        if is_last:
            self._is_alone = len(group) == 1
            self._is_draining = bool(self._waiting)
            if self._waiting:
                self._connection.post(self._drain)
