"""Any text is a query: it finds something or nothing, and is never syntax."""

from collections.abc import Iterator

import pytest

from chatmemory.pastchats.prompt import PromptFilter
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from tests.for_each import for_each
from tests.past_turns import open_past_chats
from tests.searched import NoEmbedder, keep, search, talk

HOSTILE = [
    "", " ", "\t\n", "\0", "a\0b", "\x00\x01\x02", "\ud800", "retry \udfff backoff", "\ufeff", "\u200b",
    '"', "'", '""', "''", '"retry', 'retry"', "re'try", '"retry" "backoff"', "`retry`", "\\",
    "*", "retry*", "^retry", "-retry", "+retry", "(retry", "retry)", "((", "{retry", "content:retry", "content : retry",
    "retry AND", "OR retry", "NOT", "retry NOT backoff", "NEAR(retry backoff, 2)", "AND OR NOT NEAR", "rank:bm25(10)",
    "%", "_", "100%", "re_try", "!", "[retry]", "retry; DROP TABLE prompts", "' OR 1=1 --", "--", "/*", ":match", "?1",
    "the of and", "😀", "👩‍👩‍👧‍👦 retry", "的了是", "重试", "é́́́", "मराठी", "العربية",
    "retry " * 17_000, "x" * 100_000, "中" * 40_000, '"' * 100_000, "%_" * 50_000, "(" * 100_000,
]  # fmt: skip


@pytest.fixture(scope="module")
def past() -> Iterator[SqlitePromptRepository]:
    said = ("retry with backoff: 100% of re_try", "好的，重试三次。 😀", "content:retry")
    with open_past_chats() as repository:
        keep(repository, talk("one", *said))
        yield repository


@for_each("embedder", [None, NoEmbedder()])
@for_each(
    "which", [PromptFilter(), PromptFilter(conversations=["role_list:one"]), PromptFilter(roles=["user"])]
)
@for_each("query", HOSTILE)
def test_any_text_finds_something_or_nothing(
    past: SqlitePromptRepository, query: str, which: PromptFilter, embedder: NoEmbedder | None
) -> None:
    found = search(past, query, which=which, embedder=embedder)
    assert len(found.hits) <= 3
    assert found.reason


@for_each("query", ["100%", "re_try", "content:retry", '"retry"', "NOT retry", "retry*"])
def test_marks_of_syntax_hinder_no_word(past: SqlitePromptRepository, query: str) -> None:
    assert any("retry" in hit.prompt.content for hit in search(past, query, embedder=NoEmbedder()).hits)


@for_each(("query", "count"), [("%", 1), ("_", 1), ("50%", 0), ("!", 0), ("0% O", 1), ("。", 1)])
def test_wildcards_of_like_stand_for_themselves(past: SqlitePromptRepository, query: str, count: int) -> None:
    assert len(search(past, query, embedder=NoEmbedder()).hits) == count
