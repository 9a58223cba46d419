"""``imported``: stores the records of an export, line by line.

Records that are already stored stay unchanged, so that importing twice changes nothing and two stores can be merged.
Records that this store has forgotten are left out.  A bad line is reported with its number and the reason; the others are
imported.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.conversation.token_counter import TokenCounterTag
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import GenericMemoryError, RecallError
from chatmemory.input.json_value import Json
from chatmemory.input.rules import MAX_ID_CHARACTERS
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.saving.memory_drafts import memory_terms
from chatmemory.pastchats.redaction.redaction import Redaction
from chatmemory.programs.archive.arriving_conversations import ArrivingConversations
from chatmemory.programs.archive.arriving_memories import ArrivingItems, ArrivingMemories
from chatmemory.programs.archive.import_report import ImportReport, ImportTally
from chatmemory.programs.archive.records import (
    VERSION,
    ConversationRecord,
    ExportEnd,
    ExportHeader,
    ItemIndex,
    ItemRecord,
    MemoryRecord,
    MessageRecord,
    Record,
    RejectedRecord,
    SummaryRecord,
)

Services: TypeAlias = (
    MessageRepositoryTag | MemoryRepositoryTag | ItemRepositoryTag | TokenCounterTag | ClockTag
)

LAST_ID: Final = "\U0010ffff" * MAX_ID_CHARACTERS
"""No id sorts behind it."""


@Effect.gen
async def imported(
    do: Do[GenericMemoryError, Services],
    arriving: Iterable[Record | RejectedRecord | None],
    *,
    redacts: bool,
    is_dry_run: bool = False,
) -> ImportReport:
    """Import the records of an export, of chatmemory or of another tool.

    ``records_in`` and ``read_rival`` yield what is *arriving*; None is an empty line.  A dry run only counts.  With
    *redacts*, secrets are removed from messages, memories and items.
    """
    tally, redaction = ImportTally(is_dry_run), Redaction()
    conversations = ArrivingConversations(
        do, do.service(MessageRepositoryTag), do.service(TokenCounterTag), tally
    )
    memories = ArrivingMemories(do, do.service(MemoryRepositoryTag), tally)
    items = ArrivingItems(do, do.service(ItemRepositoryTag), do.service(ClockTag), tally)
    for arrived in arriving:
        tally.lines += 1
        match record := _redacted(arrived, redaction) if redacts else arrived:
            case None:
                pass
            case RejectedRecord(reason):
                tally.issue(reason)
            case ExportHeader():
                if record.version > VERSION:
                    tally.issue(
                        f"written by a newer version ({record.version}): records that this version does not know are left out"
                    )
            case ConversationRecord():
                await conversations.begin(record)
            case MemoryRecord():
                await memories.take(record)
            case ItemRecord():
                await items.take(record)
            case ExportEnd():
                tally.is_whole = True
            case _:
                await conversations.take(record)
    await conversations.flush()
    await memories.flush()
    return tally.report(redaction.counts)


@Effect.gen
async def embedded(do: Do[RecallError, LongTermMemoryService], users: Iterable[str]) -> int:
    """Embed the memories of *users* that lack a vector of the current embedder; return the number of new vectors."""
    memories, count = do.service(LongTermMemoryService), 0
    for user in users:
        report = await do(memories.re_embed(Namespace(user)))
        count += report.embedded
        while report.next is not None:
            report = await do(memories.re_embed(Namespace(user), after=report.next))
            count += report.embedded
    return count


@Effect.gen
async def all_embedded(do: Do[RecallError, LongTermMemoryService | MemoryRepositoryTag]) -> int:
    """Embed the memories of all users that lack a vector of the current embedder; return the number of new vectors."""
    repository, users = do.service(MemoryRepositoryTag), list[str]()
    after: tuple[str, str] | None = None
    while found := await do(repository.whole(limit=1, after=after).alt(GenericMemoryError)):
        users.append(found[0].memory.namespace.user)
        after = users[-1], LAST_ID  # on to the next user
    return await do(embedded(users))


def _redacted(record: Record | RejectedRecord | None, redaction: Redaction) -> Record | RejectedRecord | None:
    match record:
        case MessageRecord() | SummaryRecord():
            metadata = None if record.metadata is None else redaction.metadata(record.metadata)
            return evolve(record, content=redaction.text(record.content), metadata=metadata)
        case MemoryRecord():
            memory = record.memory
            value = redaction.value(memory.value)
            earlier = tuple(
                evolve(one, content=redaction.text(one.content), value=redaction.value(one.value))
                for one in record.earlier
            )
            return evolve(
                record,
                memory=evolve(memory, content=redaction.text(memory.content), value=value),
                earlier=earlier,
            )
        case ItemRecord():
            value = redaction.value(record.value)
            return evolve(record, value=value, index=_without_secrets(record, value, redaction))
        case _:
            return record


def _without_secrets(record: ItemRecord, value: Json, redaction: Redaction) -> ItemIndex | None:
    """Return what an item is found by once its value is *value*; words and vectors of a text with secrets are left out."""
    index = record.index
    if index is None or index.terms is None:
        return index if value == record.value or index is None else evolve(index, model="", vectors=())
    if value == record.value and redaction.text(index.terms) == index.terms:
        return index
    return ItemIndex(terms=memory_terms("", key=record.key, value=value), model="", vectors=())
