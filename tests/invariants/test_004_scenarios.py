"""The Gherkin scenarios of document 004, run as they are written."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from past_chats_command import Agent
from pytest_bdd import given, parsers, scenarios, then, when

scenarios("004_prompt_memory.feature")


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


@given("a memory database exists")
def _(agent: Agent) -> None:
    agent.run("pastchats-memory init")
    assert agent.db.is_file()


@given("past prompts are indexed from at least one project")
def _(agent: Agent, index_of_histories: Path) -> None:
    agent.begin_with(index_of_histories)
    assert count(agent, "SELECT count(DISTINCT source_project) FROM prompts") >= 1


@given("sqlite-vec fails to load")
def _(agent: Agent) -> None:
    agent.without_sqlite_vec()


@given(parsers.parse('a parsed prompt turn with role "{role}"'), target_fixture="history")
def _(tmp_path: Path, role: str) -> Path:
    history = tmp_path / "chat.jsonl"
    messages = [{"role": role, "content": "Keep answers short."}, {"role": "user", "content": "好的"}]
    history.write_text(json.dumps({"messages": messages}) + "\n", encoding="utf-8")
    return history


@when(parsers.re(r'the agent runs "(?P<command>pastchats-memory .*)"'), target_fixture="shown")
def _(agent: Agent, command: str) -> str:
    return agent.answer(command)


@when("the agent runs semantic retrieval", target_fixture="found")
def _(agent: Agent) -> Any:
    return agent.json("pastchats-memory search --query 'try the delivery again later'")


@when("indexing is executed")
def _(agent: Agent, history: Path) -> None:
    before = count(agent, "SELECT count(*) FROM prompts")
    assert agent.run(f"pastchats-memory index {history}").returncode == 0
    assert count(agent, "SELECT count(*) FROM prompts") == before + 2


@then("the system returns ranked results")
def _(shown: str) -> None:
    ranks = [int(rank) for rank in re.findall(r"^(\d+)\. ", shown, re.MULTILINE)]
    assert ranks == list(range(1, len(ranks) + 1))
    assert len(ranks) > 1


@then("each result has a hybrid score")
def _(shown: str) -> None:
    scores = [float(score) for score in re.findall(r"^   Hybrid score: ([0-9.]+) ", shown, re.MULTILINE)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == len(re.findall(r"^\d+\. ", shown, re.MULTILINE))


@then('the output contains "# Memory Recall"')
def _(shown: str) -> None:
    assert shown.startswith("# Memory Recall\n")


@then('each memory entry contains "Source:"')
def _(shown: str) -> None:
    entries = re.split(r"^## ", shown, flags=re.MULTILINE)[1:]
    assert entries
    assert all("\nSource: " in entry for entry in entries)


@then("the system returns results using fallback cosine search")
def _(found: Any) -> None:
    assert found["mode"] == "hybrid"
    assert "sqlite-vec" not in found["reason"]
    similarities = [result["similarity"] for result in found["results"]]
    assert similarities
    assert all(-1 <= similarity <= 1 for similarity in similarities)


@then("prompt rows and embedding rows remain equal")
def _(agent: Agent) -> None:
    prompts = count(agent, "SELECT count(*) FROM prompts")
    assert prompts == count(agent, "SELECT count(*) FROM prompt_embeddings")
    assert prompts == count(agent, "SELECT count(*) FROM prompts JOIN prompt_embeddings ON prompt_id = id")


def count(agent: Agent, statement: str) -> int:
    with closing(sqlite3.connect(agent.db)) as connection:
        (number,) = connection.execute(statement).fetchone()
    return int(number)
