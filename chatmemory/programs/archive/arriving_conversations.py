"""``ArrivingConversations``: writes imported conversations into a store, batch by batch.

Each batch is one transaction, and a message that is already stored is a duplicate. So an import that was killed continues
where it stopped when it runs again.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias, TypeVar, final

from attrs import define, field

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Principal, acting_as
from chatmemory.conversation.message_repository import (
    Append,
    Fork,
    MessageDraft,
    MessageRepository,
    PageQuery,
    Summary,
)
from chatmemory.conversation.message_rules import message_problems
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.token_counter import TokenCounter
from chatmemory.effect import Do, Effect, Failure, Success
from chatmemory.errors import (
    GenericMemoryError,
    MessageConflictError,
    Problem,
    RepositoryError,
    VersionConflictError,
)
from chatmemory.input.rules import id_problems, text_problems
from chatmemory.programs.archive.import_report import ImportTally
from chatmemory.programs.archive.records import (
    ConversationRecord,
    DeletedRecord,
    ForkRecord,
    MessageRecord,
    SummaryRecord,
)

A = TypeVar("A")

BATCH: Final = 500
"""The number of messages in one transaction."""

ConversationLine: TypeAlias = MessageRecord | DeletedRecord | SummaryRecord | ForkRecord


@final
@define(eq=False)
class _Open:
    """The conversation whose lines are being read.

    Attributes:
        is_new: whether the store had no message of it before the import.
        known: in a dry run, the ids that are already stored.
        waiting: messages that are not yet written, each with its line number.
    """

    record: ConversationRecord
    is_new: bool
    known: set[str] = field(factory=set[str])
    waiting: list[tuple[MessageDraft, int]] = field(factory=list[tuple[MessageDraft, int]])
    is_kept_out: bool = False


@final
@define(eq=False)
class ArrivingConversations:
    """Writes conversations line by line; writes nothing in a dry run."""

    do: Do[GenericMemoryError]
    repository: MessageRepository
    tokens: TokenCounter
    tally: ImportTally
    _open: _Open | None = None

    async def begin(self, record: ConversationRecord) -> None:
        """Start the next conversation."""
        await self.flush()
        self._open = None
        if problems := _record_problems(record):
            self.tally.issue(problems[0])
            return
        stored = await self._read(self.repository.conversation(record.id))
        opened = _Open(record, stored is None)
        if stored is None and record.forked_from is not None and not self.tally.is_dry_run:
            if record.id not in self.tally.forgotten:
                parent = record.forked_from
                self.tally.issue(f"{record.id!r} begins as {parent!r} does, which was not imported")
            opened.is_kept_out = True
        elif stored is not None and self.tally.is_dry_run:
            page = await self._read(self.repository.page(PageQuery(record.id, "full")))
            opened.known = set() if page is None else {message.id for message in page.messages}
        self._open = opened

    async def take(self, record: ConversationLine) -> None:
        """Add a line to the current conversation."""
        opened = self._open
        if opened is None or record.conversation_id != opened.record.id:
            self.tally.issue(f"no line of the conversation {record.conversation_id!r} comes before it")
        elif opened.is_kept_out:
            await self._keep_out(record)
        elif isinstance(record, MessageRecord):
            message = NewMessage(record.role, record.content, record.id, record.timestamp, record.metadata)
            await self._add(opened, message)
        elif isinstance(record, DeletedRecord):
            for id_ in record.ids:
                await self._add(opened, NewMessage("user", "", id_, record.timestamp))
        elif isinstance(record, SummaryRecord):
            await self._summarize(opened, record)
        else:
            await self._fork(record)

    async def flush(self) -> None:
        """Write the waiting messages."""
        opened = self._open
        if opened is None or not opened.waiting:
            return
        waiting, opened.waiting = opened.waiting, []
        if self.tally.is_dry_run:
            known = sum(draft.id in opened.known for draft, _ in waiting)
            self.tally.count("message", new=len(waiting) - known, known=known)
            return
        record = opened.record
        if opened.is_new and record.created_at is not None:
            # The first message is stored alone, so that the conversation gets its original time of creation.
            await self._append(opened, waiting[:1], record.created_at)
            waiting = waiting[1:]
        await self._append(opened, waiting, record.updated_at)

    async def _add(self, opened: _Open, message: NewMessage) -> None:
        draft = self._draft(message, message.timestamp or opened.record.updated_at)
        if draft is None:
            return
        opened.waiting.append((draft, self.tally.lines))
        if len(opened.waiting) >= BATCH:
            await self.flush()

    def _draft(self, message: NewMessage, timestamp: datetime) -> MessageDraft | None:
        """Return what a repository stores; None, and an issue, if the message breaks a rule."""
        if problems := message_problems([message]):
            self.tally.issue("; ".join(map(str, problems)))
            return None
        return MessageDraft(
            message.id or "",
            message.role,
            message.content,
            timestamp.astimezone(UTC),
            message.metadata,
            self.tokens.count(message),
        )

    async def _append(
        self, opened: _Open, waiting: Sequence[tuple[MessageDraft, int]], now: datetime
    ) -> None:
        """Store messages, except those whose ids are stored with other content."""
        if not waiting or opened.is_kept_out:
            return
        record = opened.record
        batch = Append(
            record.id,
            tuple(draft for draft, _ in waiting),
            now,
            expected_version=0 if opened.is_new else None,
        )
        with acting_as(_owner(record.owner)):
            answer = await self.repository.append(batch)
        match answer:
            case Success(appended):
                self.tally.count("message", new=len(appended.stored), known=len(appended.duplicates))
                opened.is_new = False
            case Failure(MessageConflictError() as error):
                taken = set(error.message_ids)
                for draft, line in waiting:
                    if draft.id in taken and draft.content:
                        self.tally.issue(f"message {draft.id!r} is already stored with other content", line)
                await self._append(opened, [one for one in waiting if one[0].id not in taken], now)
            case Failure(VersionConflictError()) if opened.is_new:
                self.tally.forgotten[record.id] = None
                opened.is_kept_out = True
            case Failure(RepositoryError() as error):
                self.do.fail(GenericMemoryError(error))
            case Failure(error):
                self.tally.issue(error, waiting[0][1])

    async def _summarize(self, opened: _Open, record: SummaryRecord) -> None:
        message = NewMessage("summary", record.content, record.id, record.timestamp, record.metadata)
        draft = self._draft(message, record.timestamp)
        if draft is None:
            return
        await self.flush()
        if self.tally.is_dry_run or opened.is_kept_out:
            is_known = record.id in opened.known
            self.tally.count("summary", new=not is_known, known=is_known)
            return
        id_ = opened.record.id
        if await self._read(self.repository.summarization(id_, record.id)) is not None:
            self.tally.count("summary", known=1)
            return
        conversation = await self._read(self.repository.conversation(id_))
        if conversation is None:
            self.tally.issue(f"summary {record.id!r} covers no message that was imported")
            return
        summary = Summary(
            id_,
            record.metadata_id,
            draft,
            record.covers,
            conversation.version,
            record.starts_at,
            record.ends_at,
            record.skill_id,
            record.messages_deleted,
            record.created_at,
            threshold=None,
            is_stale=record.is_stale,
        )
        answer = await self.repository.summarize(summary)
        if isinstance(answer, Success):
            self.tally.count("summary", new=1)
        elif isinstance(error := answer.failure(), RepositoryError):
            self.do.fail(GenericMemoryError(error))
        else:
            self.tally.issue(
                f"summary {record.id!r}: its messages are covered by another summary here, or are missing"
            )

    async def _fork(self, record: ForkRecord) -> None:
        if problems := _record_problems(record) + id_problems("$.at", record.at):
            self.tally.issue(problems[0])
            return
        await self.flush()
        if await self._read(self.repository.conversation(record.id)) is not None:
            self.tally.count("fork", known=1)
            return
        if self.tally.is_dry_run:
            self.tally.count("fork", new=1)
            return
        page = await self._read(self.repository.page(PageQuery(record.conversation_id, "full", limit=1)))
        is_newest = page is not None and bool(page.messages) and page.messages[-1].id == record.at
        at = None if is_newest else record.at
        with acting_as(_owner(record.owner)):
            answer = await self.repository.fork(
                Fork(record.conversation_id, record.id, at, record.created_at)
            )
        match answer:
            case Success(_):
                self.tally.count("fork", new=1)
            case Failure(VersionConflictError()):
                self.tally.forgotten[record.id] = None
            case Failure(RepositoryError() as error):
                self.do.fail(GenericMemoryError(error))
            case Failure(error):
                self.tally.issue(error)

    async def _keep_out(self, record: ConversationLine) -> None:
        """Skip a line of a conversation that was cleared here, and a branch that begins with it."""
        if not isinstance(record, ForkRecord) or record.conversation_id not in self.tally.forgotten:
            return
        if await self._read(self.repository.conversation(record.id)) is None:
            self.tally.forgotten[record.id] = None

    async def _read(self, effect: Effect[A, RepositoryError]) -> A:
        return await self.do(effect.alt(GenericMemoryError))


def _record_problems(record: ConversationRecord | ForkRecord) -> list[Problem]:
    owner = record.owner
    return [
        *id_problems("$.id", record.id),
        *text_problems("$.owner.user", owner.user),
        *text_problems("$.owner.app", owner.app),
    ]


def _owner(namespace: Namespace) -> Principal:
    """Return a principal with all rights whose new conversations belong to *namespace*."""
    return Principal(name="", namespace=namespace, granted=None)
