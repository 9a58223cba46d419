"""``Witness``: asks a message repository on behalf of a law, and observes all that can be read of a conversation.

``MessageRepositoryUnderTest``: the base class of all groups of laws for message repositories.
"""

from typing import Any, ClassVar, final, get_args

from attrs import frozen

from chatmemory.conversation.message_repository import (
    MessageRepository,
    MessageRepositoryTag,
    PageQuery,
    Summary,
)
from chatmemory.conversation.messages import ChatMessage, Conversation, View
from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.errors import AppendError, ConversationUndoRefusal, ForkRefusal
from chatmemory.laws.kit.law import Asker, LawBrokenError, RepositoryUnderTest, expect
from chatmemory.laws.kit.samples import size_of, summary_of


@final
@frozen
class Observation:
    """All that can be read of one conversation."""

    conversation: Conversation | None
    full: tuple[ChatMessage, ...]
    model: tuple[ChatMessage, ...]

    def expect_counts(self, conversation_id: str, *, law: str = "") -> None:
        """Break the law unless the counts of the conversation equal the counts of the read messages (``samples.said``)."""
        described = self.conversation
        counted = described and (
            described.message_count,
            described.view_count,
            described.view_tokens,
            described.open_count,
        )
        tokens = sum(size_of(message.content) for message in self.model)
        spoken = sum(message.role in {"user", "assistant", "tool"} for message in self.model)
        read = (len(self.full), len(self.model), tokens, spoken) if self.full else None
        expect(
            counted, read, f"messages, those in view, their tokens, open ones of {conversation_id!r}", law=law
        )


@final
@frozen
class Witness(Asker):
    """Asks one repository, in its own conversations."""

    ERRORS: ClassVar[tuple[type, ...]] = (
        *get_args(AppendError),
        *get_args(ForkRefusal),
        *get_args(ConversationUndoRefusal),
    )
    repository: MessageRepository

    async def read(self, conversation_id: str, view: View = "full") -> tuple[ChatMessage, ...]:
        """Return every message of a view; no messages for an unknown conversation."""
        page = await self.get(self.repository.page(PageQuery(conversation_id, view)))
        return page.messages if page else ()

    async def plan(
        self, conversation_id: str, start: int = 0, stop: int | None = None, **summary: Any
    ) -> Summary:
        """Return a summary of a part of the model's view, planned at its version; *summary*: as for ``summary_of``."""
        page = await self.get(self.repository.page(PageQuery(conversation_id, "model")))
        if page is None:
            raise LawBrokenError(f"no page of {conversation_id!r}, which holds messages")
        covered = page.messages[start:stop]
        return summary_of(conversation_id, covered, planned_at_version=page.version, **summary)

    async def summarize(
        self, conversation_id: str, start: int = 0, stop: int | None = None, **summary: Any
    ) -> Conversation:
        """Summarize a part of the model's view; see ``plan``."""
        planned = await self.plan(conversation_id, start, stop, **summary)
        return await self.get(self.repository.summarize(planned))

    async def observe(self, conversation_id: str) -> Observation:
        """Return all that can be read of the conversation at one version.

        A cancelled write may still happen; when it happens during the read, the conversation is read again.
        """
        conversation = await self.get(self.repository.conversation(conversation_id))
        while True:
            full = await self.read(conversation_id, "full")
            model = await self.read(conversation_id, "model")
            before, conversation = conversation, await self.get(self.repository.conversation(conversation_id))
            if conversation == before:
                return Observation(conversation, full, model)


class MessageRepositoryUnderTest(RepositoryUnderTest[Witness]):
    """A message repository: a layer that provides ``MessageRepositoryTag``."""

    repository: Layer[MessageRepositoryTag, Any, Any]

    async def witness(self, runtime: ManagedRuntime[MessageRepositoryTag], **witness: Any) -> Witness:
        return Witness(await runtime.service(MessageRepositoryTag), **witness)
