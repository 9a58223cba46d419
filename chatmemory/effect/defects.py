"""``defect_of``: distinguishes exceptions of broken code from cancellations, which end a task on request."""

from __future__ import annotations

import sys


class SelfCancelledError(RuntimeError):
    """The work ended in ``asyncio.CancelledError`` although its task was not cancelled.

    This happens when a library awaits a task or a future that it has cancelled itself.  A task group would treat it
    as a request to end, and would cancel its other tasks without an error.
    """

    def __init__(self) -> None:
        super().__init__("it ended in CancelledError, and nobody had cancelled it")


def defect_of(exception: BaseException) -> Exception | None:
    """Return the defect for *exception*; None when *exception* has to be raised again, because it ends the task.

    Call it in the task that caught the exception.

    Returns:
        *exception* itself if it is an ``Exception``; a ``SelfCancelledError`` for a cancellation without a request;
        None for a requested cancellation, and for ``KeyboardInterrupt``, ``SystemExit`` and the like.
    """
    if isinstance(exception, Exception):
        return exception
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or not isinstance(exception, asyncio.CancelledError):
        return None
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop, or trio, which cancels with its own exception class
        task = None
    if task is not None and task.cancelling():
        return None
    defect = SelfCancelledError()
    defect.__cause__ = exception
    return defect
