"""What the tests of adapters ask of a long-term memory beside the adapter."""

from typing import Any

from chatmemory import LongTermMemoryService, Memory, Namespace, NewMemory
from chatmemory.effect import Runner

MEI = Namespace("mei")


async def remember(runtime: Runner[LongTermMemoryService], content: str, namespace: Namespace = MEI) -> str:
    """Remember a fact, and return its id."""
    facts = [NewMemory(content)]
    remembering = LongTermMemoryService.use(lambda memory: memory.remember(namespace, facts))
    (memory_id,) = (await runtime.run(remembering)).unwrap().stored
    return memory_id


async def uses_of(runtime: Runner[LongTermMemoryService], memory_id: str) -> int:
    reading = LongTermMemoryService.use(lambda memory: memory.get(MEI, memory_id))
    return (await runtime.run(reading)).unwrap().access_count


async def all_kept(
    runtime: Runner[LongTermMemoryService], namespace: Namespace = MEI, **filters: Any
) -> list[Memory]:
    """Return all memories that *filters* let through, newest first."""
    kept: list[Memory] = []
    asked: dict[str, Any] = {**filters, "limit": 500}
    while True:
        page = (
            await runtime.run(LongTermMemoryService.use(lambda memory: memory.list(namespace, **asked)))
        ).unwrap()
        kept += page.memories
        if page.next is None:
            return kept
        asked["after"] = page.next
