"""Exceptions for those who want them: caught by the class of the error, whose fields are known."""

from __future__ import annotations

from chatmemory import ChatMemory, ChatMemoryService, ConversationNotFoundError, EffectFailed, ManagedRuntime
from chatmemory.errors import ReadError


async def newest(runtime: ManagedRuntime[ChatMemoryService]) -> str:
    try:
        reading = ChatMemoryService.use(lambda memory: memory.get_messages("c1", limit=1))
        messages = (await runtime.run(reading)).unwrap()
    except EffectFailed[ReadError] as failed:
        return failed.error.tag
    return messages[0].content


async def newest_of_many(memory: ChatMemory) -> str:
    try:
        messages = await memory.get_messages("c1").or_raise()
    except EffectFailed.of(ConversationNotFoundError) as failed:
        return failed.error.conversation_id
    except EffectFailed as failed:
        return str(failed)
    return messages[0].content


async def asks_for_a_field_that_is_not_there(memory: ChatMemory) -> str:
    try:
        return str(await memory.get_messages("c1").or_raise())
    except EffectFailed[ConversationNotFoundError] as failed:
        return failed.error.namespace  # type: ignore[attr-defined, no-any-return]  # no such field
