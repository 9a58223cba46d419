"""What every memory repository finds: by words, by vector, by the text itself, and under which filters."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_samples import OTHER_SPACES, SPACE, TERMS, VECTORS, remembered, unit
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import TEXT_READ, Candidates, Forgetting, MemoryDraft, MemorySearch

MING = Namespace("小明")
EXCEL = Namespace("小明", "excel")
WORD = Namespace("小明", "word")
DAY = timedelta(days=1)

note = partial(remembered, namespace=MING)
placed = partial(note, space=SPACE)


async def search(
    memories: MemoryRepository, *terms: str, namespace: Namespace = MING, text: str = "nowhere", **query: Any
) -> Candidates:
    return await memories.search(MemorySearch(namespace, text, terms, **query)).or_raise()


def ids(candidates: Candidates) -> list[str]:
    found = [candidate.memory.id for candidate in candidates.found]
    assert len(found) == len(set(found))
    return sorted(found)


# --- By words ----------------------------------------------------------------------------------------------------


async def test_a_memory_is_found_by_any_of_its_words(memories: MemoryRepository) -> None:
    await memories.store((note("1", terms="绿茶 茶叶 tea"), note("2", terms="coffee"), note("3"))).or_raise()
    assert ids(await search(memories, "tea")) == ["1"]
    assert ids(await search(memories, "绿茶", "coffee")) == ["1", "2"]
    assert ids(await search(memories, "te")) == ids(await search(memories)) == []


@pytest.mark.parametrize("term", TERMS)
async def test_a_word_is_compared_as_it_is(memories: MemoryRepository, term: str) -> None:
    drafts = [note(f"{number}", terms=other) for number, other in enumerate(TERMS)]
    await memories.store(tuple(drafts)).or_raise()
    (candidate,) = (await search(memories, term)).found
    assert candidate.terms == term


async def test_the_words_of_a_candidate_are_those_that_were_stored(memories: MemoryRepository) -> None:
    await memories.store((note("1", terms="tea 绿茶 tea"),)).or_raise()
    (candidate,) = (await search(memories, "绿茶")).found
    assert (candidate.terms, candidate.similarity) == ("tea 绿茶 tea", None)
    assert candidate.memory == await memories.get(MING, "1").or_raise()


async def test_of_too_many_memories_with_a_word_a_limited_number_is_found(memories: MemoryRepository) -> None:
    drafts = [note(f"{number}", terms="tea") for number in range(30)]
    await memories.store((*drafts, note("rare", terms="tea 绿茶"))).or_raise()
    found = ids(await search(memories, "tea", "绿茶", limit=5))
    assert len(found) == 5
    assert "rare" in found


# --- By the text itself ------------------------------------------------------------------------------------------


async def test_only_when_no_memory_shares_a_word_the_text_itself_is_looked_for(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1", "喜欢喝绿茶", terms="绿茶"), note("2", "绿茶多少钱"))).or_raise()
    by_words = await search(memories, "绿茶", text="绿茶")
    assert (ids(by_words), by_words.matched_text) == (["1"], False)
    by_text = await search(memories, "红茶", text="绿茶")
    assert (ids(by_text), by_text.matched_text) == (["1", "2"], True)
    nothing = await search(memories, "红茶", text="红茶")
    assert (ids(nothing), nothing.matched_text) == ([], False)


@pytest.mark.parametrize(
    ("text", "found"),
    [("%", ["1"]), ("_", []), ("a%b", ["1"]), ("A%B", []), ("'; --", ["2"]), ("\\", ["2"]), ("é", ["3"])],
)
async def test_the_text_is_compared_character_for_character(
    memories: MemoryRepository, text: str, found: list[str]
) -> None:
    await memories.store(
        (note("1", "a%b"), note("2", "'; -- \\ ab"), note("3", "\u00e9 ae\u0301"))
    ).or_raise()
    assert ids(await search(memories, text=text)) == found


async def test_the_newest_memories_with_the_text_are_found(memories: MemoryRepository) -> None:
    drafts = [note(f"{number}", created_at=START + number * DAY) for number in range(9)]
    await memories.store(tuple(drafts)).or_raise()
    assert ids(await search(memories, text="绿茶", limit=2)) == ["7", "8"]


# --- By vector ---------------------------------------------------------------------------------------------------


async def test_a_memory_is_its_own_nearest_neighbour(memories: MemoryRepository) -> None:
    vectors = [unit(number, 3, 1, number % 3) for number in range(20)]
    drafts = [placed(f"{number}", vector=vector) for number, vector in enumerate(vectors)]
    await memories.store(tuple(drafts)).or_raise()
    for number, vector in enumerate(vectors):
        (nearest,) = (await search(memories, space=SPACE, vector=vector, limit=1)).found
        assert nearest.memory.id == f"{number}"
        assert nearest.similarity == pytest.approx(1, abs=1e-6)


async def test_the_most_similar_memories_are_found_with_their_cosine(memories: MemoryRepository) -> None:
    for name, vector in zip("abcdef", VECTORS, strict=True):
        await memories.store((placed(name, vector=vector),)).or_raise()
    found = (await search(memories, space=SPACE, vector=VECTORS[0], limit=3)).found
    similarities = {candidate.memory.id: candidate.similarity for candidate in found}
    assert similarities.keys() >= {"a", "d", "e"}
    assert [similarities[name] for name in "ade"] == pytest.approx([1, 0.6, 0.8], abs=1e-6)


async def test_a_candidate_by_words_has_its_similarity_as_well(memories: MemoryRepository) -> None:
    await memories.store(
        (
            placed("near", vector=VECTORS[0]),
            placed("far", vector=VECTORS[1], terms="tea"),
            note("without", terms="tea"),
        )
    ).or_raise()
    found = (await search(memories, "tea", space=SPACE, vector=VECTORS[0], limit=2)).found
    similarities = {candidate.memory.id: candidate.similarity for candidate in found}
    assert similarities.pop("without") is None
    assert similarities == pytest.approx({"near": 1, "far": -1}, abs=1e-6)


async def test_vectors_of_two_spaces_are_never_compared(memories: MemoryRepository) -> None:
    other, shorter = OTHER_SPACES
    await memories.store(
        (
            placed("1", vector=VECTORS[0]),
            note("2", space=other, vector=VECTORS[0], terms="tea"),
            note("3", space=shorter, vector=unit(1, 0, 0)),
        )
    ).or_raise()
    found = await search(memories, "tea", space=SPACE, vector=VECTORS[0])
    assert {candidate.memory.id: candidate.similarity for candidate in found.found} == {
        "1": pytest.approx(1, abs=1e-6),
        "2": None,
    }
    assert found.coverage == Coverage(embedded=1, memories=3)


# --- Filters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["words", "vector", "text"])
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["app", "other app", "plain", "preference", "tagged", "twice tagged"]),
        ({"namespace": EXCEL}, ["app", "plain", "preference", "tagged", "twice tagged"]),
        ({"category": "preference"}, ["preference"]),
        ({"tags": ("work",)}, ["tagged", "twice tagged"]),
        ({"tags": ("work", "工作")}, ["twice tagged"]),
        ({"as_of": START - DAY}, ["superseded"]),
        ({"namespace": Namespace("小红")}, ["of another user"]),
    ],
)
async def test_every_way_of_searching_obeys_the_filters(
    memories: MemoryRepository, way: str, filters: dict[str, Any], found: list[str]
) -> None:
    whole = partial(placed, vector=VECTORS[0], terms="tea")
    await memories.store(
        (
            whole("superseded", created_at=START - 2 * DAY),
            whole("plain", replaces="superseded"),
            whole("short-term", memory_type="short_term"),
            whole("app", namespace=EXCEL),
            whole("other app", namespace=WORD),
            whole("of another user", namespace=Namespace("小红")),
            whole("preference", category="preference"),
            whole("tagged", tags=("work",)),
            whole("twice tagged", tags=("工作", "work")),
        )
    ).or_raise()
    query: dict[str, Any] = {
        "words": {"terms": ("tea",)},
        "vector": {"space": SPACE, "vector": VECTORS[0]},
        "text": {"text": "绿茶"},
    }[way]
    asked = MemorySearch(**{"namespace": MING, "text": "nowhere", "terms": (), **query, **filters})
    assert ids(await memories.search(asked).or_raise()) == found


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
    # Neither words, nor the category, nor the limit change what could have been compared.
    for query in ({}, {"category": "fact"}, {"limit": 1}):
        found = await search(memories, namespace=EXCEL, space=SPACE, vector=VECTORS[0], **query)
        assert found.coverage == Coverage(embedded=3, memories=3)
    then = await search(memories, namespace=EXCEL, space=SPACE, vector=VECTORS[0], as_of=START - DAY)
    assert then.coverage == Coverage(embedded=0, memories=1)
    without = await search(memories, namespace=EXCEL)
    assert without.coverage == Coverage(embedded=0, memories=3)


async def test_a_search_changes_nothing(memories: MemoryRepository) -> None:
    await memories.store((placed("1", vector=VECTORS[0], terms="tea"),)).or_raise()
    before = await memories.get(MING, "1").or_raise()
    for _ in range(3):
        found = await search(memories, "tea", space=SPACE, vector=VECTORS[0])
        assert [candidate.memory for candidate in found.found] == [before]
    assert await memories.get(MING, "1").or_raise() == before


async def test_a_memory_that_changes_is_found_as_it_is(memories: MemoryRepository) -> None:
    await memories.store((placed("1", vector=VECTORS[0], terms="tea", memory_type="short_term"),)).or_raise()
    query = partial(search, memories, space=SPACE, vector=VECTORS[0])
    assert ids(await query("tea")) == []
    await memories.mark(MING, "1", memory_type="long_term").or_raise()
    assert ids(await query("tea")) == ["1"]
    rewritten = note("1", "爱喝咖啡", terms="coffee")
    await memories.rewrite(rewritten, expected_version=1).or_raise()
    assert ids(await query("tea")) == []
    assert ids(await query("coffee")) == ["1"]
    await memories.mark(MING, "1", memory_type="short_term").or_raise()
    assert ids(await query("coffee")) == []


async def test_a_text_is_looked_for_in_the_newest_memories_only(
    memories: MemoryRepository,
) -> None:
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


# --- Beside what was found ---------------------------------------------------------------------------------------


async def test_what_stands_beside_a_candidate_in_its_session_is_found_with_it(
    memories: MemoryRepository,
) -> None:
    def said(number: int, session: str | None, **facts: Any) -> MemoryDraft:
        at = START + number * timedelta(minutes=1)
        return evolve(placed(f"{number}", vector=VECTORS[1], **facts), session_id=session, created_at=at)

    drafts = [
        said(1, "s"),
        said(2, "s"),
        said(3, "other"),
        said(4, "s", terms="tea"),
        said(5, None),
        said(6, "s"),
        said(7, "s"),
    ]
    await memories.store(tuple(drafts)).or_raise()
    found = await search(memories, "tea")
    assert ids(found) == ["2", "4", "6"]
    alike = (await search(memories, "tea", space=SPACE, vector=VECTORS[1], limit=1)).found
    similar = {one.memory.id: one.similarity for one in alike}
    assert {"2", "4", "6"} <= similar.keys()
    assert all(similarity == pytest.approx(1, abs=1e-6) for similarity in similar.values())


async def test_what_stands_beside_is_long_term_true_and_passes_the_filters(
    memories: MemoryRepository,
) -> None:
    def said(number: int, session: str = "s", **facts: Any) -> MemoryDraft:
        at = START + number * timedelta(minutes=1)
        return evolve(note(f"{number}"), session_id=session, created_at=at, **facts)

    drafts = [
        said(1, category="fact", namespace=EXCEL),
        said(2, memory_type="short_term"),
        said(3, namespace=WORD),
        said(4, terms="tea", category="fact", namespace=EXCEL),
        said(5, category="fact", key="was", namespace=EXCEL),
        said(6, category="pattern", namespace=EXCEL),
    ]
    await memories.store(tuple(drafts)).or_raise()
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
        evolve(
            placed(f"{place}", vector=unit(1, abs(place - 7)), terms=words),
            session_id="s",
            created_at=START + place * timedelta(minutes=1),
        )
        for place, words in enumerate(terms)
    ]
    await memories.store(tuple(drafts)).or_raise()
    found = ["1", "4", "7"]
    asked = partial(search, memories, "tea", "green")
    assert ids(await asked(beside=0)) == found
    assert ids(await asked(beside=1)) == sorted([*found, "3", "5"])
    assert ids(await asked()) == ["0", "1", "2", "3", "4", "5", "6", "7", "8"]
    nearest = {"space": SPACE, "vector": unit(1, 0), "limit": 3}
    assert ids(await search(memories, **nearest, beside=0)) == ["6", "7", "8"]
    assert ids(await search(memories, **nearest, beside=1)) == ["6", "7", "8"]
    assert ids(await search(memories, **nearest)) == ["5", "6", "7", "8"]


async def test_memories_of_one_instant_stand_in_the_order_of_their_ids(memories: MemoryRepository) -> None:
    drafts = [evolve(note(name, terms=name), session_id="s") for name in ("甲", "a", "B", "乙")]
    await memories.store(tuple(drafts)).or_raise()
    order = sorted(["甲", "a", "B", "乙"])
    for place, name in enumerate(order):
        assert ids(await search(memories, name)) == sorted(order[max(0, place - 1) : place + 2])


async def test_nothing_of_another_user_and_nothing_forgotten_stands_beside(
    memories: MemoryRepository,
) -> None:
    def said(number: int, owner: Namespace, terms: str = "") -> MemoryDraft:
        at = START + number * timedelta(minutes=1)
        return remembered(f"{number}", namespace=owner, terms=terms, session_id="s", created_at=at)

    other = Namespace("小红")
    drafts = [
        said(1, MING),
        said(2, MING),
        said(3, other),
        said(4, MING, "tea"),
        said(5, other),
        said(6, MING),
    ]
    await memories.store(tuple(drafts)).or_raise()
    assert ids(await search(memories, "tea")) == ["2", "4", "6"]
    await memories.forget(Forgetting(MING, memory_id="2")).or_raise()
    assert ids(await search(memories, "tea")) == ["1", "4", "6"]
