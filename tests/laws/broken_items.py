"""Item repositories that each break one promise, the way stores in the field have broken it."""

import json
import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from anyio.lowlevel import checkpoint
from attrs import evolve

from chatmemory.effect import Delegating, Do, Effect
from chatmemory.items.item_repository import ItemChange, ItemName, ItemPut, ItemSearch, Labels, StoredItem
from chatmemory.items.kept_items import KeptItem
from chatmemory_layers.in_memory.database import Database
from chatmemory_layers.in_memory.item_repository import InMemoryItemRepository
from tests.laws.breaking import Breaks

Puts = tuple[ItemPut, ...]
Names = tuple[ItemName, ...]
Items = tuple[StoredItem, ...]

MOMENT = timedelta(microseconds=1)


class BrokenItems(Breaks, Delegating[InMemoryItemRepository]):
    """Passes every call on to a sound repository; each subclass gets one of them wrong."""

    @property
    def rows(self) -> dict[ItemName, KeptItem]:
        return self.inner.kept.rows


# --- Putting -----------------------------------------------------------------------------------------------------


class KeepsWholeSeconds(BrokenItems, breaks="l1_put"):
    def write(self, puts: Puts, *, now: datetime) -> Effect[None, Any]:
        return self.inner.write(puts, now=now.replace(microsecond=0))


class WritesValuesAnew(BrokenItems, breaks="l1_put", by_long_program="L1"):
    def write(self, puts: Puts, *, now: datetime) -> Effect[None, Any]:
        written = [
            put if put.value is None else evolve(put, value=json.dumps(json.loads(put.value))) for put in puts
        ]
        return self.inner.write(tuple(written), now=now)


class ForgetsTheFirstTime(BrokenItems, breaks="l1_put"):
    """INSERT OR REPLACE."""

    @Effect.gen
    async def write(self, do: Do[Any], puts: Puts, *, now: datetime) -> None:
        await do(self.inner.write(tuple([evolve(put, value=None) for put in puts]), now=now))
        await do(self.inner.write(puts, now=now))


class PutsTheFirstOfABatch(BrokenItems, breaks="l2_batch", by_program="L1"):
    def write(self, puts: Puts, *, now: datetime) -> Effect[None, Any]:
        return self.inner.write(puts[::-1], now=now)


class KnowsNoCase(BrokenItems, breaks="l3_isolation"):
    def write(self, puts: Puts, *, now: datetime) -> Effect[None, Any]:
        removed = {put.name.key.casefold() for put in puts if put.value is None}
        alike = [name for name in self.rows if name.key.casefold() in removed]
        return self.inner.write((*puts, *[ItemPut(name, None) for name in alike]), now=now)


class KeepsNothing(BrokenItems, breaks="l5_reopen", by_program="L5"):
    """Acknowledges before it stores, and is closed."""

    def __init__(self, inner: InMemoryItemRepository) -> None:
        super().__init__(InMemoryItemRepository(Database()))


class StoresRowByRow(BrokenItems, breaks=["l6_cancel", "l7_race"]):
    @Effect.gen
    async def write(self, do: Do[Any], puts: Puts, *, now: datetime) -> None:
        for put in puts:
            await checkpoint()
            await do(self.inner.write((put,), now=now))


class ReadsBeforeItLocks(BrokenItems, breaks="l7_race_of_changes"):
    @Effect.gen
    async def change(self, do: Do[Any], steps: Callable[[], ItemChange[Any]], *, now: datetime) -> Any:
        change = steps()
        try:
            wanted = next(change)
            while True:
                if isinstance(wanted, ItemSearch):
                    wanted = change.send(await do(self.inner.search(wanted, now=now)))
                else:
                    wanted = change.send(await do(self.inner.read(wanted, now=now)))
        except StopIteration as end:
            puts, answer = end.value
        await checkpoint()
        await do(self.inner.write(puts, now=now))
        return answer


class CreatesWhatItRefreshes(BrokenItems, breaks="l11_empty"):
    def refresh(self, names: Names, *, now: datetime) -> Effect[None, Any]:
        missing = [name for name in names if name not in self.rows]
        return self.inner.write(tuple([ItemPut(name, "null") for name in missing]), now=now)


class IsNewerAfterARetry(BrokenItems, breaks="l12_retry"):
    def write(self, puts: Puts, *, now: datetime) -> Effect[None, Any]:
        is_there = any(put.name in self.rows for put in puts)
        return self.inner.write(puts, now=now + MOMENT if is_there else now)


class KeepsOldPassages(BrokenItems, breaks="l23_remove"):
    def write(self, puts: Puts, *, now: datetime) -> Effect[None, Any]:
        kept = [
            evolve(put, terms=row.put.terms, model=row.put.model, vectors=row.put.vectors)
            if (row := self.rows.get(put.name)) is not None and not put.vectors
            else put
            for put in puts
        ]
        return self.inner.write(tuple(kept), now=now)


# --- Reading -----------------------------------------------------------------------------------------------------


class LetsDriverErrorsEscape(BrokenItems, breaks="l11_empty: L20"):
    def read(self, names: Names, *, now: datetime) -> Effect[tuple[StoredItem | None, ...], Any]:
        def read() -> None:
            if not names:
                raise sqlite3.OperationalError('near ")": syntax error')

        return Effect.sync(read).bind(lambda _: self.inner.read(names, now=now))


class MixesModels(BrokenItems, breaks="l8_found"):
    def write(self, puts: Puts, *, now: datetime) -> Effect[None, Any]:
        return self.inner.write(tuple([evolve(put, model="") for put in puts]), now=now)

    def search(self, search: ItemSearch, /, *, now: datetime) -> Effect[Items, Any]:
        return self.inner.search(evolve(search, model=""), now=now)


class FindsMoreThanAsked(BrokenItems, breaks="l8_found"):
    @Effect.gen
    async def search(self, do: Do[Any], search: ItemSearch, /, *, now: datetime) -> Items:
        found = await do(self.inner.search(search, now=now))
        names = {item.name for item in found}
        rest = await do(self.inner.search(evolve(search, terms=(), vector=None), now=now))
        more = [evolve(item, score=0.0) for item in rest if search.is_query and item.name not in names]
        return (*found, *more)


class ComparesTheFirstPassage(BrokenItems, breaks="l9_self"):
    def write(self, puts: Puts, *, now: datetime) -> Effect[None, Any]:
        return self.inner.write(tuple([evolve(put, vectors=put.vectors[:1]) for put in puts]), now=now)


class TakesPrefixesForText(BrokenItems, breaks="l10_window"):
    def namespaces(self, prefix: Labels, *, now: datetime) -> Effect[tuple[Labels, ...], Any]:
        def is_below(namespace: Labels) -> bool:
            return ".".join(namespace).startswith(".".join(prefix))

        there = {name.namespace for name, row in self.rows.items() if row.is_there(now)}
        return Effect.succeed(tuple(sorted(filter(is_below, there))))


class ComparesConditionsAsText(BrokenItems, breaks="l10_window_by_conditions"):
    @Effect.gen
    async def search(self, do: Do[Any], search: ItemSearch, /, *, now: datetime) -> Items:
        everything = evolve(search, conditions=(), limit=1000, offset=0)
        found = await do(self.inner.search(everything, now=now))
        fitting = [
            item
            for item in found
            if all(f"{condition.operand}" in item.value for condition in search.conditions)
        ]
        return tuple(fitting[search.offset : search.offset + search.limit])


class FiltersAPage(BrokenItems, breaks="l10_window_by_conditions", by_long_program="L10"):
    """The conditions of a list come behind its limit."""

    @Effect.gen
    async def search(self, do: Do[Any], search: ItemSearch, /, *, now: datetime) -> Items:
        if search.is_query:
            return await do(self.inner.search(search, now=now))
        page = await do(self.inner.search(evolve(search, conditions=()), now=now))
        return tuple([item for item in page if search.admits(item.value)])


# --- Lifetimes ---------------------------------------------------------------------------------------------------


class IsThereUntilItIsSwept(BrokenItems, breaks="e1_end"):
    def read(self, names: Names, *, now: datetime) -> Effect[tuple[StoredItem | None, ...], Any]:
        return Effect.succeed(tuple([row.item if (row := self.rows.get(name)) else None for name in names]))


class RemembersTheTimeOfWhatIsGone(BrokenItems, breaks="e1_end"):
    def write(self, puts: Puts, *, now: datetime) -> Effect[None, Any]:
        for put in puts:
            if put.name in self.rows:
                self.rows[put.name] = evolve(self.rows[put.name], expires_at=None)
        return self.inner.write(puts, now=now)


class OverflowsOnLongLives(BrokenItems, breaks="e1_end_of_long_lives: L20"):
    def write(self, puts: Puts, *, now: datetime) -> Effect[None, Any]:
        return Effect.sync(lambda: [now + put.lifetime for put in puts if put.lifetime is not None]).bind(
            lambda _: self.inner.write(puts, now=now)
        )


class RevivesWhatIsGone(BrokenItems, breaks="e2_refresh"):
    def refresh(self, names: Names, *, now: datetime) -> Effect[None, Any]:
        for name in names:
            row = self.rows.get(name)
            if row is not None and row.put.lifetime is not None:
                self.rows[name] = evolve(row, expires_at=now + row.put.lifetime)
        return Effect.succeed(None)


class SweepsWhatWillEnd(BrokenItems, breaks="e3_sweep", by_long_program="E3"):
    def sweep(self, *, now: datetime) -> Effect[int, Any]:
        return self.inner.sweep(now=now + timedelta(days=1))


class ShowsVectorsInAnyOrder(BrokenItems, breaks="l32_whole"):
    def whole(self, names: Names, *, now: datetime) -> Effect[Any, Any]:
        return self.inner.whole(names, now=now).map(
            lambda found: tuple([whole and evolve(whole, vectors=whole.vectors[::-1]) for whole in found])
        )


class ShowsWhatIsOver(BrokenItems, breaks="l32_whole"):
    def whole(self, names: Names, *, now: datetime) -> Effect[Any, Any]:
        return self.inner.whole(names, now=now - 2 * timedelta(hours=1))


# --- The past ----------------------------------------------------------------------------------------------------


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
        def filled(items: Any) -> Any:
            named = zip(names, items, strict=True)
            return tuple(item or self.every.get((name, as_of)) for name, item in named)

        return self.inner.read(names, now=now, as_of=as_of).map(filled)

    def write(self, puts: Puts, *, now: datetime) -> Effect[Any, Any]:
        def note(_: object) -> None:
            for name, past in self.inner.kept.earlier.items():
                self.every |= {(name, one.item.version): one.item for one in past}

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
