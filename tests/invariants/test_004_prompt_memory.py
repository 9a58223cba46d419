"""The invariants of document 004 and its journey, each by its name, shown by behaviour."""

import ast
import json
import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from past_chats_command import HISTORIES, PROGRAM, Agent

from tests.forked import fresh_python
from tests.thorough import IS_THOROUGH, thorough

ROOT = Path(__file__).parents[2]
DRIVERS = {"sqlite3", "aiosqlite", "pysqlite3", "sqlite_vec"}


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    agent = Agent(tmp_path_factory.mktemp("agent"))
    assert agent.run(f"pastchats-memory index {HISTORIES}").returncode == 0
    return agent


@pytest.fixture
def store(agent: Agent) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(agent.db)) as connection:
        yield connection


def imported_by(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    direct = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    return {name.partition(".")[0] for name in direct} | {
        (node.module or "").partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }


def test_i_arch_001_sqlite_is_opened_by_the_store_layer_alone() -> None:
    # What memory means loads no driver, whatever is imported of it ...
    script = (
        "import importlib, pkgutil, sys, chatmemory.pastchats as package\n"
        "for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "    importlib.import_module(module.name)\n"
        "import chatmemory.programs.pastchats.program\n"
        f"print(sorted({DRIVERS!r} & set(sys.modules)))\n"
    )
    assert fresh_python(script) == "[]\n"
    # ... nor is any named there, or anywhere else outside of one folder, but where the stores of other tools are read.
    layers = ROOT / "layers/chatmemory_layers"
    files = [*(ROOT / "chatmemory").rglob("*.py"), *layers.rglob("*.py")]
    of_the_store = {file for file in (layers / "sqlite").rglob("*.py") if imported_by(file) & DRIVERS}
    assert {file for file in files if imported_by(file) & DRIVERS} - of_the_store == {
        layers / "files/sqlite_archive.py",
        layers / "files/sqlite_tables.py",
    }


def test_i_arch_002_every_turn_is_found_in_the_fts5_index_by_plain_sql(store: sqlite3.Connection) -> None:
    (statement,) = store.execute("SELECT sql FROM sqlite_schema WHERE name = 'prompts_fts'").fetchone()
    assert re.search(r'USING fts5\(\s*content,\s*source_project,.*content="prompts"', statement, re.DOTALL)
    for row, content in store.execute("SELECT id, content FROM prompts").fetchall():
        word = re.search(r"(?<!\w)[A-Za-z]{4,}(?!\w)", content)
        if word is not None:
            found = store.execute("SELECT rowid FROM prompts_fts WHERE prompts_fts MATCH ?", (word[0],))
            assert row in {rowid for (rowid,) in found}


def test_i_arch_003_recall_is_a_command_of_the_installed_program(agent: Agent) -> None:
    assert PROGRAM.is_file()
    assert "recall" in agent.answer("pastchats-memory --help")
    assert agent.answer("pastchats-memory recall --query 'build webhook retries'").startswith(
        "# Memory Recall\n"
    )


def test_i_mem_001_every_prompt_has_exactly_one_embedding_row(agent: Agent, tmp_path: Path) -> None:
    own = Agent(tmp_path)
    steps = [
        f"index {HISTORIES}",
        f"index {HISTORIES} --full --include tool_result,thinking,harness",
        "forget --role system --yes",
        "re-embed",
        "prune --yes",
    ]
    for provider in ("static", "none", "hashed") if IS_THOROUGH else ("static",):
        own.environment["CHATMEMORY_MEMORY_EMBEDDING_PROVIDER"] = provider
        for step in steps:
            # Only re-embedding without an embedder is refused.
            expected = 6 if (provider, step) == ("none", "re-embed") else 0
            assert own.run(f"pastchats-memory {step}").returncode == expected, step
            with closing(sqlite3.connect(own.db)) as connection:
                prompts = [row for (row,) in connection.execute("SELECT id FROM prompts ORDER BY id")]
                embedded = [
                    row for (row,) in connection.execute("SELECT prompt_id FROM prompt_embeddings ORDER BY 1")
                ]
            assert prompts == embedded
            assert prompts


def test_i_mem_002_words_and_vectors_both_decide_the_rank(agent: Agent) -> None:
    query = "pastchats-memory search --limit 50 --query 'try deliveries again after a pause'"
    both, words = agent.json(query)["results"], agent.json(f"{query} --lexical")["results"]
    for hit in both:
        assert hit["hybridScore"] == pytest.approx(sum(hit["signals"].values()))
    assert any(hit["signals"]["lexical"] > 0 and hit["signals"]["semantic"] > 0 for hit in both)
    # Vectors find what shares no word, and change the order of what does.
    assert any(hit["signals"]["lexical"] == 0 < hit["signals"]["semantic"] for hit in both)
    in_both = {hit["source"] for hit in both} & {hit["source"] for hit in words}
    assert [hit["source"] for hit in both if hit["source"] in in_both] != [
        hit["source"] for hit in words if hit["source"] in in_both
    ]


@pytest.mark.parametrize(
    "query",
    [
        "try it again later",
        "全文检索怎么分词",
        pytest.param("build webhook retries", marks=thorough),
        pytest.param("database locked", marks=thorough),
    ],
)
def test_i_mem_003_without_sqlite_vec_the_answers_are_the_same(
    agent: Agent, tmp_path: Path, query: str
) -> None:
    command = f"pastchats-memory search --limit 20 --query {shlex.quote(query)}"
    without = Agent(tmp_path)
    without.db = agent.db
    without.without_sqlite_vec()
    with_it, fallen_back = agent.json(command), without.json(command)
    assert fallen_back["mode"] == "hybrid"
    assert [hit["source"] for hit in fallen_back["results"]] == [hit["source"] for hit in with_it["results"]]


def test_i_mem_004_every_memory_names_a_source_that_show_finds(agent: Agent) -> None:
    block = agent.answer("pastchats-memory recall --query 'build webhook retries' --tokens 4000")
    entries = re.split(r"^## ", block, flags=re.MULTILINE)[1:]
    sources = [re.search(r"^Source: (.+?#\d+)", entry, re.MULTILINE) for entry in entries]
    assert len(entries) > 1
    for source in sources:
        assert source is not None
        shown = json.loads(
            agent.answer(f"pastchats-memory show --before 0 --after 0 --json {shlex.quote(source[1])}")
        )
        assert [turn["source"] for turn in shown["turns"]] == [source[1]]


def test_j_recall_an_agent_recalls_before_its_task_and_indexes_after_it(
    tmp_path: Path, index_of_histories: Path
) -> None:
    agent, work = Agent(tmp_path), tmp_path / "work"
    work.mkdir()
    agent.begin_with(index_of_histories)
    before = agent.answer("pastchats-memory recall --query 'build webhook retries'")
    assert "What worked:" in before
    assert "decorrelated jitter" not in agent.answer("pastchats-memory recall --query 'zebra deliveries'")
    said = [
        {"role": "user", "content": "Spread the zebra deliveries so that they do not all come back at once."},
        {
            "role": "assistant",
            "content": "I added decorrelated jitter to the zebra retry queue; the spikes are gone.",
        },
    ]
    (work / "today.jsonl").write_text(json.dumps({"messages": said}) + "\n", encoding="utf-8")
    assert agent.run(f"pastchats-memory index {HISTORIES} {work}").returncode == 0
    after = agent.answer("pastchats-memory recall --query 'zebra deliveries'")
    assert "decorrelated jitter" in after
    assert f"Source: {work / 'today.jsonl'}#" in after
