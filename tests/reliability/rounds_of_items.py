"""The steps of a round with items, one transaction each; what is there of them, and what the log tells of them."""

from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from chatmemory import Event, ItemName, ItemPut, ItemRepository
from chatmemory.items.item_repository import name_in_log

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
KEYS: Final = ("左", "右", "plain")
VERSIONS: Final = 4


def names_of(talk: str) -> tuple[ItemName, ...]:
    return tuple([ItemName(("rounds", talk), key) for key in KEYS])


async def steps_of(items: ItemRepository, talk: str) -> AsyncGenerator[None]:
    """Put two items together, and again, take back, remove, take that back, and forget them; the third keeps no past."""
    left, right, plain = names_of(talk)
    times = (START + timedelta(minutes=minute) for minute in range(100))

    async def write(value: str | None, *names: ItemName, keeps_past: bool = True) -> None:
        puts = tuple([ItemPut(name, value, terms=value, keeps_past=keeps_past) for name in names])
        await items.write(puts, now=next(times)).or_raise()

    for step in (
        lambda: write('"one"', left, right),
        lambda: write('"two"', left, right),
        lambda: items.undo(left, now=next(times)).or_raise(),
        lambda: write('"kept no longer"', plain, keeps_past=False),
        lambda: write(None, left, right),
        lambda: write(None, plain, keeps_past=False),
        lambda: items.undo(right, now=next(times)).or_raise(),
        lambda: items.forget((left, right)).or_raise(),
    ):
        await step()
        yield


async def shown(items: ItemRepository, talk: str) -> list[Any]:
    """Return the values of a round: now, and at each version."""
    now = START + timedelta(days=1)
    names = names_of(talk)
    read: list[Any] = []
    for as_of in (None, *range(1, VERSIONS + 1)):
        found = await items.read(names, now=now, as_of=as_of).or_raise()
        read.append([None if one is None else (one.value, one.version) for one in found])
    return read


def told(events: Sequence[Event], talk: str) -> list[Any]:
    keys = {name_in_log(name): name.key for name in names_of(talk)}
    return sorted((keys[one.target], one.action) for one in events if one.target in keys)
