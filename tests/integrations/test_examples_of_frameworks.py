"""The example of each framework recalls what an earlier program or session was told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
TOLD = "我对花生过敏。"
ADK = "我住在杭州，对花生过敏。"
STATE = f"  the state of Mei: {{'last_answer': 'You told me: {ADK}'}}"
KEPT = ["  2 messages are kept of ['mei']", f"  -> You told me: {ADK}", "  4 messages are kept of ['mei']"]
NOTES = ["Without nuts, then. My notes:", "     1\t- 对花生过敏"]
STRICT = ("-W", "error")

RUNS: list[tuple[str, str, tuple[str, ...], list[str]]] = [
    # the framework, the example, options of Python, and lines that the example prints
    ("agent_framework", "agent_framework_agent.py", STRICT, ["  assistant: You said: 我对花生过敏"]),
    ("agents", "openai_agents_agent.py", STRICT, ["Without nuts, then: 我对花生过敏"]),
    ("anthropic", "anthropic_agent.py", STRICT, NOTES),
    ("claude_agent_sdk", "claude_agent_sdk_agent.py", (), [TOLD, f"user: {TOLD}"]),
    ("google.adk.memory", "google_adk_agent.py", (), [f"monday: {ADK}", f"  -> You told me: {ADK}"]),
    ("google.adk.sessions", "google_adk_sessions.py", (), [f"  -> You told me: {ADK}", STATE]),
    ("langgraph.graph", "langgraph_agent.py", (), [f"你说过：{TOLD}"]),
    ("llama_index.core", "llama_index_agent.py", (), ["  -> You said: I live in Hangzhou"]),
    ("llama_index.core", "llama_index_chat.py", (), KEPT),
    ("mcp", "mcp_agent.py", (), ["用户喜欢用 Rust 编程"]),
    ("pydantic_ai.agent", "pydantic_ai_agent.py", STRICT, ["  -> You said: I live in Hangzhou"]),
]
TALKS_TO_ITS_USER = {"google_adk_agent.py", "google_adk_sessions.py", "llama_index_agent.py", "mcp_agent.py"}
"""On standard error: what ADK does not know of a model, what LlamaIndex leaves open, the log of a server."""


def printed(folder: Path, example: str, *arguments: str, options: tuple[str, ...] = ()) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CHATMEMORY_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where an example finds our commands
    ran = subprocess.run(
        [sys.executable, "-X", "utf8", *options, EXAMPLES / example, *arguments],
        cwd=folder,
        env={**kept, "HOME": str(folder), "PATH": path},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (ran.returncode, ran.stderr if example not in TALKS_TO_ITS_USER else "") == (0, ""), ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.parametrize(("framework", "example", "options", "expected"), RUNS, ids=[run[1] for run in RUNS])
def test_an_example_recalls(
    tmp_path: Path, framework: str, example: str, options: tuple[str, ...], expected: list[str]
) -> None:
    pytest.importorskip(framework)
    place = "." if framework == "claude_agent_sdk" else "agent.db"
    lines = printed(tmp_path, example, place, options=options)
    assert [line for line in lines if line in expected] == expected


def test_a_graph_goes_on_in_another_process_and_goes_back_in_time(tmp_path: Path) -> None:
    pytest.importorskip("langgraph.graph")
    assert printed(tmp_path, "langgraph_resume.py", "a.db", "monday") == ["点麻婆豆腐，好吗？"]
    tuesday = ["等着： confirm", "麻婆豆腐 好", "清蒸鱼 也好"]
    assert printed(tmp_path, "langgraph_resume.py", "a.db", "tuesday") == tuesday
