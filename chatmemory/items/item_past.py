"""Decides which earlier values of an item are kept, and what an undo writes; every store executes the decision."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, final

from attrs import frozen

from chatmemory.errors import NotUndoableError
from chatmemory.items.item_repository import ItemName, ItemPut, StoredItem, name_in_log

MOST_EARLIER: Final = 16
"""Earlier values that are kept of an item, the newest ones."""

NOTHING_KEPT: Final = "nothing is kept of what was there before; put it again"


@final
@frozen(slots=False)
class EarlierItem:
    """A value that an item had until it was replaced or removed at *ended_at*; *terms* are its search terms."""

    item: StoredItem
    terms: str | None
    ended_at: datetime

    def was_there(self, as_of: int | datetime) -> bool:
        """Return whether it was the value of a version, or at an instant."""
        if isinstance(as_of, int):
            return self.item.version == as_of
        return self.item.updated_at <= as_of < self.ended_at


def is_as_of(item: StoredItem, as_of: int | datetime) -> bool:
    """Return whether the present value existed at that version or instant."""
    return item.version == as_of if isinstance(as_of, int) else item.updated_at <= as_of


def as_of_in(
    present: StoredItem | None, earlier: Sequence[EarlierItem], as_of: int | datetime
) -> StoredItem | None:
    """Return the item as it was at a version or an instant; None when it did not exist, or when that value is not kept.

    *earlier* are its earlier values, the oldest first.
    """
    if present is not None and is_as_of(present, as_of):
        return present
    return next((one.item for one in reversed(earlier) if one.was_there(as_of)), None)


def undoing_put(
    name: ItemName, present: StoredItem | None, newest: EarlierItem | None
) -> ItemPut | NotUndoableError:
    """Return the put that undoes the newest change of an item: the value before it, or a removal.

    *present* is None when the item was removed; *newest*, its newest earlier value, when no value is kept.
    """
    if present is not None and present.has_lifetime:
        return NotUndoableError(name_in_log(name), present.version, NOTHING_KEPT)
    if present is None and newest is None:
        return NotUndoableError(name_in_log(name), 0, NOTHING_KEPT)
    if newest is None or (present is not None and newest.ended_at != present.updated_at):
        return ItemPut(name, None, keeps_past=True)
    return ItemPut(name, newest.item.value, newest.terms, keeps_past=True)
