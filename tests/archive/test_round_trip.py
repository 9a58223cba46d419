"""What one store exports, another one imports: the same, once, and nothing that was forgotten."""

import json
import re
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.message_repository import MessageRepositoryTag, PageQuery
from chatmemory.conversation.messages import View
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag, ItemSearch, StoredItem
from chatmemory.laws.kit.samples import START, batch, said
from chatmemory.laws.memories.memory_witness import VECTORS
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import MemoryChanges, NewMemory
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.repository_values import Forgetting
from chatmemory.programs.archive import exporting
from chatmemory_layers.in_memory.item_repository import InMemoryItemRepository
from tests.archive.conftest import Store, Two
from tests.archive.rich_store import FORGOTTEN, MEI, export_of, fill, import_into

pytestmark = pytest.mark.usefixtures("everybody")

CONVERSATIONS = (
    "会议",
    "会议/支",
    "a/branch",
    "a/branch/branch",
    "z/branch",
    "gone in part",
    "keeps it all",
    "of the middle",
)


@pytest.fixture
def other(two: Two) -> Store:
    """The store that imports."""
    return two[1]


@pytest.fixture
async def lines(two: Two) -> list[str]:
    """The export of a store that has something of everything."""
    await fill(two[0])
    return await export_of(two[0])


async def views(runtime: Store) -> list[Any]:
    """Return what each conversation shows in both views, without numbers."""
    messages = await runtime.service(MessageRepositoryTag)
    shown = list[Any]()
    kinds: tuple[View, ...] = ("model", "full")
    for id_ in CONVERSATIONS:
        for view in kinds:
            page = await messages.page(PageQuery(id_, view)).or_raise()
            assert page is not None, id_
            shown.append(
                (id_, view, [(one.id, one.role, one.content, one.covered_by) for one in page.messages])
            )
    return shown


async def test_what_comes_in_is_what_went_out(two: Two) -> None:
    one, other = two
    await fill(one)
    lines = await export_of(one, with_vectors=True)
    assert FORGOTTEN not in "".join(lines)
    report = await import_into(other, lines)
    assert (report.issues, report.is_whole) == ((), True)
    assert await export_of(other, with_vectors=True) == lines
    assert await views(other) == await views(one)
    end = json.loads(lines[-1])
    assert (end["conversations"], end["memories"], end["items"]) == (8, 4, 3)


async def test_an_import_that_was_cut_off_goes_on_where_it_ended(other: Store, lines: list[str]) -> None:
    for end in range(1, len(lines), 7):
        assert not (await import_into(other, lines[:end])).is_whole
    assert (await import_into(other, lines)).issues == ()
    assert await export_of(other) == lines


async def test_an_item_of_which_a_part_has_arrived_gets_the_rest(other: Store, lines: list[str]) -> None:
    name, green = ItemName(("langgraph", "用户"), "a"), '"绿茶"'
    items = await other.service(ItemRepositoryTag)
    await items.write(
        (ItemPut(name, green),), now=START
    ).or_raise()  # cut off, or brought without its vectors
    assert (await import_into(other, lines)).issues == ()
    assert await export_of(other) == lines


async def test_what_a_store_has_of_an_item_stays_behind_a_newer_value(other: Store, lines: list[str]) -> None:
    name = ItemName(("langgraph", "用户"), "a")
    items = await other.service(ItemRepositoryTag)
    await items.write((ItemPut(name, '"ours"'),), now=START + timedelta(hours=1)).or_raise()
    await import_into(other, lines)
    then = START + timedelta(hours=2)
    (before,) = await items.read((name,), now=then, as_of=then).or_raise()
    assert before is not None
    assert before.value == '"ours"'


async def test_an_item_of_a_clock_that_went_back_comes_in(two: Two) -> None:
    one, other = two
    name = ItemName(("a",), "k")
    items = await one.service(ItemRepositoryTag)
    for day in (1, 0):
        await items.write((ItemPut(name, f"{day}"),), now=START + timedelta(days=day)).or_raise()
    lines = await export_of(one)
    assert (await import_into(other, lines)).issues == ()
    assert await export_of(other) == lines


async def test_two_stores_become_one(other: Store, lines: list[str]) -> None:
    chat = await other.service(ChatMemoryService)
    messages = await other.service(MessageRepositoryTag)
    await messages.append(batch("theirs", said("t1"))).or_raise()
    await messages.append(batch("会议", said("t2", "later"))).or_raise()
    memories = await other.service(LongTermMemoryService)
    await memories.put_value(MEI, "theme", "dark").or_raise()
    report = await import_into(other, lines)
    assert report.memories.new == 4
    ids = [one.id for one in await chat.get_messages("会议", view="full").or_raise()]
    assert ids[0] == "t2"
    assert {"m0", "m7"} <= set(ids)
    assert await chat.exists("theirs").or_raise()
    kept = (await memories.list(MEI).or_raise()).memories
    assert {"new", "tea"} < {one.id for one in kept}
    assert "theme" in {one.key for one in kept}


async def test_what_was_forgotten_does_not_come_back_and_is_told(other: Store, lines: list[str]) -> None:
    await import_into(other, lines)
    memories = await other.service(MemoryRepositoryTag)
    await memories.forget(Forgetting(MEI, memory_id="tea")).or_raise()
    messages = await other.service(MessageRepositoryTag)
    await messages.clear("会议", now=START, with_branches=True).or_raise()
    report = await import_into(other, lines)
    assert {"tea", "会议", "a/branch"} <= set(report.forgotten)
    assert await memories.get(MEI, "tea").or_raise() is None
    assert await messages.conversation("会议").or_raise() is None


async def test_changes_from_before_an_import_can_be_undone(two: Two) -> None:
    one, other = two
    memories = await one.service(LongTermMemoryService)
    places = [NewMemory("The office is in Berlin", id="old"), NewMemory("I like tea", id="tea")]
    await memories.remember(MEI, places).or_raise()
    await memories.supersede(MEI, "old", NewMemory("The office is in Munich", id="new")).or_raise()
    await memories.update(MEI, "tea", MemoryChanges(content="I like green tea")).or_raise()
    await import_into(other, await export_of(one))
    brought = await other.service(LongTermMemoryService)
    assert (await brought.undo(MEI, "tea").or_raise()).content == "I like tea"
    assert (await brought.undo(MEI, "old").or_raise()).superseded_at is None
    assert {one.content for one in (await brought.list(MEI).or_raise()).memories} == {
        "I like tea",
        "The office is in Berlin",
    }


async def test_a_dry_run_counts_and_writes_nothing(other: Store, lines: list[str]) -> None:
    before = await export_of(other)
    foretold = await import_into(other, lines, is_dry_run=True)
    assert await export_of(other) == before
    done = await import_into(other, lines)
    assert (foretold.memories, foretold.items, foretold.branches) == (
        done.memories,
        done.items,
        done.branches,
    )
    again = await import_into(other, lines, is_dry_run=True)
    assert (again.memories.new, again.items.new, again.summaries.new, again.branches.new) == (0, 0, 0, 0)


@pytest.mark.parametrize("two", ["in_memory"], indirect=True)
async def test_a_bad_line_is_named_and_the_others_come_in(other: Store, lines: list[str]) -> None:
    owner, at = '"id": "c", "owner": {"user": "\\u0000"}', '"2026-02-17T09:30:00+00:00"'
    bad = [
        f'{{"type": "conversation", {owner}, "createdAt": {at}, "updatedAt": {at}, "forkedFrom": null}}',
        f'{{"type": "fork", {owner}, "conversationId": "gone in part", "at": "d4", "createdAt": {at}}}',
        "{",
        '"text"',
        '{"type": "memoir"}',
        '{"type": "memory"}',
        "[" * 9999,
        '{"type":"item","key":1}',
        "\0",
    ]
    damaged = [line for pair in zip(lines, bad, strict=False) for line in pair] + lines[len(bad) :]
    report = await import_into(other, damaged)
    assert [issue.line for issue in report.issues] == [2, 4, 6, 8, 10, 12, 14, 16, 18]
    assert all(issue.reason for issue in report.issues)
    assert await export_of(other) == lines


@pytest.mark.parametrize("two", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", ['"at": "', '"namespace": ["', '"key": "'])
async def test_a_name_that_no_store_can_keep_is_named(other: Store, lines: list[str], name: str) -> None:
    damaged = [line.replace(name, f"{name}\\ud800") for line in lines]
    report = await import_into(other, damaged)
    first = next(number for number, line in enumerate(damaged, 1) if "ud800" in line)
    assert first in {issue.line for issue in report.issues}
    assert report.is_whole


@pytest.mark.parametrize("two", ["in_memory"], indirect=True)
@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ('"accessCount": 1', '"accessCount": 9223372036854775808'),
        ('"accessCount": 1', '"accessCount": -1'),
        ('"version": 2', '"version": 9223372036854775808'),
        ('{"version": 1', '{"version": 2'),
        ('"content": "喜欢', '"content": "\\ud800'),
        ('"supersededBy": "new"', '"supersededBy": "\\ud800"'),
    ],
)
async def test_a_past_that_no_store_can_have_is_named(
    other: Store, lines: list[str], written: str, instead: str
) -> None:
    number = next(n for n, line in enumerate(lines, 1) if '"memory"' in line and written in line)
    damaged = [line.replace(written, instead) if n == number else line for n, line in enumerate(lines, 1)]
    report = await import_into(other, damaged)
    assert [issue.line for issue in report.issues] == [number]
    assert report.memories.new == sum('"type": "memory"' in line for line in lines) - 1


@pytest.mark.parametrize("two", ["in_memory"], indirect=True)
@pytest.mark.parametrize(
    ("written", "instead"),
    [
        (r'"vectors": \["[^"]+"', '"vectors": ["AAA"'),
        (r'"vectors": \["[^"]+"', '"vectors": ["AADAfw=="'),
        (r'"terms": "绿茶"', r'"terms": "\\u0000"'),
    ],
)
async def test_an_item_that_no_store_can_have_is_named(
    other: Store, lines: list[str], written: str, instead: str
) -> None:
    damaged = [re.sub(written, instead, line) for line in lines]
    (number,) = [n for n, line in enumerate(damaged, 1) if line not in lines]
    report = await import_into(other, damaged)
    assert [issue.line for issue in report.issues] == [number]
    assert report.items.new == 2


async def test_of_two_contents_of_a_memory_the_first_comes_in(other: Store, lines: list[str]) -> None:
    again = [line.replace("喜欢喝红茶", "喜欢喝绿茶") for line in lines if "喜欢喝红茶" in line]
    assert len(again) == 1
    report = await import_into(other, [*lines[:-1], *again, lines[-1]])
    assert [(issue.line, issue.reason) for issue in report.issues] == [
        (len(lines), "memory 'tea' has other content here")
    ]
    assert await export_of(other) == lines
    assert set((await import_into(other, lines)).users) == set(report.users) > {MEI.user}


@pytest.mark.parametrize("two", ["in_memory"], indirect=True)
async def test_items_that_others_write_meanwhile_are_not_left_out(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = two
    items = await one.service(ItemRepositoryTag)
    kept = cast("InMemoryItemRepository", items).kept
    monkeypatch.setattr(exporting, "PAGE", 2)
    await items.write(tuple([ItemPut(ItemName(("a",), key), "1") for key in "12345"]), now=START).or_raise()
    search, moves = kept.search, [ItemPut(ItemName(("a",), "1"), "2"), ItemPut(ItemName(("a",), "5"), None)]

    def moving(asked: ItemSearch, now: datetime) -> tuple[StoredItem, ...]:
        found = search(asked, now=now)
        kept.write(tuple(moves), now=START + timedelta(days=1))
        moves.clear()
        return found

    monkeypatch.setattr(type(kept), "search", lambda _, asked, *, now: moving(asked, now))
    exported = [json.loads(line) for line in await export_of(one)]
    assert [one["key"] for one in exported if one["type"] == "item"] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("two", ["in_memory"], indirect=True)
async def test_secrets_are_taken_out_when_that_is_asked_for(two: Two) -> None:
    one, other = two
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    messages = await one.service(MessageRepositoryTag)
    await messages.append(batch("c", said("m", f"the token is {secret}"))).or_raise()
    memories = await one.service(LongTermMemoryService)
    await memories.put_value(MEI, "token", {"github": secret}).or_raise()
    items = await one.service(ItemRepositoryTag)
    for key, value, terms in (("k", secret, secret), ("n", secret, None), ("t", "fine", secret)):
        put = ItemPut(ItemName(("a",), key), f'"{value}"', terms, "law", VECTORS[:1])
        await items.write((put,), now=START).or_raise()
    report = await import_into(other, await export_of(one), redacts=True)
    assert sum(report.redacted.values()) >= 4
    lines = await export_of(other)
    assert secret.casefold() not in "".join(lines).casefold()
    indexes = [json.loads(line)["index"] for line in lines if '"item"' in line]
    assert [index["vectors"] for index in indexes] == [[], [], []]
    assert [index["terms"] is None for index in indexes] == [False, True, False]
