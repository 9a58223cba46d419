"""The example and the section of the page on frameworks do what they show, with a scripted model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("agent_framework.exceptions", reason="pip install 'chatmemory-effect[agent-framework]'")

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples/agent_framework_agent.py"


def run(*arguments: str, folder: Path) -> str:
    command = [sys.executable, "-X", "utf8", "-W", "error", *arguments]
    ran = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_the_second_session_recalls_the_first(tmp_path: Path) -> None:
    _, tuesday = run(str(EXAMPLE), str(tmp_path / "a.db"), folder=tmp_path).split("tuesday:\n")
    assert "  assistant: You said: I live in Hangzhou\n" in tuesday
    assert "  assistant: You said: 我对花生过敏\n" in tuesday
