"""An outcome is neither true nor false, and both checkers say so; its value is."""

from __future__ import annotations

from chatmemory import ChatMemory


async def greets(memory: ChatMemory) -> str:
    if await memory.exists("c1"):  # type: ignore[truthy-bool]  # a failure would be taken for yes
        return "welcome back"
    return "hello"


async def greets_who_is_known(memory: ChatMemory) -> str:
    if await memory.exists("c1").or_raise():
        return "welcome back"
    return "hello"


async def greets_whatever_happens(memory: ChatMemory) -> str:
    if (await memory.exists("c1")).value_or(False):
        return "welcome back"
    return "hello"
