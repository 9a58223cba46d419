"""``defect_of``: tells the exceptions of broken code from those that end a task because somebody asked for it."""

from __future__ import annotations

import sys

__all__ = ["SelfCancelledError", "defect_of"]


class SelfCancelledError(RuntimeError):
    """The work ended in ``asyncio.CancelledError`` although nobody had cancelled its task.

    A library that awaits a task or a future which it has cancelled itself does so.  A task group would take that for a
    request to end, and end everything beside it without an error.
    """

    def __init__(self) -> None:
        super().__init__("it ended in CancelledError, and nobody had cancelled it")


def defect_of(exception: BaseException) -> Exception | None:
    """Return the defect that *exception* is, and None when it is to go on to whoever ends the task.

    Call it in the task that caught the exception.

    Args:
        exception: what was caught.

    Returns:
        *exception* itself if it is an ``Exception``; a ``SelfCancelledError`` for a cancellation that nobody has asked
        for; None for one that somebody has asked for, and for ``KeyboardInterrupt``, ``SystemExit`` and the like.
    """
    if isinstance(exception, Exception):
        return exception
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or not isinstance(exception, asyncio.CancelledError):
        return None
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop, or trio, which cancels with an exception of its own
        task = None
    if task is not None and task.cancelling():
        return None
    defect = SelfCancelledError()
    defect.__cause__ = exception
    return defect
