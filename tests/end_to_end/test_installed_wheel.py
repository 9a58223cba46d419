"""From the built wheel, in an environment of its own and an empty home: the journey of an agent that remembers."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
HISTORIES = CHECKOUT / "examples/histories"

# Where the tools keep what the samples show.
HOMES = {
    "claude-code/projects": ".claude/projects",
    "codex-cli/sessions": ".codex/sessions",
    "gemini-cli/tmp": ".gemini/tmp",
    "cursor/projects": ".cursor/projects",
}
EXPORTS = ("aider", "chatgpt", "claude-ai", "markdown", "specstory")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment that holds the wheel, and what it depends on; nothing is fetched."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel: pip install '.[test]'")
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, CHECKOUT]
    subprocess.run([*pip, *wheel], check=True)
    (built,) = folder.glob("*.whl")
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    python = environment / "bin/python"
    subprocess.run([*pip, "--python", python, "install", "--no-deps", "--no-index", built], check=True)
    (packages,) = environment.glob("lib/python3.*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return environment


class Shell:
    def __init__(self, environment: Path, home: Path) -> None:
        self.environment = environment
        self.home = home

    def run(self, program: str, *arguments: str | Path) -> str:
        """Run *program*, which succeeds, and return what it prints."""
        done = subprocess.run(
            [self.environment / "bin" / program, *arguments],
            env={"HOME": str(self.home), "PATH": os.defpath, "LC_ALL": "C"},
            cwd=self.home,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr.decode()) == (0, "")
        return done.stdout.decode("utf-8")


@pytest.fixture
def shell(installed: Path, tmp_path: Path) -> Shell:
    for kept, home in HOMES.items():
        shutil.copytree(HISTORIES / kept, tmp_path / home)
    for export in EXPORTS:
        shutil.copytree(HISTORIES / export, tmp_path / "Downloads/chats of years/聊天" / export)
    return Shell(installed, tmp_path)


def test_the_wheel_is_what_runs_and_an_agent_indexes_recalls_works_and_indexes_again(shell: Shell) -> None:
    shown = shell.run("python", "-c", "import chatmemory, chatmemory_layers; print(chatmemory.__file__)")
    assert Path(shown.strip()).is_relative_to(shell.environment)
    memory = "pastchats-memory"
    tools = json.loads(shell.run(memory, "index", "--json"))
    assert set(tools["read"]) == {"claude_code", "codex_cli", "gemini_cli", "cursor"}
    exports = json.loads(shell.run(memory, "index", "--input", "Downloads", "--json"))
    assert set(exports["read"]) == {"aider", "chatgpt", "claude_ai", "markdown", "specstory"}

    found = json.loads(shell.run(memory, "search", "--query", "retry strategy", "--json"))
    scores = [hit["hybridScore"] for hit in found["results"]]
    assert scores == sorted(scores, reverse=True) != []

    recalled = shell.run(memory, "recall", "--query", "build webhook retries")
    assert recalled.startswith("# Memory Recall\n")
    assert recalled.count("\n## ") == recalled.count("\nSource: ") > 0
    assert "\nWhat worked" in recalled
    assert "\nWhat failed" in recalled
    assert "全文" in shell.run(memory, "recall", "--query", "中文全文检索搜不到")

    said = {
        "user": "How do we drain the quokka queue before a deploy?",
        "assistant": "Stop the intake, wait for quokka_pending = 0, then deploy.",
    }
    notes = [
        {"role": role, "content": words, "timestamp": "2026-05-04T10:00:00Z"} for role, words in said.items()
    ]
    (shell.home / "notes.jsonl").write_text("\n".join(map(json.dumps, notes)) + "\n", encoding="utf-8")
    again = json.loads(shell.run(memory, "index", "--input", "notes.jsonl", "--json"))
    assert again["turns"]["new"] == 2
    recalled = shell.run(memory, "recall", "--query", "deploy while the quokka queue is full")
    assert "quokka_pending = 0" in recalled


def test_a_missing_library_is_installed_from_where_this_was_installed_while_that_is_there(
    shell: Shell,
) -> None:
    program = ("python", "-c", "from chatmemory.extra import installing; print(installing('server'))")
    (wheel,) = shell.environment.parent.glob("*.whl")
    assert shell.run(*program) == f"pip install '{wheel}[server]'\n"
    elsewhere = wheel.rename(shell.home / wheel.name)
    assert shell.run(*program) == "pip install 'chatmemory-effect[server]'\n"
    elsewhere.rename(wheel)
