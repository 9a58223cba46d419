"""Item repositories that get the past wrong: what an item was, its undo, and its forgetting."""

from datetime import datetime
from typing import Any

from chatmemory.effect import Effect
from chatmemory.items.item_repository import ItemName, ItemPut
from tests.laws.broken_items import BrokenItems, Names, Puts


class ReadsOnlyWhatIsNow(BrokenItems, breaks="l27_past"):
    def read(self, names: Names, *, now: datetime, as_of: object = None) -> Effect[Any, Any]:
        del as_of
        return self.inner.read(names, now=now)


class KeepsEverything(BrokenItems, breaks="l27_past_is_bounded"):
    """Its past has no bound."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.every: dict[tuple[ItemName, int], Any] = {}

    def read(self, names: Names, *, now: datetime, as_of: Any = None) -> Effect[Any, Any]:
        self.every |= {
            (name, one.item.version): one.item
            for name, past in self.inner.kept.earlier.items()
            for one in past
        }

        def filled(items: Any) -> Any:
            if not isinstance(as_of, int):
                return items
            return tuple(
                item or self.every.get((name, as_of)) for name, item in zip(names, items, strict=True)
            )

        return self.inner.read(names, now=now, as_of=as_of).map(filled)

    def write(self, puts: Puts, *, now: datetime) -> Effect[Any, Any]:
        def note(_: object) -> None:
            self.every |= {
                (name, one.item.version): one.item
                for name, past in self.inner.kept.earlier.items()
                for one in past
            }

        return self.inner.write(puts, now=now).map(note)


class RemovesInsteadOfUndoing(BrokenItems, breaks="l29_undo"):
    def undo(self, name: ItemName, /, *, now: datetime) -> Effect[Any, Any]:
        return self.inner.write((ItemPut(name, None),), now=now)


class UndoesWhatNobodyKept(BrokenItems, breaks="l29_undo_is_refused"):
    def undo(self, name: ItemName, /, *, now: datetime) -> Effect[Any, Any]:
        return self.inner.undo(name, now=now).lash(lambda _: Effect.succeed(None))


class ForgetsThePresentAlone(BrokenItems, breaks="l30_forget"):
    def forget(self, names: Names, /) -> Effect[Any, Any]:
        earlier = {name: [*past] for name, past in self.inner.kept.earlier.items()}

        def put_back(count: int) -> int:
            self.inner.kept.earlier.update(earlier)
            return count

        return self.inner.forget(names).map(put_back)
