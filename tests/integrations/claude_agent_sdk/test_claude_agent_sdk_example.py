"""The example says on Tuesday what was said on Monday."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("claude_agent_sdk", reason="pip install 'chatmemory-effect[claude-agent-sdk]'")

EXAMPLE = Path(__file__).parents[3] / "examples" / "claude_agent_sdk_agent.py"


def test_a_session_is_resumed_in_another_program(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    expected = ["我对花生过敏。", "user: 我对花生过敏。", "assistant: 好的，我记住了。"]
    assert (ran.returncode, ran.stdout.splitlines()) == (0, expected), ran.stderr
