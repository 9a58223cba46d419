"""An effect that nobody awaits; mypy sees it by ``unused-awaitable``, pyright by ``reportUnusedCallResult``."""

# pyright: reportUnusedCallResult=error

from __future__ import annotations

from chatmemory import ChatMemory


async def forgets_to_await(memory: ChatMemory) -> None:
    memory.get_messages("c1")  # type error: it never runs


async def goes_on_whatever_happens(memory: ChatMemory) -> None:
    _ = (await memory.get_messages("c1")).value_or(None)
