"""An agent on an index of the sample histories, and one that has none yet."""

from pathlib import Path

import pytest
from past_chats_command import HISTORIES, Agent


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    agent = Agent(tmp_path_factory.mktemp("indexed"))
    assert agent.run(f"pastchats-memory index {HISTORIES}").returncode == 0
    return agent


@pytest.fixture
def fresh(tmp_path: Path) -> Agent:
    return Agent(tmp_path)
