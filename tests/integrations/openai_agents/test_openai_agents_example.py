"""The example and the section of the page on frameworks do what they show, with a scripted model."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("agents", reason="pip install 'chatmemory-effect[openai-agents]'")


ROOT = Path(__file__).parents[3]
SECTION = re.compile(
    r"^## OpenAI Agents SDK\n\n```python\n(.*?)^```\n\n```text\n(.*?)^```", re.DOTALL | re.MULTILINE
)


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


def test_the_section_of_the_readme_prints_what_stands_below_it(tmp_path: Path) -> None:
    found = SECTION.search((ROOT / "docs/guides/frameworks.md").read_text("utf-8"))
    if found is None:
        pytest.skip("the page on frameworks has no section of the OpenAI Agents SDK")
    program, output = found.groups()
    command = [sys.executable, "-W", "error", "-c", program]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", output)
