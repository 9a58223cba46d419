"""The example is a real graph with a scripted model: its third conversation knows what the first has said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("langgraph.graph", reason="pip install 'chatmemory-effect[langgraph]' langgraph")

EXAMPLE = Path(__file__).parents[3] / "examples" / "langgraph_agent.py"


def test_an_agent_recalls_in_a_later_session_what_it_was_told_in_an_earlier_one(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE), str(tmp_path / "agent.db")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, "你说过：我对花生过敏。"), ran.stderr
