"""Past chats as a person or an agent asks for them: lists, conversations, recalls, sources."""

import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

from chatmemory.effect import Failure, ManagedRuntime
from chatmemory.errors import DataValidationError, PromptNotFoundError
from chatmemory.pastchats.contract import PastChats, PastChatsService
from chatmemory.pastchats.finding.prompt_hits import PastRecall
from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft
from chatmemory.pastchats.past_chats import PastConversation
from chatmemory.pastchats.prompt import EVERYTHING, Prompt, PromptFilter
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from chatmemory_layers.stacks.past_chats import finding
from tests.indexed import Indexed, claude_record, lines_of, open_index, role_list
from tests.past_turns import NOON, draft, index, open_past_chats, state


def talk(name: str, *contents: str, at: datetime | None = NOON, project: str = "app") -> list[PromptDraft]:
    """Make a conversation; its turns are a minute apart, user and assistant in turns."""
    placed = {"source": f"/{name}", "conversation": f"claude_code:{name}", "project": project}
    return [
        evolve(
            draft(number, text, **placed),
            role="assistant" if number % 2 else "user",
            timestamp=None if at is None else at + timedelta(minutes=number),
        )
        for number, text in enumerate(contents)
    ]


def keep(past: SqlitePromptRepository, turns: list[PromptDraft], *, size: int = 1) -> None:
    index(past, turns, state(turns[0].source, size=size))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "past.db"


@pytest.fixture
def past(path: Path) -> Iterator[SqlitePromptRepository]:
    with open_past_chats(path, native=sqlite3) as repository:
        yield repository


class Chats:
    """The service over the file, run to the end."""

    def __init__(self, chats: PastChats) -> None:
        self.chats = chats

    def names(self, which: PromptFilter = EVERYTHING, *, limit: int = 50) -> list[str]:
        """Return the names of all conversations, read page by page."""
        names: list[str] = []
        after: str | None = None
        while True:
            page = self.chats.conversations(which, limit=limit, after=after).run_sync().unwrap()
            assert len(page.conversations) <= limit
            assert page.next is None or page.next != after
            names += [each.conversation_id.removeprefix("claude_code:") for each in page.conversations]
            after = page.next
            if after is None:
                return names

    def texts(self, conversation_id: str, *, limit: int) -> list[list[str]]:
        """Return the pages of a conversation."""
        pages: list[list[str]] = []
        newer_than: int | None = -1
        while newer_than is not None:
            page = self.chats.turns(conversation_id, newer_than=newer_than, limit=limit).run_sync().unwrap()
            pages.append([turn.content for turn in page.turns])
            newer_than = page.next
        return pages


@pytest.fixture
def chats(past: SqlitePromptRepository, path: Path) -> Iterator[Chats]:
    del past  # it has made the file
    with ManagedRuntime(finding(PastChatsSettings(path=str(path), use_sqlite_vec=False))) as runtime:
        yield Chats(runtime.run_sync(PastChatsService.get()).unwrap())


def test_a_conversation_is_listed_with_its_opening_its_turns_and_its_times_what_was_said_last_first(
    past: SqlitePromptRepository, chats: Chats
) -> None:
    keep(past, talk("c1", "数据库被锁住了\n怎么办？", "开启 WAL", "谢谢"))
    (listed,) = chats.chats.conversations().run_sync().unwrap().conversations
    assert listed == PastConversation(
        conversation_id="claude_code:c1",
        format="claude_code",
        project="app",
        source="/c1",
        opening="数据库被锁住了 怎么办？",
        turns=3,
        first_at=NOON,
        last_at=NOON + timedelta(minutes=2),
    )
    keep(past, talk("timeless", "?", at=None))
    keep(past, talk("new", "x", at=NOON + timedelta(days=1)))
    keep(past, talk("long", *["x"] * 9, at=NOON))
    keep(past, talk("old", "x", at=NOON + timedelta(minutes=1)))
    assert chats.names() == ["new", "long", "c1", "old", "timeless"]


def test_pages_together_are_the_list(past: SqlitePromptRepository, chats: Chats) -> None:
    assert chats.names() == []
    for number in range(5):
        keep(past, talk(f"same-{number}", "x"))
        keep(past, talk(f"timeless|{number} 好", "x", at=None))
    names = [f"same-{n}" for n in (4, 3, 2, 1, 0)] + [f"timeless|{n} 好" for n in (4, 3, 2, 1, 0)]
    for limit in (1, 2, 3, 7):
        assert chats.names(limit=limit) == names
    assert chats.texts(f"claude_code:{names[-1]}", limit=1) == [["x"]]


def test_what_is_said_between_two_pages_moves_nothing_else(
    past: SqlitePromptRepository, chats: Chats
) -> None:
    for number in range(4):
        keep(past, talk(f"c{number}", "x", at=NOON - timedelta(days=number)))
    first = chats.chats.conversations(limit=2).run_sync().unwrap()
    keep(past, talk("c3", "x", "y", at=NOON + timedelta(days=1)), size=2)
    second = chats.chats.conversations(limit=2, after=first.next).run_sync().unwrap()
    assert [each.conversation_id for each in second.conversations] == ["claude_code:c2"]
    assert second.next is None


def test_an_instant_of_another_program_has_its_place_in_the_list_too(
    past: SqlitePromptRepository, chats: Chats, path: Path
) -> None:
    for number in range(3):
        keep(past, talk(f"c{number}", "x"))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE prompts SET timestamp = 'yesterday' WHERE source_path = '/c1'")
        connection.execute("UPDATE prompts SET timestamp = '2025-03-14 12:00:00' WHERE source_path = '/c2'")
    connection.close()
    assert chats.names(limit=1) == ["c1", "c0", "c2"]


def test_superseded_turns_are_left_out(past: SqlitePromptRepository, chats: Chats) -> None:
    keep(past, talk("c1", "a", "b", "c"))
    keep(past, talk("c1", "a", "b"), size=2)
    keep(past, talk("gone", "a"))
    index(past, [], state("/gone", size=2))
    (listed,) = chats.chats.conversations().run_sync().unwrap().conversations
    assert (listed.turns, listed.last_at) == (2, NOON + timedelta(minutes=1))
    assert chats.texts("claude_code:c1", limit=9) == [["a", "b"]]
    assert chats.chats.turns("claude_code:gone").run_sync() == Failure(
        PromptNotFoundError("claude_code:gone")
    )


def test_the_opening_is_what_the_user_typed_first(past: SqlitePromptRepository, chats: Chats) -> None:
    start, command, question, _ = talk("c1", "Hi", "x", "y " * 100, "z")
    keep(past, [evolve(start, role="assistant"), evolve(command, role="user", kind="command"), question])
    keep(past, [evolve(turn, kind="command", role="user") for turn in talk("c2", "/init")])
    keep(past, [evolve(turn, role="assistant") for turn in talk("c3", "nobody asked")])
    listed = chats.chats.conversations().run_sync().unwrap().conversations
    openings = {each.conversation_id: each.opening for each in listed}
    assert openings["claude_code:c1"].startswith("y y y")
    assert len(openings["claude_code:c1"]) <= 120
    assert (openings["claude_code:c2"], openings["claude_code:c3"]) == ("/init", "")


def test_a_filter_means_conversations_that_hold_such_a_turn(
    past: SqlitePromptRepository, chats: Chats
) -> None:
    keep(past, talk("a", "1", "2", "3"))
    keep(past, talk("b", "1", "2", at=NOON - timedelta(minutes=9)))
    late = PromptFilter(since=NOON + timedelta(minutes=2))
    (found,) = chats.chats.conversations(late).run_sync().unwrap().conversations
    assert (found.conversation_id, found.turns) == ("claude_code:a", 3)


def test_a_conversation_is_read_from_its_start_and_behind_its_end_there_is_nothing(
    past: SqlitePromptRepository, chats: Chats
) -> None:
    contents = [f"{number} 好" for number in range(5)]
    keep(past, talk("c1", *contents))
    for limit in (1, 2, 5, 1000):
        pages = chats.texts("claude_code:c1", limit=limit)
        assert [text for page in pages for text in page] == contents
        assert max(map(len, pages)) == min(limit, 5)
    for newer_than in (4, 7, 2**100):
        page = chats.chats.turns("claude_code:c1", newer_than=newer_than).run_sync().unwrap()
        assert (page.turns, page.next) == ((), None)


def test_turns_of_one_number_stay_together(past: SqlitePromptRepository, chats: Chats) -> None:
    turns = talk("c1", "a", "A", "b", "B", "c")
    keep(past, [evolve(turn, turn_index=place // 2) for place, turn in enumerate(turns)])
    assert chats.texts("claude_code:c1", limit=1) == [["a", "A"], ["b", "B"], ["c"]]


def test_an_unknown_conversation_and_what_is_no_cursor_are_refused(chats: Chats) -> None:
    for name in ("", "nobody", "\ud800", "' OR 1 --", "\0"):
        assert chats.chats.turns(name).run_sync() == Failure(PromptNotFoundError(name))
    for cursor in ("", "yesterday", "2025-03-14T12:00:00Z", "x|\ud800"):
        refused = chats.chats.conversations(limit=0, after=cursor).run_sync().failure()
        assert isinstance(refused, DataValidationError)
        assert [problem.path for problem in refused.problems] == ["$.limit", "$.after"]


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
def found(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Past]:
    with open_index(tmp_path) as indexed:
        indexed.write("retries.jsonl", *RETRIES)
        indexed.write("locked.jsonl", *LOCKED)
        indexed.index()
        settings = PastChatsSettings(path=str(indexed.database), use_sqlite_vec=False)
        with ManagedRuntime(finding(settings, EmbeddingSettings(provider=request.param))) as runtime:
            chats = runtime.run_sync(PastChatsService.get()).unwrap()
            yield Past(indexed, chats, runtime)


def test_a_recall_tells_what_worked_and_what_failed(found: Past) -> None:
    recalled = found.recall("webhook retries")
    assert recalled.text.startswith("# Memory Recall\n")
    assert "What worked:\n> Use exponential backoff with jitter, five attempts at most." in recalled.text
    assert "What failed:\n> Retry every second until the server answers." in recalled.text
    source = found.indexed.folder / "retries.jsonl"
    assert f"\nSource: {source}#" in recalled.text
    assert len(recalled.exchanges) == 1
    assert found.recall("webhook retries", which=PromptFilter(projects=("shop",))).exchanges
    assert found.recall("webhook retries", which=PromptFilter(projects=("other",))).exchanges == ()
    recalled = found.recall("数据库 锁")
    assert (
        "## 1. 数据库被锁住了怎么办？\nWhat worked:\n> 开启 WAL 模式，并设置 busy_timeout。" in recalled.text
    )


def test_what_was_undone_is_recalled_on_request_alone(found: Past) -> None:
    said = (
        ("user", "Seal the pond with tar"),
        ("assistant", "Tar poured."),
        ("user", "Seal the pond with clay"),
    )
    records = [
        claude_record("pond", number, *turn) for number, turn in enumerate((*said, ("assistant", "Puddled.")))
    ]
    records[2] = {**records[2], "parentUuid": None}
    first = {**claude_record("pond", 9, "user", "Dig a pond"), "parentUuid": None}
    roots = [
        {**record, "parentUuid": first["uuid"]} if record["parentUuid"] is None else record
        for record in records
    ]
    found.indexed.write_text("pond.jsonl", lines_of([first, *roots]))
    found.indexed.index()
    assert [one.worked[0].content for one in found.recall("seal the pond").exchanges if one.worked] == [
        "Puddled."
    ]
    everything = found.runtime.run_sync(found.chats.recall("seal the pond", with_undone=True)).unwrap()
    assert "Tar poured." in everything.text


def test_nothing_found_is_said_so(found: Past) -> None:
    for query in ("", " \n", "zzzz qqqq", "的了吗", "\0", "\ud83e", '"', "%", "x" * 100_000):
        recalled = found.recall(query)
        assert recalled.exchanges == ()
        assert recalled.text.startswith("# Memory Recall\nNothing found ")


def test_a_running_session_and_its_subagents_are_not_told_what_they_know(found: Past) -> None:
    source = str(found.indexed.folder / "retries.jsonl")
    for name in ("retries", "claude_code:retries", source):
        assert found.recall("webhook retries", without=(name,)).exchanges == ()
    session = "374dd535-3f93-56f2-a738-bd6c7a5f4c23"
    asked = ("user", "How do we rotate the signing keys?"), ("assistant", "With two valid keys for a day.")
    found.indexed.write(f"{session}/subagents/agent-7f.jsonl", *asked, session="7f")
    found.indexed.index()
    assert found.recall("rotate the signing keys").exchanges
    assert found.recall("rotate the signing keys", without=(session,)).exchanges == ()


def test_arguments_that_make_no_sense_are_refused(found: Past) -> None:
    naive = PromptFilter(since=datetime(2026, 1, 1))  # noqa: DTZ001  what is refused
    fields: dict[str, Any] = {"projects": "shop", "roles": ("usr",), "formats": (1,), "conversations": None}
    of_fields = [f"which.{place}" for place in ("projects", "roles[0]", "formats[0]", "conversations")]
    chats: Any = found.chats  # its types would not let a caller do this
    index: Any = found.indexed.live
    for refused, paths in (
        (chats.search(None, limit=1.5, which="shop", mode="semantic"), ["query", "limit", "which", "mode"]),
        (chats.search("x", which=PromptFilter(**fields)), of_fields),
        (chats.recall(5, limit="5", tokens="5"), ["query", "limit", "tokens"]),
        (chats.recall("x", limit=0, tokens=0), ["limit", "tokens"]),
        (chats.recall("x", which=None, without="a.db", with_undone=1), ["which", "without", "with_undone"]),
        (chats.show(None, before="3", after=1.5), ["source", "before", "after"]),
        (chats.conversations(None, limit=True, after=5), ["limit", "which", "after"]),
        (chats.turns(None, newer_than=None, limit=0), ["conversation", "newer_than", "limit"]),
        (chats.export(naive, to=print), ["which.since"]),
        (index.forget(naive), ["which.since"]),
        (index.forget(sources="a.db", is_dry_run=None), ["sources", "is_dry_run"]),
        (index.prune(is_dry_run=None), ["is_dry_run"]),
        (index.forget(), [""]),
    ):
        error = found.runtime.run_sync(refused).failure()
        assert isinstance(error, DataValidationError)
        assert [problem.path for problem in error.problems] == [f"$.{path}".rstrip(".") for path in paths]


def test_the_largest_numbers_are_taken(found: Past) -> None:
    source, many = "claude_code:locked", 10**40
    assert found.show(f"{source}#1", before=many, after=many) == found.show(source)
    assert found.recall("webhook retries", limit=many, tokens=many).exchanges
    assert found.runtime.run_sync(found.chats.search("webhook", limit=many)).unwrap().hits


def test_a_source_shows_the_turns_around_it(found: Past) -> None:
    source = found.indexed.folder / "retries.jsonl"
    assert found.show(f"{source}#2", before=1, after=1) == [
        (number, RETRIES[number][1]) for number in (1, 2, 3)
    ]
    assert found.show("claude_code:locked") == found.show(str(found.indexed.folder / "locked.jsonl"))
    assert found.show("claude_code:locked#1", before=0, after=0) == [(1, LOCKED[1][1])]
    path = found.indexed.write_text("chat #3.json", role_list(LOCKED))  # a conversation without ids
    found.indexed.index()
    assert found.show(str(path)) == found.show(f"{path}#0") == [(0, LOCKED[0][1]), (1, LOCKED[1][1])]


def test_an_unknown_source_is_a_typed_failure(found: Past) -> None:
    for source in ("", "nowhere", "nowhere#1", "#1", "x#99999999999999999999", "x#１"):
        outcome = found.runtime.run_sync(found.chats.show(source))
        assert outcome == Failure(PromptNotFoundError(source))
