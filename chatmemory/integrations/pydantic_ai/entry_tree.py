"""``EntryTree``: the stored entries of conversations, each with the number of its uses.

Each entry after it uses an entry, and so does each record, once for each time that it names the entry.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Final, TypeAlias, final

from attrs import evolve, frozen
from pydantic_ai.conversation_store import ConversationEntry
from pydantic_ai.exceptions import UserError

from chatmemory.items.item_repository import ItemName, ItemPut, Labels, StoredItem

ENTRIES: Final[Labels] = ("pydanticAi", "entries")

LINE: Final = 16
"""The largest number of earlier entries that an entry names: the number of entries in one read."""


@final
@frozen
class KeptEntry:
    """A stored entry; *line* names the entries before it, oldest first; the first of them names those before that."""

    parent_id: str | None
    message: str
    line: tuple[str, ...]
    uses: int


Learning: TypeAlias = Generator[tuple[ItemName, ...], tuple[StoredItem | None, ...], None]
"""A part of an ``ItemChange`` that reads."""


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
    if "\0" in key or any("\ud800" <= character <= "\udfff" for character in key):
        raise UserError(f"{key!r} names nothing that every store can keep: it has a NUL, or half a character")
    return ItemName(labels, key)


def kept_entry(item: StoredItem) -> KeptEntry:
    """Return the entry in *item*."""
    value = json.loads(item.value)
    return KeptEntry(value["parent"], value["message"], tuple(value["line"]), value["uses"])
