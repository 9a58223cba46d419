"""``Witness``: asks a repository on behalf of a law, and sees to it that every answer is one that the contract knows."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar, final

import anyio
from attrs import field, frozen
from returns.result import Success

from chatmemory.contracts import MessageRepository, MessageRepositoryTag, PageQuery
from chatmemory.effect import Effect, Layer, ManagedRuntime, Outcome
from chatmemory.effect.ids import TimeOrderedIds
from chatmemory.errors import MessageConflictError, RepositoryError, VersionConflictError
from chatmemory.laws.law import LawBrokenError
from chatmemory.messages import ChatMessage, Conversation, View

A = TypeVar("A")
E = TypeVar("E")

ERRORS: Final = (RepositoryError, MessageConflictError, VersionConflictError)
NO_STRANGERS: Final = (
    "L20 errors: every failure is one that the contract names; no exception escapes, and no call hangs"
)
_ids = TimeOrderedIds()


@final
@frozen
class Observation:
    """All that can be read of one conversation."""

    conversation: Conversation | None
    full: tuple[ChatMessage, ...]
    model: tuple[ChatMessage, ...]


@final
@frozen
class Witness:
    """Speaks with one repository, in conversations that nobody else has heard of.

    Attributes:
        space: the beginning of their ids, so that a law can run on a store that holds other things too.
        patience_seconds: how long an answer may take.
    """

    repository: MessageRepository
    space: str = field(factory=lambda: f"law {_ids.next_id()} ")
    patience_seconds: float = 20.0

    def named(self, name: str) -> str:
        """Return the id of a conversation in this space."""
        return self.space + name

    async def ask(self, effect: Effect[A, E]) -> Outcome[A, E]:
        """Return how *effect* ended."""
        with anyio.move_on_after(self.patience_seconds):
            try:
                outcome = await effect
            except Exception as stranger:
                raise LawBrokenError(f"{stranger!r} escaped", law=NO_STRANGERS) from stranger
            if not (isinstance(outcome, Success) or isinstance(outcome.failure(), ERRORS)):
                raise LawBrokenError(f"unknown failure {outcome.failure()!r}", law=NO_STRANGERS)
            return outcome
        raise LawBrokenError(f"no answer within {self.patience_seconds} seconds", law=NO_STRANGERS)

    async def get(self, effect: Effect[A, E]) -> A:
        """Return the value of *effect*, which has no reason to fail."""
        outcome = await self.ask(effect)
        if isinstance(outcome, Success):
            return outcome.unwrap()
        raise LawBrokenError(f"failed for no reason: {outcome.failure()}")

    async def read(self, conversation_id: str, view: View = "full") -> tuple[ChatMessage, ...]:
        """Return every message of a view; none of an unknown conversation."""
        page = await self.get(self.repository.page(PageQuery(conversation_id, view)))
        return page.messages if page else ()

    async def observe(self, conversation_id: str) -> Observation:
        """Return all that can be read of the conversation at one version.

        A write that was cancelled may still happen; whoever reads while it does reads again.
        """
        conversation = await self.get(self.repository.conversation(conversation_id))
        while True:
            full = await self.read(conversation_id, "full")
            model = await self.read(conversation_id, "model")
            before, conversation = conversation, await self.get(self.repository.conversation(conversation_id))
            if conversation == before:
                return Observation(conversation, full, model)


@asynccontextmanager
async def open_witness(
    repository: Layer[MessageRepositoryTag, Any, Any], **witness: Any
) -> AsyncGenerator[Witness]:
    """Build the repository, and release it in the end."""
    async with ManagedRuntime(repository) as runtime:
        yield Witness(await runtime.service(MessageRepositoryTag), **witness)
