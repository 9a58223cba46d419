"""A limit on what bm25 looks at costs no turn that has a rare word."""

from collections.abc import Iterator

import pytest

from chatmemory_layers.sqlite.prompts import prompt_search
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from tests.past_turns import open_past_chats
from tests.searched import keep, rows_of, said, search_of

COMMON = [said(f"retry the 数据库 webhook, note {n}", number=n, talk=f"{n}") for n in range(60)]
IDLE = [said(f"nothing of note {number}", number=number, talk=f"idle {number}") for number in range(90)]
OLDEST = said("retry with an idempotency key", talk="oldest")


@pytest.fixture
def past(monkeypatch: pytest.MonkeyPatch) -> Iterator[SqlitePromptRepository]:
    monkeypatch.setattr(prompt_search, "MOST_SCORED", 10)
    monkeypatch.setattr(prompt_search, "NEWEST_SCORED", 10)
    monkeypatch.setattr(prompt_search, "NEWEST_OF_A_PAIR", 10)
    with open_past_chats() as repository:
        keep(repository, [OLDEST, *COMMON, *IDLE])
        yield repository


def test_a_rare_word_is_found_behind_common_ones_and_its_score_holds_those_too(
    past: SqlitePromptRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = search_of("retry webhook 数据库 idempotency", by_vector=False)
    found = past.candidates(asked).run_sync().unwrap()
    best = max(found.found, key=lambda one: one.lexical)
    assert best.prompt.content == OLDEST.content
    query = search_of("retry idempotency", by_vector=False)
    capped = rows_of(past.candidates(query).run_sync().unwrap())[1]
    monkeypatch.setattr(prompt_search, "MOST_SCORED", 1000)
    whole = rows_of(past.candidates(query).run_sync().unwrap())[1]
    assert capped == pytest.approx(whole)
