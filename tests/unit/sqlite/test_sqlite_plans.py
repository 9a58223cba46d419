"""Statements find their rows through an index, but for one, and what names few of many does not walk through all of the user's."""

import pkgutil
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import pytest

from chatmemory import Forgetting, MemoryListing, Namespace
from chatmemory_layers.sql.columns import EPOCH
from chatmemory_layers.sqlite import events, memories, messages, prompts
from chatmemory_layers.sqlite.engine.migrations import migrate
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.legacy import legacy_rows
from chatmemory_layers.sqlite.memories import memory_reads, memory_removal, memory_search
from chatmemory_layers.sqlite.prompts.prompt_staging import prepare_staging
from chatmemory_layers.sqlite.prompts.prompt_tables import migrate_prompts
from tests.unit.sql_statements import sqlite_plan, statements_of

MING = Namespace("小明")
# What a statement itself makes, the index of words, and JSON that it is given may be read from end to end.
SCANNED = re.compile(r"SCAN (?!chain$|stale$|below$|from_prefix$|\w+ VIRTUAL TABLE)")


def modules_of(*packages: ModuleType) -> list[ModuleType]:
    """Return the modules of *packages* but those whose statements make tables, or fit former ones."""
    return [
        import_module(found.name)
        for package in packages
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not found.name.endswith(("_tables", "shared_branches"))
    ]


STATEMENTS = statements_of(*modules_of(events, memories, messages), legacy_rows)


@pytest.fixture(scope="module")
def store() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        yield connection


def test_no_statement_reads_a_whole_table(store: sqlite3.Connection) -> None:
    def scans(statement: str) -> list[str]:
        return [step for step in sqlite_plan(store, statement) if SCANNED.search(step)]

    assert scans("SELECT * FROM atomic_memory WHERE content = :content")  # so the test can fail
    assert {name: scans(text) for name, text in STATEMENTS.items() if scans(text)} == {}


INDEXES: Final = {
    memory_reads.SELECT_VALUE: "atomic_memory_key (user_key=? AND key=? AND superseded_at_us=?)",
    memory_reads.SELECT_VALUE_THEN: "atomic_memory_key (user_key=? AND key=?)",
    memory_reads.SELECT_LISTED_OF_SESSION: "atomic_memory_session (user_key=? AND session_id=?)",
    memory_reads.SELECT_LISTED_OF_KEYS: "atomic_memory_key (user_key=? AND key>? AND key<?)",
    memory_reads.SELECT_LISTED_OF_ATTRIBUTES: "atomic_memory_attribute (user_key=?)",
    memory_removal.SELECT_FORGOTTEN_CHAIN: "atomic_memory_id_of_user (memory_id=? AND user_key=?)",
    memory_removal.UPDATE_ORPHANS: "atomic_memory_successor (superseded_by=?)",
    memory_removal.SELECT_EXPIRED: "atomic_memory_short_term (user_key=? AND created_at_us<?)",
    memory_search.COUNT_RECALLABLE_THEN: "atomic_memory_timeline (user_key=?)",
}


def test_the_index_that_fits_is_the_one_that_is_used(store: sqlite3.Connection) -> None:
    searched = re.compile(r"SEARCH (?:row|atomic_memory|chat_conversation) USING INDEX (.*)")

    def used(statement: str) -> set[str]:
        return {found[1] for step in sqlite_plan(store, statement) if (found := searched.match(step))}

    assert {text: used(text) for text in INDEXES} == {text: {index} for text, index in INDEXES.items()}


def listed(**asked: Any) -> Callable[[sqlite3.Connection], object]:
    return lambda store: memory_reads.listed(store, MemoryListing(MING, 5, **asked))


def forgotten(**asked: Any) -> Callable[[sqlite3.Connection], object]:
    return lambda store: memory_removal.forget(Transaction(store.cursor()), Forgetting(MING, **asked))


def test_what_names_few_is_looked_for_by_the_statement_that_finds_few(store: sqlite3.Connection) -> None:
    for number, (asked, statement) in enumerate(
        (
            (lambda store: memory_reads.value(store, MING, "城市"), memory_reads.SELECT_VALUE),
            (
                lambda store: memory_reads.value(store, MING, "城市", as_of=EPOCH),
                memory_reads.SELECT_VALUE_THEN,
            ),
            (listed(), memory_reads.SELECT_LISTED),
            (listed(value_prefix=""), memory_reads.SELECT_LISTED),
            (listed(value_prefix="城"), memory_reads.SELECT_LISTED_OF_KEYS),
            (listed(session_id="会议"), memory_reads.SELECT_LISTED_OF_SESSION),
            (forgotten(), memory_removal.SELECT_FORGOTTEN),
            (forgotten(memory_id="1"), memory_removal.SELECT_FORGOTTEN_CHAIN),
        )
    ):
        executed: list[str] = []
        store.set_trace_callback(executed.append)
        asked(store)
        store.set_trace_callback(None)
        # What is executed is shown with values in the place of names.
        shape = "(?s:.+)".join(map(re.escape, re.split(r":\w+", statement)))
        assert [bool(re.fullmatch(shape, shown)) for shown in executed] == [True], number


# --- past chats: what is asked for one source, one turn or one search walks through no table of all turns ---


PROMPT_STATEMENTS = statements_of(*modules_of(prompts))
# Of all turns there are: checks, counts, exports, what a person wants gone, and what no index can know.
ABOUT_EVERYTHING = {
    "prompt_checks.COUNT_ABANDONED",
    "prompt_checks.COUNT_LATER",
    "prompt_checks.COUNT_ROWS",
    "prompt_checks.COUNT_WORDS",
    "prompt_checks.SELECT_TEXTS",
    "prompt_conversations.SELECT_CONVERSATIONS",
    "prompt_conversations.COUNT_PROMPTS",
    "prompt_conversations.COUNT_CONVERSATIONS",
    "prompt_conversations.COUNT_VECTORS",
    "prompt_writes.SELECT_VECTORS",
    "prompt_writes.SELECT_WITHOUT_ROW",
    "prompt_removal.CHOOSE_MEANT",
    "prompt_removal.CHOOSE_ABANDONED",
    "prompt_removal.DELETE_IDLE_ALIASES",
    "prompt_search.SELECT_MEANT",
    "prompt_writes.COUNT_PROMPTS",
}
NEEDS_SQLITE_VEC = {"prompt_vectors.SELECT_NEAREST"}
# To search for whatever has a conversation is a walk by another name.
OF_ALL_TURNS = re.compile(
    r"SCAN (main\.)?(prompts|kept|prompt_vectors|prompt_codes|prompt_aliases|copied|theirs|own)\b"
    r"|SEARCH prompts USING .*\(conversation_id>\?\)"
)


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate_prompts(connection)
        prepare_staging(connection)
        yield connection


def walks(index: sqlite3.Connection, name: str) -> list[str]:
    """Return the tables of all turns that are walked through."""
    return [step for step in sqlite_plan(index, PROMPT_STATEMENTS[name]) if OF_ALL_TURNS.match(step)]


def test_no_statement_walks_through_all_turns_but_those_about_everything(index: sqlite3.Connection) -> None:
    names = PROMPT_STATEMENTS.keys() - NEEDS_SQLITE_VEC
    assert {name for name in names if walks(index, name)} == ABOUT_EVERYTHING
    # These read an index, and not the long rows; those come out of one in order.
    for name in ("prompt_conversations.SELECT_CONVERSATIONS", "prompt_conversations.COUNT_PROMPTS"):
        (walk,) = walks(index, name)
        assert "prompts USING COVERING INDEX prompts_conversation_order" in walk
    for name in ("prompt_reads.SELECT_BEFORE", "prompt_conversations.SELECT_TURNS_BEHIND"):
        assert "TEMP B-TREE" not in " ".join(sqlite_plan(index, PROMPT_STATEMENTS[name]))
