"""``ChatMemoryConversations``: a ``ConversationStore`` of pydantic-ai in the items of chatmemory.

    store = ChatMemoryConversations(ThreadRuntime(stacks.embedded("agent.db")))
    conversation = await store.load("lunch") or Conversation(conversation_id="lunch")
    result = await agent.run("Where do we meet?", conversation=conversation)
    await store.save(result)

It stores everything that the framework passes, with usage, branches and paused tool calls, and summarizes nothing;
for the history that a model should see, use ``ChatMemoryHistory``.

A record is an item, and so is each entry, which holds the JSON of its message byte by byte.  An entry counts its uses: by
the entries after it, and by the records that name it.  It is deleted with its last use.  So ``delete`` erases all messages
that no other conversation shares, in the same transaction.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from typing import Final, TypeAlias, final

from attrs import evolve, frozen
from pydantic import TypeAdapter, ValidationError
from pydantic_ai import __version__
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)
from pydantic_ai.exceptions import UserError
from pydantic_core import PydanticSerializationError

from chatmemory.effect import Runner
from chatmemory.input.rules import is_encodable
from chatmemory.integrations.pydantic_ai.history import RAISING, json_text, message_of
from chatmemory.integrations.raising import to_its_end
from chatmemory.items.item_repository import (
    ALL,
    Condition,
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
    StoredItem,
)

ENTRIES: Final[Labels] = ("pydanticAi", "entries")
RECORDS: Final[Labels] = ("pydanticAi", "conversations")

LINE: Final = 16
"""The largest number of earlier entries that an entry names: the number of entries in one read."""

TIMELESS: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The time at which items without a lifetime are read."""

Learning: TypeAlias = Generator[tuple[ItemName, ...], tuple[StoredItem | None, ...], None]
"""A part of an ``ItemChange`` that reads."""


class ChatMemoryConversations(ConversationStore):
    """The conversations of a store.

    *runtime* provides ``ItemRepositoryTag``: a ``ThreadRuntime`` works with any event loop and thread; a
    ``ManagedRuntime`` works with its own event loop, faster.  This class does not close it.

    Of several writers, in any process, that have loaded the same conversation, one saves, and the others get
    ``ConversationConflict``.  Input that chatmemory refuses raises ``UserError``, any other failure
    ``AgentRunError``.
    """

    def __init__(self, runtime: Runner[ItemRepositoryTag]) -> None:
        """Store the runtime; nothing is opened yet."""
        self._runtime = runtime

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        (item,) = await self._items((item_name(RECORDS, conversation_id),))
        return None if item is None else _record_of(item)

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        conditions = () if scope is None else (Condition("scope", "is", scope),)
        search = ItemSearch(RECORDS, limit=ALL if limit is None else limit, conditions=conditions)
        searching = ItemRepositoryTag.use(lambda items: items.search(search, now=TIMELESS))
        return [_record_of(item) for item in await RAISING.run(self._runtime, searching)]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Store the record and the entries, or neither; see ``ConversationStore``."""
        messages = [(entry, json_text(entry.message)) for entry in new_entries]
        steps = partial(_written, record, _record_put(record), messages, expected_revision)
        now = record.updated_at.astimezone(UTC)  # the time by which they are listed
        await self._change(record.conversation_id, steps, now=now)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Delete the record, and the entries without another use, in one transaction; see ``ConversationStore``."""
        await self._change(
            conversation_id, partial(_deleted, conversation_id, expected_revision), now=TIMELESS
        )

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        (kept,) = await self._kept((entry_id,))
        return _entry_of(entry_id, kept)

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        # ``LINE`` entries are read at once.
        newest_first: list[ConversationEntry] = []
        line: tuple[str, ...] = () if head_id is None else (head_id,)
        while line and (limit is None or len(newest_first) < limit):
            wanted = line if limit is None else line[-(limit - len(newest_first)) :]
            found = await self._kept(wanted)
            newest_first += reversed(list(map(_entry_of, wanted, found)))
            line = found[0].line
        return newest_first[::-1]

    async def _kept(self, entry_ids: Sequence[str]) -> list[KeptEntry]:
        items = await self._items(tuple(item_name(ENTRIES, entry_id) for entry_id in entry_ids))
        missing = [entry_id for entry_id, item in zip(entry_ids, items, strict=True) if item is None]
        if missing:
            raise KeyError(missing[0])
        return [kept_entry(item) for item in items if item is not None]

    async def _items(self, names: tuple[ItemName, ...]) -> tuple[StoredItem | None, ...]:
        reading = ItemRepositoryTag.use(lambda items: items.read(names, now=TIMELESS))
        return await RAISING.run(self._runtime, reading)

    async def _change(
        self, conversation_id: str, steps: Callable[[], ItemChange[bool]], *, now: datetime
    ) -> None:
        changing = ItemRepositoryTag.use(lambda items: items.change(steps, now=now))
        if not await to_its_end(RAISING.run(self._runtime, changing)):
            raise ConversationConflict(conversation_id)


def _written(
    record: ConversationRecord,
    put: ItemPut,
    messages: Sequence[tuple[ConversationEntry, str]],
    expected_revision: str | None,
) -> ItemChange[bool]:
    """Put the record and the entries that are not stored yet; on a conflict put nothing, and return False."""
    (item,) = yield (put.name,)
    old = None if item is None else _record_of(item)
    if (None if old is None else old.revision) != expected_revision:
        return (), False
    tree, uses = EntryTree(), Counter(_named(record))
    uses.subtract(_named(old))
    behind = [entry.parent_id for entry, _ in messages if entry.parent_id is not None]
    yield from tree.learn([*(entry.id for entry, _ in messages), *behind, *uses])
    for entry, message in messages:
        if entry.id not in tree.known:
            tree.add(entry, message)
            uses.update(() if entry.parent_id is None else (entry.parent_id,))
    if not set(behind).union(_named(record)) <= tree.known.keys():
        return (), False  # another writer has deleted them meanwhile
    yield from tree.use(uses)
    return (put, *tree.puts()), True


def _deleted(conversation_id: str, expected_revision: str) -> ItemChange[bool]:
    name = item_name(RECORDS, conversation_id)
    (item,) = yield (name,)
    old = None if item is None else _record_of(item)
    if old is None or old.revision != expected_revision:
        return (), False
    tree, uses = EntryTree(), Counter[str]()
    uses.subtract(_named(old))
    yield from tree.learn(uses)
    yield from tree.use(uses)
    return (ItemPut(name, None), *tree.puts()), True


def _named(record: ConversationRecord | None) -> list[str]:
    """Return the entries that a record names: the head of its history and its branches."""
    if record is None:
        return []
    return [*record.branches, *([] if record.head_id is None else [record.head_id])]


@cache
def _records() -> TypeAdapter[ConversationRecord]:
    """Return the adapter that writes and reads records; it is made at the first use, because it takes a quarter of our import."""
    return TypeAdapter(ConversationRecord)


def _record_put(record: ConversationRecord) -> ItemPut:
    try:
        value = _records().dump_json(record).decode()
    except PydanticSerializationError as unwritable:
        raise UserError(f"a record that is no JSON cannot be stored: {unwritable}") from unwritable
    return ItemPut(item_name(RECORDS, record.conversation_id), value)


def _record_of(item: StoredItem) -> ConversationRecord:
    try:
        return _records().validate_json(item.value)
    except ValidationError as unreadable:
        raise UserError(
            f"conversation {item.name.key!r} is none of pydantic-ai {__version__}: {unreadable}"
        ) from unreadable


def _entry_of(entry_id: str, kept: KeptEntry) -> ConversationEntry:
    message = message_of(kept.message, name=f"entry {entry_id!r}")
    return ConversationEntry(id=entry_id, parent_id=kept.parent_id, message=message)


@final
@frozen
class KeptEntry:
    """A stored entry; *line* names the entries before it, oldest first; the first of them names those before that."""

    parent_id: str | None
    message: str
    line: tuple[str, ...]
    uses: int


@final
class EntryTree:
    """The entries that a change touches."""

    def __init__(self) -> None:
        self.known: dict[str, KeptEntry] = {}
        self._changed: set[str] = set()

    def learn(self, entry_ids: Iterable[str]) -> Learning:
        """Read the entries that are not known yet; missing ones stay unknown."""
        wanted = tuple(dict.fromkeys(one for one in entry_ids if one not in self.known))
        if wanted:
            items = yield tuple(item_name(ENTRIES, one) for one in wanted)
            found = zip(wanted, items, strict=True)
            self.known |= {one: kept_entry(item) for one, item in found if item is not None}

    def add(self, entry: ConversationEntry, message: str) -> None:
        """Add a new entry."""
        parent = None if entry.parent_id is None else self.known.get(entry.parent_id)
        line: tuple[str, ...] = () if entry.parent_id is None else (entry.parent_id,)
        if parent is not None and len(parent.line) < LINE:
            line = (*parent.line, *line)
        self.known[entry.id] = KeptEntry(entry.parent_id, message, line, uses=0)
        self._changed.add(entry.id)

    def use(self, uses: Mapping[str, int]) -> Learning:
        """Add *uses* to the counts of entries, and delete the entries that lose their last use."""
        # Additions first, so that no entry is deleted that is about to be used.
        changes = sorted(((more, one) for one, more in uses.items() if more and one in self.known))
        while changes:
            more, entry_id = changes.pop()
            before = self.known[entry_id]
            kept = self.known[entry_id] = evolve(before, uses=before.uses + more)
            self._changed.add(entry_id)
            if kept.uses <= 0 < before.uses and kept.parent_id is not None:
                yield from self.learn(kept.line)
                changes += [(-1, kept.parent_id)] if kept.parent_id in self.known else []

    def puts(self) -> Iterator[ItemPut]:
        """Yield the puts of the changes."""
        for entry_id in self._changed:
            kept = self.known[entry_id]
            value = {"parent": kept.parent_id, "line": kept.line, "uses": kept.uses, "message": kept.message}
            yield ItemPut(
                item_name(ENTRIES, entry_id), json.dumps(value, ensure_ascii=False) if kept.uses > 0 else None
            )


def item_name(labels: Labels, key: str) -> ItemName:
    """Return the name of an item; raise ``UserError`` when no store can hold it."""
    if "\0" in key or not is_encodable(key):
        raise UserError(f"{key!r} names nothing that every store can keep: it has a NUL, or half a character")
    return ItemName(labels, key)


def kept_entry(item: StoredItem) -> KeptEntry:
    """Return the entry in *item*."""
    value = json.loads(item.value)
    return KeptEntry(value["parent"], value["message"], tuple(value["line"]), value["uses"])
