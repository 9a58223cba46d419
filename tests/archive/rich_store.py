"""A store in which there is something of everything, and how it is exported and imported."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Principal, acting_as
from chatmemory.conversation.message_repository import (
    Fork,
    MessageRepository,
    MessageRepositoryTag,
    PageQuery,
)
from chatmemory.effect import ManagedRuntime
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag
from chatmemory.laws.kit.samples import METADATA, START, TEXTS, batch, said, summary_of
from chatmemory.laws.memories.memory_witness import SPACE, VECTORS, dedup_key, remembered
from chatmemory.longterm.memories import Provenance
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.repository_values import Forgetting, Use
from chatmemory.programs.archive.exporting import exported
from chatmemory.programs.archive.import_report import ImportReport
from chatmemory.programs.archive.importing import imported
from chatmemory.programs.archive.records import records_in

DAY = timedelta(days=1)
MEI = Namespace("梅", "desk")
FORGOTTEN = "密语 nobody may read again"


async def export_of(runtime: ManagedRuntime[Any], *, with_vectors: bool = False) -> list[str]:
    """Return the lines of an export, with their ends."""
    lines: list[str] = []
    end = await runtime.run(exported(lines.append, with_vectors=with_vectors))
    end.unwrap()
    return lines


async def import_into(
    runtime: ManagedRuntime[Any], lines: Iterable[str], *, is_dry_run: bool = False, redacts: bool = False
) -> ImportReport:
    """Import *lines*."""
    given = (line.encode() for line in lines)
    outcome = await runtime.run(imported(records_in(given), is_dry_run=is_dry_run, redacts=redacts))
    return outcome.unwrap()


async def summarize(
    messages: MessageRepository,
    id_: str,
    covers: int,
    name: str,
    *,
    deletes: bool = False,
    stale: bool = False,
) -> None:
    """Put a summary in the place of the oldest messages of the view."""
    page = await messages.page(PageQuery(id_, "model")).or_raise()
    assert page is not None
    summary = summary_of(
        id_,
        page.messages[:covers],
        message_id=name,
        planned_at_version=page.version,
        delete_covered=deletes,
        now=START + 2 * DAY,
    )
    await messages.summarize(evolve(summary, is_stale=stale)).or_raise()


async def fill(runtime: ManagedRuntime[Any]) -> None:
    """Keep something of everything."""
    messages = await runtime.service(MessageRepositoryTag)
    with acting_as(Principal(name="", namespace=MEI, granted=None)):
        for number, (text, metadata) in enumerate(zip(TEXTS, METADATA, strict=False)):
            draft = said(f"m{number}", text, metadata=metadata, timestamp=START - number * DAY)
            await messages.append(evolve(batch("会议", draft), now=START + number * DAY / 24)).or_raise()
        await messages.fork(Fork("会议", "会议/支", "m3", START + DAY)).or_raise()
        await summarize(messages, "会议", 3, "s1")
        await messages.fork(Fork("会议", "a/branch", None, START + DAY)).or_raise()
        await messages.append(evolve(batch("a/branch", said("own")), now=START + 3 * DAY)).or_raise()
        await messages.fork(Fork("a/branch", "a/branch/branch", None, START + 4 * DAY)).or_raise()
        await messages.fork(Fork("a/branch", "z/branch", "m1", START + 4 * DAY)).or_raise()
    await summarize(messages, "会议", 2, "s2", stale=True)
    for number in range(9):
        await messages.append(batch("gone in part", said(f"d{number}"))).or_raise()
    await messages.fork(Fork("gone in part", "keeps it all", None, START)).or_raise()
    await summarize(messages, "gone in part", 4, "s3", deletes=True)
    await messages.fork(Fork("gone in part", "of the middle", "d5", START)).or_raise()
    await summarize(messages, "gone in part", 3, "s4")
    await messages.append(batch("cleared", said("x", FORGOTTEN))).or_raise()
    await messages.clear("cleared", now=START).or_raise()
    await _remember(runtime)
    items = await runtime.service(ItemRepositoryTag)
    for labels, key, value in (
        (("langgraph", "用户"), "b", '{"n": 1.0}'),
        (("langgraph",), "a", r'[true, null, NaN, "\ud83d"]'),  # half of an emoji
        (("langgraph", "用户"), "a", '"茶"'),
    ):
        put = ItemPut(ItemName(labels, key), value, keeps_past=True)
        await items.write((put,), now=START).or_raise()
    green = evolve(put, value='"绿茶"', terms="绿茶", model="law", vectors=VECTORS[:2])
    await items.write((green,), now=START + DAY).or_raise()
    passing = ItemPut(ItemName(("cache",), "k"), "1", lifetime=timedelta(days=9000))
    await items.write((passing,), now=START).or_raise()


async def _remember(runtime: ManagedRuntime[Any]) -> None:
    memories = await runtime.service(MemoryRepositoryTag)
    await memories.store(
        (
            remembered("tea", namespace=MEI, dedup_key=dedup_key("tea"), space=SPACE, vector=VECTORS[0]),
            remembered("old", "住在杭州", namespace=MEI, attribute="residence", value={"n": [1, 1.0, True]}),
            remembered("gone", FORGOTTEN, namespace=MEI, provenance=Provenance(("m1",)), session_id="会议"),
            remembered("tea", "another user's", namespace=Namespace("wang"), tags=("a,b", "会"), pinned=True),
        )
    ).or_raise()
    new = remembered("new", "住在上海", namespace=MEI, attribute="residence", created_at=START + DAY)
    await memories.store((new,)).or_raise()
    await memories.rewrite(remembered("tea", "喜欢喝红茶", namespace=MEI), expected_version=1).or_raise()
    await memories.record_use(
        Use(namespace=MEI, memory_ids=("tea", "new"), use_id="u", session_id="s", now=START + DAY)
    ).or_raise()
    await memories.forget(Forgetting(MEI, memory_id="gone")).or_raise()
