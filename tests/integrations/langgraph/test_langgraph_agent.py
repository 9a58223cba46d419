"""The examples are real graphs: one knows what an earlier conversation has said, one goes on where another process stopped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("langgraph.graph", reason="pip install 'chatmemory-effect[langgraph]' langgraph")

EXAMPLES = Path(__file__).parents[3] / "examples"


def said(*arguments: str | Path) -> list[str]:
    command = [sys.executable, *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_an_agent_recalls_in_a_later_session_what_it_was_told_in_an_earlier_one(tmp_path: Path) -> None:
    assert said(EXAMPLES / "langgraph_agent.py", tmp_path / "agent.db")[-1] == "你说过：我对花生过敏。"


def test_an_agent_goes_on_in_another_process_and_goes_back_in_time(tmp_path: Path) -> None:
    program, store = EXAMPLES / "langgraph_resume.py", tmp_path / "order.db"
    assert said(program, store, "monday") == ["点麻婆豆腐，好吗？"]
    assert said(program, store, "tuesday") == ["等着： confirm", "麻婆豆腐 好", "清蒸鱼 也好"]
