"""``exported``: writes everything that a store keeps, line by line; memory use does not grow with the store."""

from base64 import b64encode
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias, TypeVar, final

from attrs import define, evolve, field

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.conversation.message_repository import (
    ConversationListing,
    MessageRepository,
    MessageRepositoryTag,
    PageQuery,
)
from chatmemory.conversation.messages import (
    ChatMessage,
    Conversation,
    MessagePage,
    SummarizationMetadata,
    View,
)
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.embedding.embedder import Vector
from chatmemory.errors import GenericMemoryError, RepositoryError
from chatmemory.input.json_value import JsonObject, from_json
from chatmemory.items.item_repository import (
    ItemName,
    ItemRepository,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
    WholeItem,
)
from chatmemory.longterm.memory_repository import MemoryRepository, MemoryRepositoryTag
from chatmemory.longterm.repository_values import WholeMemory
from chatmemory.programs.archive.deleted_positions import DeletedPositions
from chatmemory.programs.archive.records import (
    ConversationRecord,
    DeletedRecord,
    ExportEnd,
    ExportHeader,
    ForkRecord,
    ItemIndex,
    ItemRecord,
    MemoryRecord,
    MessageRecord,
    Record,
    SummaryRecord,
    line_of,
)
from chatmemory.text.long_work import in_worker_thread

A = TypeVar("A")

Repositories: TypeAlias = MessageRepositoryTag | MemoryRepositoryTag | ItemRepositoryTag

PAGE: Final = 200
"""How many messages, memories or items one read returns."""


@Effect.gen
async def exported(
    do: Do[GenericMemoryError, Repositories | ClockTag],
    write: Callable[[str], object],
    *,
    with_vectors: bool = False,
) -> tuple[ExportEnd, int]:
    """Write all data of the store, of all users; two exports of the same store are equal byte for byte.

    *write* is called with each line, its newline included, on a worker thread.  *with_vectors* adds the vectors of
    memories; without them the importing store embeds the memories itself.

    Returns:
        The last line, and the number of items that have a lifetime and so were left out.
    """
    exporter = _Exporter(
        do,
        do.service(MessageRepositoryTag),
        do.service(MemoryRepositoryTag),
        do.service(ItemRepositoryTag),
        do.service(ClockTag),
        write,
    )
    exporter.line(ExportHeader())
    await exporter.conversations()
    await exporter.memories(with_vectors=with_vectors)
    await exporter.items()
    exporter.line(exporter.end)
    await exporter.flush()
    return exporter.end, exporter.left_out


@final
@define(eq=False)
class _Exporter:
    do: Do[GenericMemoryError, Repositories | ClockTag]
    messages: MessageRepository
    kept: MemoryRepository
    documents: ItemRepository
    clock: Clock
    write: Callable[[str], object]
    end: ExportEnd = field(factory=ExportEnd)
    left_out: int = 0
    waiting: list[Callable[[], Record]] = field(factory=list[Callable[[], Record]])

    def line(self, record: Record) -> None:
        """Queue *record* for ``flush``."""
        self.waiting.append(lambda: record)

    async def flush(self, *, at_least: int = 1) -> None:
        """Write the queued records, if there are at least *at_least*, on a thread: a page would block the event loop."""
        if len(self.waiting) >= at_least:
            records, self.waiting = self.waiting, []
            await self.do(in_worker_thread(partial(self._write, records)))

    def _write(self, records: Sequence[Callable[[], Record]]) -> None:
        for record in records:
            self.write(f"{line_of(record())}\n")

    async def conversations(self) -> None:
        """Write the conversations, each followed by the branches that begin as it does."""
        branches: defaultdict[str, list[Conversation]] = defaultdict(list)
        shared: set[str] = set()
        async for conversation in self._listed():
            if await self._shares(conversation) and (origin := conversation.forked_from) is not None:
                branches[origin.conversation_id].append(conversation)
                shared.add(conversation.conversation_id)
        async for conversation in self._listed():
            waiting = [] if conversation.conversation_id in shared else [(conversation, False)]
            while waiting:
                one, is_branch = waiting.pop()
                theirs = sorted(branches.pop(one.conversation_id, ()), key=_point)
                await self._conversation(one, theirs, is_branch=is_branch)
                waiting += [(branch, True) for branch in reversed(theirs)]

    async def _listed(self) -> AsyncIterator[Conversation]:
        after: tuple[datetime, str] | None = None
        while True:
            listing = ConversationListing(PAGE, after=after)
            page = await self._read(self.messages.conversations(listing))
            for conversation in page:
                yield conversation
            if len(page) < PAGE:
                return
            after = page[-1].updated_at, page[-1].conversation_id

    async def _shares(self, branch: Conversation) -> bool:
        """Return whether a copy of the parent can be forked to get what *branch* has from it."""
        if (origin := branch.forked_from) is None:
            return False
        theirs = self._all(origin.conversation_id, "full", until=origin.seq)
        ours = self._all(branch.conversation_id, "full", until=origin.seq)
        count = 0
        async for message in ours:
            count += 1
            other = await anext(theirs, None)
            if other is None or (other.seq, other.id) != (message.seq, message.id):
                return False
        if not count or await anext(theirs, None) is not None:
            return False
        if count == origin.seq:
            return True
        places, _, _ = await self._places(origin.conversation_id, 0)
        return not places.has_later_deletion(origin.seq)

    async def _all(
        self, conversation_id: str, view: View, *, newer_than: int = 0, until: int | None = None
    ) -> AsyncIterator[ChatMessage]:
        after = newer_than
        while True:
            query = PageQuery(conversation_id, view, limit=PAGE, newer_than=after)
            page: MessagePage | None = await self._read(self.messages.page(query))
            if page is None or not page.messages:
                return
            for message in page.messages:
                if until is not None and message.seq > until:
                    return
                yield message
            after = page.newer

    async def _conversation(
        self, conversation: Conversation, branches: Sequence[Conversation], *, is_branch: bool
    ) -> None:
        id_, origin = conversation.conversation_id, conversation.forked_from
        shared = origin.seq if is_branch and origin is not None else 0
        places, newest, count = await self._places(id_, shared)
        updated_at = conversation.updated_at if count else conversation.created_at
        if newest and (summary := places.summaries.get(newest)) is not None:
            updated_at = summary.created_at
        many = count > 1 or places.has_deleted
        self.line(
            ConversationRecord(
                id=id_,
                owner=await self._owner(id_),
                created_at=conversation.created_at if many and not is_branch else None,
                updated_at=updated_at,
                forked_from=origin.conversation_id if is_branch and origin is not None else None,
            )
        )
        forks = list(branches)
        before: str | None = None
        async for message in self._all(id_, "full"):
            while forks and before is not None and _point(forks[0])[0] < message.seq:
                await self._fork(id_, before, forks.pop(0))
            before = message.id
            if message.seq > shared:
                self._message(id_, message, places)
                await self.flush(at_least=PAGE)
        for fork in forks:
            if before is not None:
                await self._fork(id_, before, fork)
        await self.flush(at_least=PAGE)
        self.end = evolve(self.end, conversations=self.end.conversations + 1)

    async def _places(self, conversation_id: str, shared: int) -> tuple[DeletedPositions, str | None, int]:
        """Return the summaries after the part that the parent has, too, the id of the newest message, and the number of messages."""
        summaries: dict[str, SummarizationMetadata] = {}
        newest, count = None, 0
        async for message in self._all(conversation_id, "full", newer_than=shared):
            newest, count = message.id, count + 1
            if message.role == "summary":
                asked = self.messages.summarization(conversation_id, message.id)
                if (metadata := await self._read(asked)) is not None:
                    summaries[message.id] = metadata
        deleting = [one for one in summaries.values() if one.messages_deleted]
        if not deleting:
            return DeletedPositions(summaries), newest, count
        lost = {one.summary_message_id: await self._lost(one) for one in deleting}
        full = [(message.id, message.seq) async for message in self._all(conversation_id, "full")]
        model = [message.id async for message in self._all(conversation_id, "model")]
        return DeletedPositions(summaries, lost, dict(full), model), newest, count

    async def _lost(self, summary: SummarizationMetadata) -> Sequence[SummarizationMetadata]:
        """Return the summaries that *summary* deleted, each after the summaries that it deleted itself."""
        found: list[SummarizationMetadata] = []
        for id_ in summary.summarized_message_ids if summary.messages_deleted else ():
            asked = self.messages.summarization(summary.conversation_id, id_)
            if (metadata := await self._read(asked)) is not None:
                found += [*await self._lost(metadata), metadata]
        return found

    def _message(self, conversation_id: str, message: ChatMessage, places: DeletedPositions) -> None:
        for timestamp, ids in places.deleted_before(message.id):
            self.line(DeletedRecord(conversation_id=conversation_id, ids=ids, timestamp=timestamp))
        for lost in places.lost.get(message.id, ()):
            self.line(_summary(lost, "", {"summaryMetadataId": lost.id}))
        if (metadata := places.summaries.get(message.id)) is None:
            self.line(
                MessageRecord(
                    conversation_id=conversation_id,
                    id=message.id,
                    role=message.role,
                    content=message.content,
                    timestamp=message.timestamp,
                    metadata=message.metadata,
                )
            )
        else:
            self.line(_summary(metadata, message.content, message.metadata))
        self.end = evolve(self.end, messages=self.end.messages + 1)

    async def _fork(self, conversation_id: str, at: str, branch: Conversation) -> None:
        self.line(
            ForkRecord(
                conversation_id=conversation_id,
                id=branch.conversation_id,
                at=at,
                owner=await self._owner(branch.conversation_id),
                created_at=branch.created_at,
            )
        )

    async def _owner(self, conversation_id: str) -> Namespace:
        found = await self._read(self.messages.owner(conversation_id))
        return UNOWNED if found is None else found

    async def memories(self, *, with_vectors: bool) -> None:
        """Write the memories, ordered by user and id."""
        after: tuple[str, str] | None = None
        while page := await self._read(self.kept.whole(limit=PAGE, after=after)):
            self.waiting += [partial(_memory, whole, with_vectors=with_vectors) for whole in page]
            await self.flush()
            self.end = evolve(self.end, memories=self.end.memories + len(page))
            after = page[-1].memory.namespace.user, page[-1].memory.id

    async def items(self) -> None:
        """Write the items, ordered by namespace and key; only the names of one namespace are in memory at a time."""
        now = self.clock.now()
        for labels in await self._read(self.documents.namespaces((), now=now)):
            names = sorted(await self._names(labels, now), key=lambda name: name.key)
            for start in range(0, len(names), PAGE):
                some = tuple(names[start : start + PAGE])
                read = await self._read(self.documents.whole(some, now=now))
                found = [whole for whole in read if whole is not None]
                lasting = [whole for whole in found if not whole.item.has_lifetime]
                self.waiting += [partial(_item, whole) for whole in lasting]
                await self.flush()
                self.left_out += len(found) - len(lasting)
                self.end = evolve(self.end, items=self.end.items + len(lasting))

    async def _names(self, labels: Labels, now: datetime) -> set[ItemName]:
        """Return the names of *labels*.  Writes move items from page to page, so all pages are read until no name is new."""
        names: set[ItemName] = set()
        known = -1
        while known < len(names):
            known, offset = len(names), 0
            while found := await self._read(self.documents.search(ItemSearch(labels, PAGE, offset), now=now)):
                names.update(item.name for item in found if item.name.namespace == labels)
                offset += PAGE
        return names

    async def _read(self, effect: Effect[A, RepositoryError]) -> A:
        return await self.do(effect.alt(GenericMemoryError))


def _point(branch: Conversation) -> tuple[int, str]:
    """Return the sort key of a branch: the number of the last message from its parent, then its id."""
    origin = branch.forked_from
    return (0 if origin is None else origin.seq), branch.conversation_id


def _summary(summary: SummarizationMetadata, content: str, metadata: JsonObject | None) -> SummaryRecord:
    return SummaryRecord(
        conversation_id=summary.conversation_id,
        id=summary.summary_message_id,
        content=content,
        timestamp=summary.timestamp_range.end,
        metadata=metadata,
        metadata_id=summary.id,
        covers=summary.summarized_message_ids,
        starts_at=summary.timestamp_range.start,
        ends_at=summary.timestamp_range.end,
        skill_id=summary.skill_id,
        messages_deleted=summary.messages_deleted,
        is_stale=summary.is_stale,
        created_at=summary.created_at,
    )


def _memory(whole: WholeMemory, *, with_vectors: bool) -> MemoryRecord:
    vector = whole.vector if with_vectors else None
    return MemoryRecord(
        memory=evolve(whole.memory, embedding=None) if vector is None else whole.memory,
        earlier=whole.earlier,
        dedup_key=None if whole.dedup_key is None else whole.dedup_key.hex(),
        vector=None if vector is None else _base64(vector),
    )


def _item(whole: WholeItem) -> ItemRecord:
    item = whole.item
    return ItemRecord(
        namespace=item.name.namespace,
        key=item.name.key,
        value=from_json(item.value),
        created_at=item.created_at,
        updated_at=item.updated_at,
        index=ItemIndex(terms=whole.terms, model=whole.model, vectors=tuple(map(_base64, whole.vectors))),
    )


def _base64(vector: Vector) -> str:
    return b64encode(vector.astype("<f4").tobytes()).decode()
