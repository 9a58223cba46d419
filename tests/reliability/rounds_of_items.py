"""``steps_of``: what is done with the items of a round, one transaction each; ``shown``: what is there of them."""

from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from chatmemory import Effect, ItemName, ItemPut, ItemRepository

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
KEYS: Final = ("左", "右", "plain")
VERSIONS: Final = 4


def names_of(talk: str) -> tuple[ItemName, ...]:
    return tuple([ItemName(("rounds", talk), key) for key in KEYS])


def steps_of(items: ItemRepository, talk: str) -> Generator[Effect[Any, Any]]:
    """Put two items together, and again, take back, remove, take that back, and forget them; the third keeps no past."""
    left, right, plain = names_of(talk)
    times = (START + timedelta(minutes=minute) for minute in range(100))

    def write(value: str | None, *names: ItemName, keeps_past: bool = True) -> Effect[Any, Any]:
        puts = tuple([ItemPut(name, value, terms=value, keeps_past=keeps_past) for name in names])
        return items.write(puts, now=next(times)).or_raise()

    yield write('"one"', left, right)
    yield write('"two"', left, right)
    yield items.undo(left, now=next(times)).or_raise()
    yield write('"kept no longer"', plain, keeps_past=False)
    yield write(None, left, right)
    yield write(None, plain, keeps_past=False)
    yield items.undo(right, now=next(times)).or_raise()
    yield items.forget((left, right)).or_raise()


async def shown(items: ItemRepository, talk: str) -> list[Any]:
    """Return the values of a round: now, and at each version."""
    now = START + timedelta(days=1)
    names = names_of(talk)
    read: list[Any] = []
    for as_of in (None, *range(1, VERSIONS + 1)):
        found = await items.read(names, now=now, as_of=as_of).or_raise()
        read.append([None if one is None else (one.value, one.version) for one in found])
    return read
