"""``start_task``: starts a task that belongs to no task group, on asyncio or trio.

Whoever starts one ends it and waits for it: a cancel scope or a task group in between would have to be left in the
reverse order of entering, which a fiber or a resource that outlives a step does not keep to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any

import anyio

__all__ = ["start_task"]


def start_task(run: Callable[[], Coroutine[Any, Any, None]]) -> object:
    """Start *run* and return its task, which the caller keeps: asyncio itself has only a weak reference to it."""
    if anyio.get_cancelled_exc_class() is asyncio.CancelledError:
        return asyncio.create_task(run())
    import trio  # noqa: PLC0415  only those who run on it have it

    return trio.lowlevel.spawn_system_task(run, context=copy_context())
