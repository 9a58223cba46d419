# mypy: enable-error-code="unused-awaitable"
# pyright: reportUnusedCallResult=true
"""A result that is dropped, or taken for true, as the table of docs/guides/type-checkers.md has it."""

from chatmemory import ChatMemory, NewMessage

HELLO = [NewMessage("user", "hello")]


async def forgets(memory: ChatMemory) -> None:
    memory.add_messages("c1", HELLO)  # type: ignore[unused-awaitable]  # it is not awaited
    memory.add_messages("c1", HELLO).or_raise()  # type: ignore[unused-coroutine]  # it is not awaited
    await memory.add_messages("c1", HELLO)  # pyright: ignore[reportUnusedCallResult]  # did it fail?


async def asks_an_outcome(memory: ChatMemory) -> str:
    return "known" if await memory.exists("c1") else "new"  # type: ignore[truthy-bool]  # a failure would be taken for yes


async def keeps(memory: ChatMemory) -> int:
    _ = await memory.add_messages("c1", HELLO)
    report = await memory.add_messages("c1", HELLO).or_raise()
    if await memory.exists("c1").or_raise() or (await memory.exists("c2")).value_or(False):
        return 0
    return report.version
