"""``to_its_end``: a write that has begun is not left alone by whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

import anyio

A = TypeVar("A")


async def to_its_end(work: Awaitable[A]) -> A:
    """Wait until *work* has ended, whoever cancels meanwhile: what is stored is known then."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # trio, where only scopes cancel
        with anyio.CancelScope(shield=True):
            return await work
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            # A scope of anyio that is cancelled says so again at each turn of the loop.
            with suppress(asyncio.CancelledError), anyio.CancelScope(shield=True):
                await asyncio.wait((task,))
        if not task.cancelled():
            task.exception()  # taken note of; the cancellation is what the caller hears
        raise
