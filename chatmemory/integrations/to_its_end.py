"""``to_its_end``: a write that has begun is not left alone by whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

A = TypeVar("A")


async def to_its_end(work: Awaitable[A]) -> A:
    """Wait until *work* has ended, whoever cancels meanwhile: what is stored is known then."""
    task = asyncio.ensure_future(work)
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as exception:
            cancellation = cancellation or exception
    if cancellation is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # taken note of; the cancellation is what the caller hears
    raise cancellation
