"""The example and the section of the page on frameworks do what they show, with a scripted model."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("agent_framework.exceptions", reason="pip install 'chatmemory-effect[agent-framework]'")

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples/agent_framework_agent.py"
SECTION = re.compile(r"^## Microsoft Agent Framework\n\n```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def run(*arguments: str, folder: Path) -> str:
    command = [sys.executable, "-X", "utf8", "-W", "error", *arguments]
    ran = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_the_second_session_recalls_the_first(tmp_path: Path) -> None:
    _, tuesday = run(str(EXAMPLE), str(tmp_path / "a.db"), folder=tmp_path).split("tuesday:\n")
    assert "  assistant: You said: I live in Hangzhou\n" in tuesday
    assert "  assistant: You said: 我对花生过敏\n" in tuesday


def test_the_section_of_the_readme_runs(tmp_path: Path) -> None:
    section = SECTION.search((ROOT / "docs/guides/frameworks.md").read_text("utf-8"))
    assert section is not None
    talk = f"""
import asyncio, runpy
client = runpy.run_path({str(EXAMPLE)!r})["Scripted"]()
for day, question in ("monday", "I live in Hangzhou."), ("tuesday", "Where do I live?"):
    print(asyncio.run(ask(client, day, question)))
"""
    said = run("-c", section[1] + talk, folder=tmp_path)
    assert said.splitlines() == ["好的，我记住了。", "You said: I live in Hangzhou"]
