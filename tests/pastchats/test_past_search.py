"""What a search in past chats finds, by words, by vectors and beside each other, and how it says so."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from chatmemory.pastchats.prompt import PromptFilter
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from tests.for_each import for_each
from tests.past_turns import open_past_chats
from tests.searched import NoEmbedder, keep, said, search, talk, texts

WEBHOOKS = talk(
    "webhooks",
    "How should failed webhooks be delivered again?",
    "With exponential backoff and jitter, five attempts at most.",
    "It hammers the customer now.",
    "Then honour the Retry-After header.",
)
SEARCH = talk(
    "全文检索",
    "为什么全文检索搜不到中文？",
    "因为分词器把一整段汉字当成一个词，要写成二元组。",
    "数据库被锁住了怎么办？",
    "打开预写日志，并设置忙等待的时间。",
)
CHAT = talk("lunch", "Where do we eat?", "At the noodle place, as always.")


@pytest.fixture
def past() -> Iterator[SqlitePromptRepository]:
    with open_past_chats() as repository:
        keep(repository, WEBHOOKS + SEARCH + CHAT)
        yield repository


def test_words_and_vectors_find_together_and_their_signals_add_up(past: SqlitePromptRepository) -> None:
    found = search(past, "webhook retries with backoff")
    assert set(texts(found)[:2]) == {WEBHOOKS[0].content, WEBHOOKS[1].content}
    assert (found.mode, found.reason) == ("hybrid", "by words and vectors")
    for hit in search(past, "failed webhooks").hits:
        signals = hit.signals
        parts = (signals.lexical, signals.semantic, signals.neighbour, signals.conversation)
        assert hit.score == pytest.approx(sum(parts) + signals.speaker + signals.date)


@for_each("embedder", [None, NoEmbedder()])
def test_chinese_finds_chinese(past: SqlitePromptRepository, embedder: NoEmbedder | None) -> None:
    found = texts(search(past, "中文分词", embedder=embedder))
    assert set(found[:2]) == {SEARCH[0].content, SEARCH[1].content}


def test_without_a_vector_words_or_the_text_itself_decide_as_is_told(past: SqlitePromptRepository) -> None:
    found = search(past, "backoff", embedder=NoEmbedder())
    assert found.mode == "lexical"
    assert "the endpoint sleeps" in found.reason
    assert all(hit.similarity is None and not hit.signals.semantic for hit in found.hits)
    assert texts(search(past, "词", embedder=NoEmbedder())) == [SEARCH[1].content]
    found = search(past, "oodl", embedder=NoEmbedder())
    assert (texts(found), found.mode) == (["At the noodle place, as always."], "like")
    found = search(past, "How should failed webhooks be delivered again?", embedder=NoEmbedder())
    answer = next(hit for hit in found.hits if hit.prompt.content.startswith("With exponential"))
    assert answer.signals.lexical == 0
    assert answer.signals.neighbour > 0


def test_equal_texts_are_one_hit_that_names_the_others_and_leaves_room(past: SqlitePromptRepository) -> None:
    keep(past, talk("later", "How should failed webhooks be delivered again?", "As before."))
    hits = search(past, "failed webhooks delivered").hits
    assert len({hit.prompt.content for hit in hits}) == len(hits)
    assert {hits[0].prompt.conversation_id, *hits[0].also_in} == {"role_list:webhooks", "role_list:later"}
    keep(past, [said("Retry the webhook.", number=0, talk=f"copy {number}") for number in range(400)])
    for embedder in (None, NoEmbedder()):
        found = search(past, "webhook retry backoff", limit=5, embedder=embedder)
        assert len(found.hits) == 5
        assert "With exponential backoff and jitter, five attempts at most." in texts(found)


@for_each(
    ("which", "expected"),
    [
        ({"conversations": ["role_list:lunch"]}, {"lunch"}),
        ({"conversations": ["role_list:nothing"]}, set()),
        ({"projects": ["SHOP"]}, {"webhooks", "全文检索", "lunch"}),
        ({"projects": ["\ud800"]}, set()),
        ({"formats": ["aider"]}, set()),
        ({"since": datetime(2026, 1, 1, tzinfo=UTC)}, set()),
        ({"until": datetime(2025, 1, 1, tzinfo=UTC)}, set()),
    ],
)
def test_a_filter_is_kept_to(past: SqlitePromptRepository, which: dict[str, Any], expected: set[str]) -> None:
    hits = search(past, "webhooks 中文 noodle place", which=PromptFilter(**which)).hits
    assert {hit.prompt.conversation_id.removeprefix("role_list:") for hit in hits} == expected


def test_a_rare_filter_or_role_among_many_turns_is_kept_to(past: SqlitePromptRepository) -> None:
    found = search(past, "failed webhooks backoff", which=PromptFilter(roles=["assistant"]))
    assert {hit.prompt.role for hit in found.hits} == {"assistant"}
    keep(past, [said(f"Note {n} on webhooks.", number=2 * n, talk="notes") for n in range(450)])
    found = search(past, "webhooks", which=PromptFilter(conversations=["role_list:lunch"]))
    assert {hit.prompt.conversation_id for hit in found.hits} == {"role_list:lunch"}
    assert all(hit.similarity is not None for hit in found.hits)
