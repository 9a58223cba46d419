"""Changes of whole threads and of many checkpoints: delete, copy and prune, each in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import groupby

from chatmemory.integrations.langgraph.checkpoint_requests import (
    Line,
    checkpoint_id_of,
    is_checkpoint,
    is_head,
    line_of,
    run_labels,
    thread_labels,
)
from chatmemory.integrations.langgraph.kept_checkpoints import (
    KeptCheckpoint,
    LineHead,
    Retention,
    place_from,
    place_of,
)
from chatmemory.items.item_repository import ItemChange, ItemName, ItemPut, StoredItem, items_below


def deleted(thread_ids: Sequence[str]) -> ItemChange[int]:
    """Remove the threads, and return the number of removed checkpoints."""
    puts: list[ItemPut] = []
    for thread_id in dict.fromkeys(thread_ids):
        puts += _removals((yield from items_below(thread_labels(thread_id))))
    return tuple(puts), _count(puts)


def deleted_if_over(thread_id: str, retention: Retention, now: datetime) -> ItemChange[int]:
    """Remove the thread if it has expired, and return the number of removed checkpoints."""
    (head,) = yield (Line(thread_id, "").head,)
    if head is None or not retention.is_over(head.updated_at, now):
        return (), 0
    puts = _removals((yield from items_below(thread_labels(thread_id))))
    return tuple(puts), _count(puts)


def pruned(thread_ids: Sequence[str], retention: Retention, now: datetime) -> ItemChange[int]:
    """Remove the surplus checkpoints of the threads, and return their number."""
    puts: list[ItemPut] = []
    for thread_id in dict.fromkeys(thread_ids):
        found = yield from items_below(thread_labels(thread_id))
        for line in dict.fromkeys(
            [line_of(item.name.namespace) for item in found if is_checkpoint(item.name)]
        ):
            depth = len(line.checkpoints)
            inside = [item for item in found if item.name.namespace[:depth] == line.checkpoints]
            puts += _without_surplus(line, inside, retention, now)
    return tuple(puts), _count(puts)


def pruned_line(line: Line, retention: Retention, now: datetime) -> ItemChange[int]:
    """Remove the surplus checkpoints of a line, and return their number."""
    found = yield from items_below(line.checkpoints)
    puts = _without_surplus(line, found, retention, now)
    return tuple(puts), _count(puts)


def deleted_runs(run_ids: Sequence[str]) -> ItemChange[int]:
    """Remove the checkpoints of the runs, and return their number."""
    places: list[tuple[Line, str]] = []
    for run_id in dict.fromkeys(run_ids):
        places += [place_from(item.name.key) for item in (yield from items_below(run_labels(run_id)))]
    puts: list[ItemPut] = []
    for line, group in groupby(sorted(places, key=_order), key=lambda place: place[0]):
        found = yield from items_below(line.checkpoints)
        puts += _without(line, found, {checkpoint_id for _, checkpoint_id in group})
    return tuple(puts), _count(puts)


def copied(source: str, target: str) -> ItemChange[int]:
    """Copy all items of a thread into another one, which keeps its own, and return the number of copied checkpoints."""
    found = yield from items_below(thread_labels(source))
    heads = {
        line_of(item.name.namespace): LineHead.of(item.value)
        for item in found
        if is_head(item.name.namespace)
    }
    lines = [Line(target, line.checkpoint_ns) for line in heads]
    there = yield tuple([line.head for line in lines])
    puts: list[ItemPut] = []
    for item in found:
        if is_head(item.name.namespace):
            continue
        labels = (*thread_labels(target), *item.name.namespace[len(thread_labels(target)) :])
        puts.append(ItemPut(ItemName(labels, item.name.key), item.value))
        if is_checkpoint(item.name):
            puts += run_puts(line_of(labels), checkpoint_id_of(labels), KeptCheckpoint.of(item.value))
    for line, head, present in zip(lines, heads.values(), there, strict=True):
        newest = head.id if present is None else max(head.id, LineHead.of(present.value).id)
        puts.append(ItemPut(line.head, LineHead(newest, head.puts).text()))
    return tuple(puts), sum(is_checkpoint(put.name) for put in puts)


def run_puts(
    line: Line, checkpoint_id: str, kept: KeptCheckpoint, *, value: str | None = "null"
) -> list[ItemPut]:
    """Return the puts that record a checkpoint in its run; with None for *value*, those that remove the record."""
    if kept.run is None:
        return []
    return [ItemPut(ItemName(run_labels(kept.run), place_of(line, checkpoint_id)), value)]


def _removals(items: Iterable[StoredItem]) -> list[ItemPut]:
    puts: list[ItemPut] = []
    for item in items:
        puts.append(ItemPut(item.name, None))
        if is_checkpoint(item.name):
            labels = item.name.namespace
            puts += run_puts(
                line_of(labels), checkpoint_id_of(labels), KeptCheckpoint.of(item.value), value=None
            )
    return puts


def _without_surplus(
    line: Line, found: Sequence[StoredItem], retention: Retention, now: datetime
) -> list[ItemPut]:
    kept = {
        checkpoint_id_of(item.name.namespace): (KeptCheckpoint.of(item.value), item.updated_at)
        for item in found
        if is_checkpoint(item.name)
    }
    return _without(line, found, retention.surplus(kept, now)) if kept else []


def _without(line: Line, found: Sequence[StoredItem], gone: Collection[str]) -> list[ItemPut]:
    """Remove the checkpoints in *gone* from a line, whose items are *found*, and the values that no other checkpoint has."""
    puts = _removals([item for item in found if checkpoint_id_of(item.name.namespace) in gone])
    values: tuple[set[ItemName], set[ItemName]] = (set(), set())
    left: list[str] = []
    for item in found:
        if is_checkpoint(item.name):
            checkpoint_id = checkpoint_id_of(item.name.namespace)
            values[checkpoint_id in gone].update(KeptCheckpoint.of(item.value).values(line))
            if checkpoint_id not in gone:
                left.append(checkpoint_id)
    staying, going = values
    puts += [ItemPut(name, None) for name in going - staying]
    puts.append(ItemPut(line.head, LineHead(max(left), 0).text() if left else None))
    return puts


def _order(place: tuple[Line, str]) -> tuple[str, str]:
    return place[0].thread_id, place[0].checkpoint_ns


def _count(puts: Iterable[ItemPut]) -> int:
    """Return the number of removed checkpoints."""
    return sum(put.value is None and is_checkpoint(put.name) for put in puts)
