"""What past chats answer: what worked and what failed before, with its sources, from a real index of real files."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from attrs import frozen

from chatmemory.effect import Failure, ManagedRuntime
from chatmemory.errors import DataValidationError, PromptNotFoundError
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.contract import PastChats, PastChatsService
from chatmemory.pastchats.finding.prompt_hits import PastRecall
from chatmemory.pastchats.prompt import EVERYTHING, Prompt, PromptFilter
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.stacks.past_chats import finding
from tests.indexed import Indexed, open_index, role_list

RETRIES = (
    ("user", "How should webhook retries work in the shop?"),
    ("assistant", "Retry every second until the server answers."),
    ("user", "That didn't work, we hammer the server"),
    ("assistant", "Use exponential backoff with jitter, five attempts at most."),
    ("user", "works now, thanks!"),
)
LOCKED = (("user", "数据库被锁住了怎么办？"), ("assistant", "开启 WAL 模式，并设置 busy_timeout。"))


@frozen
class Past:
    """An index of two sessions, and what asks it."""

    indexed: Indexed
    chats: PastChats
    runtime: ManagedRuntime[PastChatsService]

    def recall(self, query: str, **asked: object) -> PastRecall:
        return self.runtime.run_sync(self.chats.recall(query, **asked)).unwrap()

    def show(self, source: str, **asked: int) -> list[tuple[int, str]]:
        turns: tuple[Prompt, ...] = self.runtime.run_sync(self.chats.show(source, **asked)).unwrap()
        return [(turn.turn_index, turn.content) for turn in turns]


@pytest.fixture(params=["hashed", "none"])
def past(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Past]:
    with open_index(tmp_path) as indexed:
        indexed.write("retries.jsonl", *RETRIES)
        indexed.write("locked.jsonl", *LOCKED)
        indexed.index()
        settings = PastChatsSettings(path=str(indexed.database), use_sqlite_vec=False)
        with ManagedRuntime(finding(settings, EmbeddingSettings(provider=request.param))) as runtime:
            chats = runtime.run_sync(PastChatsService.get()).unwrap()
            yield Past(indexed, chats, runtime)


def test_a_recall_tells_what_worked_and_what_failed(past: Past) -> None:
    recalled = past.recall("webhook retries")
    assert recalled.text.startswith("# Memory Recall\n")
    assert "What worked:\n> Use exponential backoff with jitter, five attempts at most." in recalled.text
    assert "What failed:\n> Retry every second until the server answers." in recalled.text
    source = past.indexed.folder / "retries.jsonl"
    assert f"\nSource: {source}#" in recalled.text
    assert len(recalled.exchanges) == 1
    assert past.recall("webhook retries", which=PromptFilter(projects=("shop",))).exchanges
    assert past.recall("webhook retries", which=PromptFilter(projects=("other",))).exchanges == ()
    recalled = past.recall("数据库 锁")
    assert (
        "## 1. 数据库被锁住了怎么办？\nWhat worked:\n> 开启 WAL 模式，并设置 busy_timeout。" in recalled.text
    )


def test_nothing_found_is_said_so(past: Past) -> None:
    for query in ("", " \n", "zzzz qqqq", "的了吗", "\0", "\ud83e", '"', "%", "x" * 100_000):
        recalled = past.recall(query)
        assert recalled.exchanges == ()
        assert recalled.text.startswith("# Memory Recall\nNothing found ")


def test_a_recall_keeps_within_its_budget(past: Past) -> None:
    for tokens in (1, 20, 60, 200, 2_000):
        recalled = past.recall("webhook retries 数据库", tokens=tokens)
        assert recalled.tokens <= max(tokens, 4)  # the bare heading
        assert len(recalled.exchanges) + recalled.left_out == 2


def test_a_running_session_and_its_subagents_are_not_told_what_they_know(past: Past) -> None:
    source = str(past.indexed.folder / "retries.jsonl")
    for name in ("retries", "claude_code:retries", source):
        assert past.recall("webhook retries", without=(name,)).exchanges == ()
    session = "374dd535-3f93-56f2-a738-bd6c7a5f4c23"
    asked = ("user", "How do we rotate the signing keys?"), ("assistant", "With two valid keys for a day.")
    past.indexed.write(f"{session}/subagents/agent-7f.jsonl", *asked, session="7f")
    past.indexed.index()
    assert past.recall("rotate the signing keys").exchanges
    assert past.recall("rotate the signing keys", without=(session,)).exchanges == ()


def test_arguments_that_make_no_sense_are_refused(past: Past) -> None:
    naive = PromptFilter(since=datetime(2026, 1, 1))  # noqa: DTZ001  what is refused
    for refused in (
        past.chats.recall("x", limit=0),
        past.chats.recall("x", tokens=0),
        past.chats.search("x", limit=-1),
        past.chats.search("x", which=naive),
    ):
        outcome = past.runtime.run_sync(refused)
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.failure(), DataValidationError)


def test_a_source_shows_the_turns_around_it(past: Past) -> None:
    source = past.indexed.folder / "retries.jsonl"
    assert past.show(f"{source}#2", before=1, after=1) == [
        (number, RETRIES[number][1]) for number in (1, 2, 3)
    ]
    assert past.show("claude_code:locked") == past.show(str(past.indexed.folder / "locked.jsonl"))
    assert past.show("claude_code:locked#1", before=0, after=0) == [(1, LOCKED[1][1])]
    path = past.indexed.write_text("chat #3.json", role_list(LOCKED))  # a conversation without ids
    past.indexed.index()
    assert past.show(str(path)) == past.show(f"{path}#0") == [(0, LOCKED[0][1]), (1, LOCKED[1][1])]


def test_an_unknown_source_is_a_typed_failure(past: Past) -> None:
    for source in ("", "nowhere", "nowhere#1", "#1", "x#99999999999999999999", "x#１"):
        outcome = past.runtime.run_sync(past.chats.show(source))
        assert outcome == Failure(PromptNotFoundError(source))


def test_what_is_exported_is_imported_without_loss(past: Past, tmp_path: Path) -> None:
    told: list[JsonObject] = []
    assert past.runtime.run_sync(past.chats.export(EVERYTHING, to=told.append)).unwrap() == len(told) == 7
    assert sorted(str(one["content"]) for one in told) == sorted(text for _, text in (*RETRIES, *LOCKED))
    (tmp_path / "other").mkdir()
    with open_index(tmp_path / "other") as other:
        lines = [json.dumps(one).encode() for one in told]
        assert other.run(other.live.import_records(lines)).unwrap().turns.new == 7
        columns = "conversation_id, turn_index, role, content, timestamp, content_hash, metadata_json"
        assert other.rows(columns) == past.indexed.rows(columns)
