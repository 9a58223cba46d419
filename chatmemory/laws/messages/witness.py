"""``Witness``: asks a message repository on behalf of a law, and observes all that can be read of a conversation.

``MessageRepositoryUnderTest``: the base class of all groups of laws for message repositories.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar, Final, final, get_args

from attrs import frozen

from chatmemory.conversation.message_repository import (
    Appended,
    Fork,
    MessageDraft,
    MessageRepository,
    MessageRepositoryTag,
    PageQuery,
    Summary,
    WorkThreshold,
)
from chatmemory.conversation.messages import ChatMessage, ClearReport, Conversation, Forked, MessagePage, View
from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.errors import AppendError, ConversationUndoRefusal, ForkRefusal
from chatmemory.laws.kit.law import Asker, LawBrokenError, RepositoryUnderTest, expect
from chatmemory.laws.kit.samples import START, batch, size_of, summary_of

VIEWS: Final[tuple[View, ...]] = ("full", "model")
MOST_PAGES: Final = 100  # a cursor that does not move must not hang a law


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

    async def append(self, conversation_id: str, *drafts: MessageDraft, **how: Any) -> Appended:
        """Append messages, which must be accepted; *how*: as for ``batch``."""
        return await self.get(self.repository.append(batch(conversation_id, *drafts, **how)))

    async def remove_newest(
        self, conversation_id: str, *, now: datetime = START, threshold: WorkThreshold | None = None
    ) -> ChatMessage | None:
        """Remove the newest message; None when there is none."""
        return await self.get(self.repository.remove_newest(conversation_id, now=now, threshold=threshold))

    async def clear(
        self, conversation_id: str, *, now: datetime = START, with_branches: bool = False
    ) -> ClearReport | None:
        """Clear a conversation; None when there is none."""
        return await self.get(self.repository.clear(conversation_id, now=now, with_branches=with_branches))

    async def fork(self, conversation_id: str, new_id: str, at: str | int | None = None) -> Forked:
        """Begin a branch, which must be accepted."""
        return await self.get(self.repository.fork(Fork(conversation_id, new_id, at, START)))

    async def conversation(self, conversation_id: str) -> Conversation | None:
        """Return the description of a conversation; None when there is none."""
        return await self.get(self.repository.conversation(conversation_id))

    async def page(self, conversation_id: str, view: View = "full", **query: Any) -> MessagePage | None:
        """Return a page, of everything unless *query* limits it; None when there is no conversation."""
        return await self.get(self.repository.page(PageQuery(conversation_id, view, **query)))

    async def read(self, conversation_id: str, view: View = "full", **query: Any) -> tuple[ChatMessage, ...]:
        """Return the messages of a page; no messages for an unknown conversation."""
        page = await self.page(conversation_id, view, **query)
        return page.messages if page else ()

    async def backwards(self, conversation_id: str, view: View, **query: Any) -> list[MessagePage]:
        """Return the pages from the newest to the oldest."""
        pages: list[MessagePage] = []
        for _ in range(MOST_PAGES):
            page = await self.page(conversation_id, view, **query)
            if page is None:
                break
            pages.append(page)
            if page.older is None:
                break
            query["older_than"] = page.older
        return pages

    async def forwards(self, conversation_id: str, view: View, **query: Any) -> list[MessagePage]:
        """Return the pages from the oldest to the newest."""
        pages: list[MessagePage] = []
        cursor = 0
        for _ in range(MOST_PAGES):
            page = await self.page(conversation_id, view, newer_than=cursor, **query)
            if page is None or not page.messages:
                break
            pages.append(page)
            cursor = page.newer
        return pages

    async def plan(
        self, conversation_id: str, start: int = 0, stop: int | None = None, **summary: Any
    ) -> Summary:
        """Return a summary of a part of the model's view, planned at its version; *summary*: as for ``summary_of``."""
        page = await self.page(conversation_id, "model")
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
        conversation = await self.conversation(conversation_id)
        while True:
            full = await self.read(conversation_id, "full")
            model = await self.read(conversation_id, "model")
            before, conversation = conversation, await self.conversation(conversation_id)
            if conversation == before:
                return Observation(conversation, full, model)


def joined(pages: Iterable[MessagePage]) -> tuple[ChatMessage, ...]:
    """Return the messages of all pages."""
    return tuple(message for page in pages for message in page.messages)


class MessageRepositoryUnderTest(RepositoryUnderTest[Witness]):
    """A message repository: a layer that provides ``MessageRepositoryTag``."""

    repository: Layer[MessageRepositoryTag, Any, Any]

    async def witness(self, runtime: ManagedRuntime[MessageRepositoryTag], **witness: Any) -> Witness:
        return Witness(await runtime.service(MessageRepositoryTag), **witness)
