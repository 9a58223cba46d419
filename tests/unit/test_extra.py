"""A part whose library is missing says which extra of our distribution brings it."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from chatmemory.extra import needs_extra

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
    command = [sys.executable, "-c", IMPORTED_WITHOUT, json.dumps(EXTRA_OF)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said: dict[str, list[str]] = json.loads(done.stdout)
    for part, (_, extra) in EXTRA_OF.items():
        kind, message = said[part]
        assert kind == "ModuleNotFoundError", part
        assert message.startswith("needs "), part
        assert message.endswith(f": pip install 'chatmemory-effect[{extra}]'"), part
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {extra for _, extra in EXTRA_OF.values()} <= set(project["optional-dependencies"])


def test_every_adapter_has_its_extra_in_this_list() -> None:
    shared = {"changed_messages", "labels", "raising", "recalled_text", "stored_messages", "to_its_end"}
    modules = pkgutil.iter_modules([str(ROOT / "chatmemory" / "integrations")])
    adapters = {module.name for module in modules} - shared
    assert {f"chatmemory.integrations.{name}" for name in adapters} <= set(EXTRA_OF)


def test_a_library_that_is_too_old_is_named_too_and_a_mistake_of_our_own_is_no_missing_library() -> None:
    message = r"^needs json: pip install 'chatmemory-effect\[server\]'$"
    with pytest.raises(ImportError, match=message) as raised, needs_extra("server"):
        from json import nothing_like_it  # noqa: F401  the point
    assert isinstance(raised.value.__cause__, ImportError)
    with pytest.raises(ImportError, match="chatmemory"), needs_extra("server"):
        import chatmemory.no_such_module  # noqa: F401  the point
