"""The example of each framework recalls what an earlier session was told, and documented programs print what stands below them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked import imports_of, run_forked
from tests.patience import PATIENCE_SECONDS
from tests.readme_programs import OF_FRAMEWORKS, folder_for_programs

EXAMPLES = Path(__file__).parents[2] / "examples"
STRICT = ("-W", "error")

MEI_LIVES = """\
monday: Hi, I'm Mei. I live in Hangzhou.
  -> Nice.
tuesday: Which city do I live in?
  -> You said: I live in Hangzhou
"""

# The framework, the example, options of Python, and what the example prints.
RUNS: list[tuple[str, str, tuple[str, ...], str]] = [
    (
        "agent_framework",
        "agent_framework_agent.py",
        STRICT,
        """\
tuesday:
  user: Which city do I live in?
  assistant: You said: I live in Hangzhou
  user: 我对什么过敏？
  assistant: You said: 我对花生过敏
""",
    ),
    ("agents", "openai_agents_agent.py", STRICT, "好的，我记住了。\nWithout nuts, then: 我对花生过敏\n"),
    (
        "anthropic",
        "anthropic_agent.py",
        STRICT,
        """\
Without nuts, then. My notes:
Here's the content of /memories/people/mei.md with line numbers:
     1\t- 对花生过敏
""",
    ),
    (
        "claude_agent_sdk",
        "claude_agent_sdk_agent.py",
        (),
        "我对花生过敏。\nuser: 我对花生过敏。\nassistant: 好的，我记住了。\n",
    ),
    (
        "google.adk.memory",
        "google_adk_agent.py",
        (),
        """\
monday: 我住在杭州，对花生过敏。
  -> 好的，我记住了。
tuesday: 我对什么过敏？
  -> You told me: 我住在杭州，对花生过敏。
""",
    ),
    (
        "google.adk.sessions",
        "google_adk_sessions.py",
        (),
        """\
我住在杭州，对花生过敏。
  -> 好的，我记住了。
  the state of Mei: {'last_answer': '好的，我记住了。'}
我对什么过敏？
  -> You told me: 我住在杭州，对花生过敏。
  the state of Mei: {'last_answer': 'You told me: 我住在杭州，对花生过敏。'}
""",
    ),
    ("langgraph.graph", "langgraph_agent.py", (), "好的，我记住了。\nNoted.\n你说过：我对花生过敏。\n"),
    ("llama_index.core", "llama_index_agent.py", (), MEI_LIVES),
    (
        "llama_index.core",
        "llama_index_chat.py",
        (),
        """\
monday: 我住在杭州，对花生过敏。
  -> I will remember that.
  2 messages are kept of ['mei']
tuesday: 我对什么过敏？
  -> You told me: 我住在杭州，对花生过敏。
  4 messages are kept of ['mei']
""",
    ),
    ("mcp", "mcp_agent.py", (), "用户喜欢用 Rust 编程\n"),
    ("pydantic_ai.agent", "pydantic_ai_agent.py", STRICT, MEI_LIVES),
]
TALKS_TO_ITS_USER = {"google_adk_agent.py", "google_adk_sessions.py", "llama_index_agent.py", "mcp_agent.py"}
"""On standard error: what ADK does not know of a model, what LlamaIndex leaves open, the log of a server."""


def printed(folder: Path, example: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CHATMEMORY_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where an example finds our commands
    ran = subprocess.run(
        [sys.executable, "-X", "utf8", *options, EXAMPLES / example, *arguments],
        cwd=folder,
        env={**kept, "HOME": str(folder), "PATH": path},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (ran.returncode, ran.stderr if example not in TALKS_TO_ITS_USER else "") == (0, ""), ran.stderr
    return ran.stdout


@pytest.mark.parametrize(("framework", "example", "options", "expected"), RUNS, ids=[run[1] for run in RUNS])
def test_an_example_recalls(
    tmp_path: Path, framework: str, example: str, options: tuple[str, ...], expected: str
) -> None:
    pytest.importorskip(framework)
    place = "." if framework == "claude_agent_sdk" else "agent.db"
    assert expected in printed(tmp_path, example, place, options=options)


def test_a_graph_goes_on_in_another_process_and_goes_back_in_time(tmp_path: Path) -> None:
    pytest.importorskip("langgraph.graph")
    assert printed(tmp_path, "langgraph_resume.py", "a.db", "monday") == "点麻婆豆腐，好吗？\n"
    tuesday = "等着： confirm\n麻婆豆腐 好\n清蒸鱼 也好\n"
    assert printed(tmp_path, "langgraph_resume.py", "a.db", "tuesday") == tuesday


@pytest.mark.parametrize(("program", "output"), OF_FRAMEWORKS.values(), ids=OF_FRAMEWORKS)
def test_a_program_prints_what_stands_below_it(program: str, output: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-X", "utf8", "-c", program]
    folder = folder_for_programs(tmp_path / "program")
    run = run_forked(*command, cwd=folder, loaded=imports_of(program))
    assert (run.returncode, run.stderr, run.stdout) == (0, "", output)
