"""What every memory repository finds: by words, by vector, by the text itself, and under which filters."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.laws.kit.samples import DAY, MINUTE, START
from chatmemory.laws.memories.memory_witness import PUT, SPACE, VECTORS, unit
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import TEXT_READ, Candidates, MemoryDraft, MemorySearch
from tests.contract.noted import EXCEL, MING, WORD, note

placed = partial(note, space=SPACE)
in_session = partial(note, session_id="s")


async def search(
    memories: MemoryRepository, *terms: str, namespace: Namespace = MING, text: str = "nowhere", **query: Any
) -> Candidates:
    return await memories.search(MemorySearch(namespace, text, terms, **query)).or_raise()


def ids(candidates: Candidates) -> list[str]:
    found = [candidate.memory.id for candidate in candidates.found]
    assert len(found) == len(set(found))
    return sorted(found)


def a_minute_apart(drafts: Sequence[MemoryDraft]) -> tuple[MemoryDraft, ...]:
    return tuple([evolve(draft, created_at=START + n * MINUTE) for n, draft in enumerate(drafts)])


async def test_of_too_many_memories_with_a_word_the_one_with_a_rare_word_is_among_those_found(
    memories: MemoryRepository,
) -> None:
    drafts = [note(f"{number}", terms="tea") for number in range(30)]
    await memories.store((*drafts, note("rare", terms="tea 绿茶"))).or_raise()
    found = ids(await search(memories, "tea", "绿茶", limit=5))
    assert (len(found), "rare" in found) == (5, True)


async def test_a_text_is_looked_for_in_the_newest_memories_only(memories: MemoryRepository) -> None:
    drafts = [
        note(f"{number}", content=":-) said", created_at=START + number * DAY / 9)
        for number in range(TEXT_READ + 2)
    ]
    for start in range(0, len(drafts), 1_000):
        await memories.store(tuple(drafts[start : start + 1_000])).or_raise()
    await memories.store((note("newest", created_at=START + TEXT_READ * DAY),)).or_raise()
    found = await search(memories, text=":-)", limit=TEXT_READ + 9)
    assert found.matched_text
    assert {"0", "1", "2"}.isdisjoint(ids(found))
    assert len(found.found) == TEXT_READ - 1


async def test_the_coverage_counts_what_the_namespace_could_recall(memories: MemoryRepository) -> None:
    await memories.store(
        (
            placed("1", vector=VECTORS[0], category="fact"),
            placed("2", vector=VECTORS[1], namespace=EXCEL),
            note("3", created_at=START - DAY),
            placed("4", vector=VECTORS[0], memory_type="short_term"),
            placed("5", vector=VECTORS[0], namespace=WORD),
            placed("6", vector=VECTORS[0], namespace=EXCEL, replaces="3"),
        )
    ).or_raise()
    asked = partial(search, memories, namespace=EXCEL)
    # Neither words, nor the category, nor the limit change what could have been compared.
    for query in ({}, {"category": "fact"}, {"limit": 1}):
        assert (await asked(space=SPACE, vector=VECTORS[0], **query)).coverage == Coverage(3, 3)
    then = await asked(space=SPACE, vector=VECTORS[0], as_of=START - DAY)
    assert then.coverage == Coverage(embedded=0, memories=1)
    assert (await asked()).coverage == Coverage(embedded=0, memories=3)


async def test_what_stands_beside_is_long_term_true_and_passes_the_filters(
    memories: MemoryRepository,
) -> None:
    drafts = [
        in_session("1", category="fact", namespace=EXCEL),
        in_session("2", memory_type="short_term"),
        in_session("3", namespace=WORD),
        in_session("4", terms="tea", category="fact", namespace=EXCEL),
        in_session("5", category="fact", key="was", **PUT, namespace=EXCEL),
        in_session("6", category="pattern", namespace=EXCEL),
    ]
    await memories.store(a_minute_apart(drafts)).or_raise()
    now = START + DAY
    assert await memories.retire(EXCEL, "was", now=now).or_raise()
    assert ids(await search(memories, "tea", namespace=EXCEL)) == ["1", "4", "6"]
    # What stands beside is one memory: what the filters leave out is not looked past.
    assert ids(await search(memories, "tea", namespace=EXCEL, category="fact")) == ["1", "4"]
    assert ids(await search(memories, "tea", namespace=EXCEL, as_of=now - DAY / 2)) == ["1", "4", "5"]
    assert ids(await search(memories, "tea", namespace=MING)) == ["3", "4", "6"]


async def test_what_stands_beside_the_best_candidates_alone_is_found_when_no_more_is_asked_for(
    memories: MemoryRepository,
) -> None:
    terms = ["", "tea", "", "", "tea green", "", "", "tea", ""]
    drafts = [
        in_session(
            f"{place}",
            space=SPACE,
            vector=unit(1, abs(place - 7)),
            terms=words,
            created_at=START + place * MINUTE,
        )
        for place, words in enumerate(terms)
    ]
    await memories.store(tuple(drafts)).or_raise()
    asked = partial(search, memories, "tea", "green")
    assert ids(await asked(beside=0)) == ["1", "4", "7"]
    assert ids(await asked(beside=1)) == ["1", "3", "4", "5", "7"]
    assert ids(await asked()) == [*"012345678"]
    nearest = {"space": SPACE, "vector": unit(1, 0), "limit": 3}
    assert ids(await search(memories, **nearest, beside=0)) == ["6", "7", "8"]
    assert ids(await search(memories, **nearest, beside=1)) == ["6", "7", "8"]
    assert ids(await search(memories, **nearest)) == ["5", "6", "7", "8"]
