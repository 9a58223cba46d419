"""The example and the section of the page on frameworks do what they show, with a scripted model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("agents", reason="pip install 'chatmemory-effect[openai-agents]'")


ROOT = Path(__file__).parents[3]


def test_the_second_session_recalls_the_first(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-W",
        "error",
        str(ROOT / "examples/openai_agents_agent.py"),
        str(tmp_path / "a.db"),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Without nuts, then: 我对花生过敏" in ran.stdout.splitlines()
