"""``EntryTree``: the entries of conversations as they are kept, each with the number of its uses.

An entry is used by each entry behind it, and by each record for each time that it names it.
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
"""Entries at most that an entry names before it: so many are read at once, and so many ids stand in it."""


@final
@frozen
class KeptEntry:
    """An entry as it is stored; *line* names those before it, oldest first, the first of which knows those before that."""

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
        """Read those that are not known yet; what is not there stays unknown."""
        wanted = tuple(dict.fromkeys(one for one in entry_ids if one not in self.known))
        if wanted:
            items = yield tuple(item_name(ENTRIES, one) for one in wanted)
            found = zip(wanted, items, strict=True)
            self.known |= {one: kept_entry(item) for one, item in found if item is not None}

    def add(self, entry: ConversationEntry, message: str) -> None:
        """Know a new entry."""
        parent = None if entry.parent_id is None else self.known.get(entry.parent_id)
        line: tuple[str, ...] = () if entry.parent_id is None else (entry.parent_id,)
        if parent is not None and len(parent.line) < LINE:
            line = (*parent.line, *line)
        self.known[entry.id] = KeptEntry(entry.parent_id, message, line, uses=0)
        self._changed.add(entry.id)

    def use(self, uses: Mapping[str, int]) -> Learning:
        """Count *uses* more of each entry, or fewer, and let go of those that have lost their last one."""
        # More before fewer: none is let go of that is about to be used.
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
        """Yield what is stored of the changes."""
        for entry_id in self._changed:
            kept = self.known[entry_id]
            value = {"parent": kept.parent_id, "line": kept.line, "uses": kept.uses, "message": kept.message}
            yield ItemPut(
                item_name(ENTRIES, entry_id), json.dumps(value, ensure_ascii=False) if kept.uses > 0 else None
            )


def item_name(labels: Labels, key: str) -> ItemName:
    """Return the name of an item, or refuse what no store can keep."""
    if "\0" in key or any("\ud800" <= character <= "\udfff" for character in key):
        raise UserError(f"{key!r} names nothing that every store can keep: it has a NUL, or half a character")
    return ItemName(labels, key)


def kept_entry(item: StoredItem) -> KeptEntry:
    """Return the entry that *item* is."""
    value = json.loads(item.value)
    return KeptEntry(value["parent"], value["message"], tuple(value["line"]), value["uses"])
