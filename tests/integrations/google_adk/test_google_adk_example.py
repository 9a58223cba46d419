"""The example and the section of the page on frameworks do what they show; an agent asks its memory by ADK's own tools."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("google.adk.memory", reason="pip install 'chatmemory-effect[google-adk]'")

ROOT = Path(__file__).parents[3]


def printed(*command: str | Path, cwd: Path) -> str:
    """Return what a program prints; ADK warns of what it does not know of a model, on stderr."""
    run = subprocess.run(
        [sys.executable, "-X", "utf8", *command],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_example_recalls_in_another_program(tmp_path: Path) -> None:
    assert printed(
        ROOT / "examples" / "google_adk_agent.py", tmp_path / "agent.db", cwd=tmp_path
    ).splitlines() == [
        "monday: 我住在杭州，对花生过敏。",
        "  -> 好的，我记住了。",
        "tuesday: 我对什么过敏？",
        "  -> You told me: 我住在杭州，对花生过敏。",
    ]


def test_the_example_of_sessions_goes_on_in_another_program(tmp_path: Path) -> None:
    assert printed(
        ROOT / "examples" / "google_adk_sessions.py", tmp_path / "agent.db", cwd=tmp_path
    ).splitlines() == [
        "我住在杭州，对花生过敏。",
        "  -> 好的，我记住了。",
        "  the state of Mei: {'last_answer': '好的，我记住了。'}",
        "我对什么过敏？",
        "  -> You told me: 我住在杭州，对花生过敏。",
        "  the state of Mei: {'last_answer': 'You told me: 我住在杭州，对花生过敏。'}",
    ]
