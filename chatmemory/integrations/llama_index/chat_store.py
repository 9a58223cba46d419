"""``ChatMemoryChatStore``: the chats of LlamaIndex as conversations of chatmemory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.storage.chat_store import BaseChatStore
from pydantic import SkipValidation

from chatmemory.conversation import messages as stored
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.effect import Do, Effect, Runner
from chatmemory.errors import DataValidationError, ReadError
from chatmemory.input.rules import MAX_LIMIT
from chatmemory.integrations.llama_index.messages import RAISING, draft_of, message_of
from chatmemory.integrations.raising import Blocking, to_its_end
from chatmemory.integrations.stored_messages import (
    Replacement,
    changed_messages,
    same_beginning,
    stored_messages,
    tail_without_summary,
)

A = TypeVar("A")
E = TypeVar("E")
P = ParamSpec("P")

LISTED_AT_ONCE: Final = 1000
"""The number of conversations in one read of the list of keys."""


class ChatMemoryChatStore(BaseChatStore):
    """Keeps the messages of each key in the conversation with that id, after *prefix*.

    *runtime* provides ``ChatMemoryService``.  A ``ThreadRuntime`` works with every method, in any event loop and without
    one.  A ``ManagedRuntime`` works with awaited methods in its own loop, faster, and with the other methods in other
    threads.  The store does not close it.

    Messages come back equal, with their blocks, tool calls and ``additional_kwargs``; a model of Pydantic among these
    comes back as a dict, a tuple as a list.  A message that has anything else, which JSON cannot hold, is refused.  A
    message that a history strategy has summarized is represented by its summary.

    Each write is one transaction, whole even when it is cancelled.  A change that depends on what is stored is decided
    again when another writer was faster, so no message is lost.  A key without messages is not listed.

    Input that chatmemory refuses raises ``ValueError``, any other failure ``RuntimeError``, each with chatmemory's own
    message; ``__cause__.error`` is the failure as a value.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    runtime: SkipValidation[Runner[ChatMemoryService]] = Field(
        exclude=True, description="What runs the effects of ChatMemoryService."
    )
    prefix: str = Field(default="", description="How the ids of the conversations begin.")
    _blocking: Blocking[ChatMemoryService] = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Store the event loop in which the store is made."""
        super().model_post_init(context)
        self._blocking = Blocking(self.runtime)

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class, as LlamaIndex writes it."""
        return "ChatMemoryChatStore"

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Make *messages* the messages of *key*; those that are there already, from the first one on, are not written again."""
        self._run(self._setting, key, messages)

    async def aset_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Do what ``set_messages`` does."""
        await self._arun(self._setting(key, messages))

    def get_messages(self, key: str) -> list[ChatMessage]:
        """Return the messages of *key*, oldest first; none for an unknown key."""
        return list(map(message_of, self._run(stored_messages, self.prefix + key)))

    async def aget_messages(self, key: str) -> list[ChatMessage]:
        """Do what ``get_messages`` does."""
        return list(map(message_of, await RAISING.run(self.runtime, stored_messages(self.prefix + key))))

    def add_message(self, key: str, message: ChatMessage, idx: int | None = None) -> None:
        """Add a message before the one at *idx*, as ``list.insert`` does; None: at the end.  No summary may come after it."""
        self._run(self._adding, key, message, idx)

    async def async_add_message(self, key: str, message: ChatMessage, idx: int | None = None) -> None:
        """Do what ``add_message`` does."""
        await self._arun(self._adding(key, message, idx))

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        """Delete the messages of *key* and return them; None for an unknown key."""
        return self._run(self._emptying, key)

    async def adelete_messages(self, key: str) -> list[ChatMessage] | None:
        """Do what ``delete_messages`` does."""
        return await self._arun(self._emptying(key))

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Delete one message and return it; None when there is none at this place.

        A negative *idx* counts from the end.  No summary may come after the message.
        """
        return self._run(self._deleting, key, idx)

    async def adelete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Do what ``delete_message`` does."""
        return await self._arun(self._deleting(key, idx))

    def delete_last_message(self, key: str) -> ChatMessage | None:
        """Delete the newest message and return it; None when there is none."""
        return self._run(self._deleting, key, -1, newest=1)

    async def adelete_last_message(self, key: str) -> ChatMessage | None:
        """Do what ``delete_last_message`` does."""
        return await self._arun(self._deleting(key, -1, newest=1))

    def get_keys(self) -> list[str]:
        """Return the keys that have messages, in the order of their code points."""
        return self._run(_keys, self.prefix)

    async def aget_keys(self) -> list[str]:
        """Do what ``get_keys`` does."""
        return await RAISING.run(self.runtime, _keys(self.prefix))

    def _setting(self, key: str, messages: Sequence[ChatMessage]) -> Effect[None, Any, ChatMemoryService]:
        drafts = [draft_of(message) for message in messages]
        given = [
            message_of(draft) for draft in drafts
        ]  # as they will come back, to be compared with the stored messages

        def decide(known: Sequence[stored.ChatMessage]) -> Replacement[None]:
            same = same_beginning(list(map(message_of, known)), given)
            return Replacement(len(known) - same, drafts[same:], None)

        return changed_messages(self.prefix + key, decide)

    def _adding(
        self, key: str, message: ChatMessage, idx: int | None
    ) -> Effect[object, Any, ChatMemoryService]:
        draft = draft_of(message)
        if idx is None:
            return ChatMemoryService.use(lambda memory: memory.add_messages(self.prefix + key, [draft]))

        def decide(known: Sequence[stored.ChatMessage]) -> Replacement[None] | DataValidationError:
            begin = slice(idx, None).indices(len(known))[0]
            tail = tail_without_summary(known, begin=begin, path="$.idx")
            if isinstance(tail, DataValidationError):
                return tail
            return Replacement(len(tail), [draft, *tail], None)

        return changed_messages(self.prefix + key, decide)

    def _emptying(self, key: str) -> Effect[list[ChatMessage] | None, Any, ChatMemoryService]:
        return changed_messages(self.prefix + key, _emptied)

    def _deleting(
        self, key: str, idx: int, *, newest: int = MAX_LIMIT
    ) -> Effect[ChatMessage | None, Any, ChatMemoryService]:
        return changed_messages(self.prefix + key, partial(_without, idx), newest=newest)

    def _run(
        self, make: Callable[P, Effect[A, E, ChatMemoryService]], *args: P.args, **kwargs: P.kwargs
    ) -> A:
        runtime = self._blocking.here()  # before the effect is made, which would stay unused
        return RAISING.run_blocking(runtime, make(*args, **kwargs))

    async def _arun(self, effect: Effect[A, E, ChatMemoryService]) -> A:
        return await to_its_end(RAISING.run(self.runtime, effect))


def _emptied(known: Sequence[stored.ChatMessage]) -> Replacement[list[ChatMessage] | None]:
    return Replacement(len(known), (), list(map(message_of, known)) if known else None)


def _without(
    idx: int, known: Sequence[stored.ChatMessage]
) -> Replacement[ChatMessage | None] | DataValidationError:
    if not -len(known) <= idx < len(known):
        return Replacement(0, (), None)
    place = idx % len(known)
    tail = tail_without_summary(known, begin=place + 1, path="$.idx")
    if isinstance(tail, DataValidationError):
        return tail
    return Replacement(len(tail) + 1, tail, message_of(known[place]))


@Effect.gen
async def _keys(do: Do[ReadError, ChatMemoryService], prefix: str) -> list[str]:
    memory = do.service(ChatMemoryService)
    keys: list[str] = []
    after: str | None = None
    while True:
        page = await do(memory.list_conversations(limit=LISTED_AT_ONCE, after=after, prefix=prefix))
        keys += [one.conversation_id.removeprefix(prefix) for one in page.conversations]
        if page.next is None:
            return keys
        after = page.next
