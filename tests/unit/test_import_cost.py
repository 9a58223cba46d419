"""Importing chatmemory is cheap: what is heavy is loaded by whoever uses it, when they do."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "aiosqlite",
    "asyncpg",
    "cattrs",
    "fastapi",
    "httpx",
    "litestar",
    "numpy",
    "opentelemetry",
    "sentence_transformers",
    "sqlite3",
    "starlette",
    "trio",
    "uvicorn",
}


def modules_loaded_by(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_chatmemory_loads_hardly_anything() -> None:
    assert len(modules_loaded_by("import chatmemory") - modules_loaded_by("pass")) <= 30


@pytest.mark.parametrize(
    "statement",
    [
        "import chatmemory",
        "import chatmemory.effect",
        "import chatmemory.contracts",
        "from chatmemory import ChatMemory, Effect, Layer, ManagedRuntime",
    ],
)
def test_neither_numpy_nor_a_driver_nor_a_web_framework_is_loaded(statement: str) -> None:
    assert modules_loaded_by(statement) & HEAVY == set()
    assert "chatmemory" in modules_loaded_by(statement)


def test_the_list_of_heavy_modules_would_be_noticed() -> None:
    assert "sqlite3" in modules_loaded_by("import sqlite3") & HEAVY
