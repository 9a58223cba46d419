"""A missing library, and another project under our name, are told with what to install or uninstall."""

from __future__ import annotations

import json
import os
import pkgutil
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import chatmemory
import chatmemory_layers
from chatmemory.extra import needs_extra
from tests.forked import fresh_python

ROOT = Path(__file__).parents[2]

EXTRA_OF = {
    "chatmemory.integrations.agent_framework": ("agent_framework", "agent-framework"),
    "chatmemory.integrations.anthropic": ("anthropic", "anthropic"),
    "chatmemory.integrations.claude_agent_sdk": ("claude_agent_sdk", "claude-agent-sdk"),
    "chatmemory.integrations.google_adk": ("google", "google-adk"),
    "chatmemory.integrations.langgraph": ("langgraph", "langgraph"),
    "chatmemory.integrations.llama_index": ("llama_index", "llama-index"),
    "chatmemory.integrations.openai_agents": ("agents", "openai-agents"),
    "chatmemory.integrations.pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "chatmemory.laws": ("hypothesis", "laws"),
    "chatmemory.programs.http.app": ("starlette", "server"),
    "chatmemory.programs.mcp.server": ("mcp", "mcp"),
    "chatmemory_layers.postgres.engine.database": ("asyncpg", "postgres"),
    "chatmemory_layers.postgres.messages.message_repository": ("asyncpg", "postgres"),
    "chatmemory_layers.postgres.memories.memory_repository": ("asyncpg", "postgres"),
}

IMPORTED_WITHOUT = """
import json, sys
wanted = json.loads(sys.argv[1])
said = {}
for part, (library, _) in wanted.items():
    sys.modules[library] = None
for library in ("mcp_types", "pydantic"):
    sys.modules[library] = None
for part in wanted:
    try:
        __import__(part)
    except ImportError as error:
        said[part] = [type(error).__name__, str(error)]
print(json.dumps(said))
"""


def test_a_part_without_its_library_says_what_to_install() -> None:
    said: dict[str, list[str]] = json.loads(fresh_python(IMPORTED_WITHOUT, json.dumps(EXTRA_OF)))
    for part, (_, extra) in EXTRA_OF.items():
        kind, message = said[part]
        assert kind == "ModuleNotFoundError", part
        assert message.startswith("needs "), part
        assert message.endswith(f": pip install '.[{extra}]'"), part  # this is the folder of the source
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {extra for _, extra in EXTRA_OF.values()} <= set(project["optional-dependencies"])


def test_every_adapter_has_its_extra_in_this_list() -> None:
    shared = {"as_given", "labels", "raising", "recalled_text", "stored_messages"}
    modules = pkgutil.iter_modules([str(ROOT / "chatmemory" / "integrations")])
    adapters = {module.name for module in modules} - shared
    assert {f"chatmemory.integrations.{name}" for name in adapters} <= set(EXTRA_OF)


def test_a_library_that_is_too_old_is_named_too_and_a_mistake_of_our_own_is_no_missing_library() -> None:
    message = r"^needs json: pip install '\.\[server\]'$"
    with pytest.raises(ImportError, match=message) as raised, needs_extra("server"):
        from json import nothing_like_it  # noqa: F401  the point
    assert isinstance(raised.value.__cause__, ImportError)
    with pytest.raises(ImportError, match="chatmemory"), needs_extra("server"):
        import chatmemory.no_such_module  # noqa: F401  the point


CURE = "pip uninstall chatmemory chatmemory-effect"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages with those files of ours in it that the first import reads."""
    ours, layers = Path(chatmemory.__file__).parent, Path(chatmemory_layers.__file__).parent
    init = ("__init__.py", "__init__.pyi")
    for file in (*init, "namesake.py", *(f"effect/{file}" for file in (*init, "lazy.py"))):
        target = tmp_path / "chatmemory" / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ours / file, target)
    (tmp_path / "chatmemory_layers").mkdir()
    shutil.copy(layers / "__init__.py", tmp_path / "chatmemory_layers")
    (tmp_path / "chatmemory_effect-0.6.0.dist-info").mkdir()
    return tmp_path


def install_the_other(site: Path) -> None:
    (site / "chatmemory-1.3.0.dist-info").mkdir()
    (site / "chatmemory" / "client.py").write_text("")


def importing(module: str, site: Path) -> subprocess.CompletedProcess[str]:
    script = f"import {module}; print({module}.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-S", "-c", script]  # -S: only the folder of the test
    return subprocess.run(
        command, cwd=site.parent, env=environment, capture_output=True, text=True, check=False
    )


def test_alone_we_are_imported_without_a_word(site: Path) -> None:
    done = importing("chatmemory_layers", site)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(str(site))


def test_where_ours_was_installed_last_the_first_import_warns_and_says_what_to_uninstall(site: Path) -> None:
    install_the_other(site)
    done = importing("chatmemory", site)
    assert done.returncode == 0
    assert done.stderr.count("RuntimeWarning") == 1
    assert "chatmemory-effect, which is imported, and another project (chatmemory-1.3.0" in done.stderr
    assert CURE in done.stderr


def test_where_the_other_was_installed_last_our_layers_refuse_and_say_what_to_uninstall(site: Path) -> None:
    install_the_other(site)
    (site / "chatmemory" / "__init__.py").write_text("from chatmemory import client\n")
    done = importing("chatmemory_layers", site)
    assert done.returncode != 0
    assert f"ImportError: 'import chatmemory' finds another project ({site}" in done.stderr
    assert CURE in done.stderr


def test_where_uninstalling_the_other_took_our_files_our_layers_refuse_and_say_what_to_do(site: Path) -> None:
    (site / "chatmemory" / "__init__.py").unlink()
    done = importing("chatmemory_layers", site)
    assert done.returncode != 0
    assert "finds another project (without __init__.py)" in done.stderr
    assert CURE in done.stderr
