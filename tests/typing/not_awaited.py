# pyright: reportUnnecessaryTypeIgnoreComment=false
"""A condition that is not awaited: mypy finds it, and pyright does not."""

from chatmemory import ChatMemory


async def asks_an_effect(memory: ChatMemory) -> str:
    return "known" if memory.exists("c1") else "new"  # type: ignore[truthy-bool]  # an effect is always true
