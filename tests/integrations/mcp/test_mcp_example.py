"""The example, and the configuration of a coding agent that it is started by, are right."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'chatmemory-effect[mcp]'")

from tests.integrations.mcp.mcp_clients import COMMAND, environment

EXAMPLE = Path(__file__).parents[3] / "examples/mcp_agent.py"


def test_the_second_session_recalls_what_the_first_has_remembered(tmp_path: Path) -> None:
    path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [sys.executable, "-X", "utf8", EXAMPLE],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
        env={**environment(tmp_path), "PATH": path},
    )
    assert (run.returncode, run.stdout) == (0, "用户喜欢用 Rust 编程\n"), run.stderr
