"""Requests made of the OpenAPI document, right ones and wrong ones, against a real server: every check of schemathesis.

Every phase takes minutes, so a brief run leaves it to ``test_http_matrix.py``.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from chatmemory.effect import ManagedRuntime
from chatmemory.pastchats.contract import PastChatsIndexService
from chatmemory.pastchats.past_chats import IndexRequest
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.stacks.past_chats import indexing
from tests.http.served import served
from tests.past_chats_command import HISTORIES
from tests.thorough import thorough

HERE = Path(__file__).parent
TOKEN = "schemathesis-is-let-in"
RUN = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"
SERVE = """
from chatmemory.programs.http import access
from chatmemory_layers.entry import chatmemory

access.LONGEST_SECONDS = 0.0
chatmemory()
"""
"""The server, but it holds no answer back: every operation is asked with wrong tokens, and each would wait for 2 s."""
SEED = os.environ.get("SCHEMATHESIS_SEED", "1")
"""The same requests in each run, so that green stays green; another number makes others."""
RUNS = {
    # Together the first two phases would take all the time from the others.
    "examples and coverage": ("--phases", "examples,coverage"),
    "fuzzing and stateful": ("--phases", "fuzzing,stateful", "--max-time", "100"),
}

# The command takes every CHATMEMORY_ variable for a setting.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("CHATMEMORY_")}


@thorough
@pytest.mark.parametrize("options", RUNS.values(), ids=list(RUNS))
def test_no_request_that_the_document_can_think_of_breaks_a_promise(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    index_histories(tmp_path / "past-chats.db")
    environment = {**ENVIRONMENT, "CHATMEMORY_SERVER_TOKEN": TOKEN}
    program = (sys.executable, "-c", SERVE)
    with served(tmp_path / "a.db", environment=environment, program=program) as server:
        run = subprocess.run(
            [
                *(sys.executable, "-c", RUN, "--config-file", HERE / "schemathesis.toml", "--no-color"),
                *("run", f"{server.url}openapi.json", "--checks", "all", "--seed", SEED),
                *("--header", f"Authorization: Bearer {TOKEN}"),
                *options,
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
    assert run.returncode == 0, run.stdout + run.stderr
    sys.stdout.write(run.stdout)


def index_histories(path: Path) -> None:
    path.write_bytes(_index())


@cache
def _index() -> bytes:
    """Index the example histories, once for all tests of this process."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "past-chats.db")
        with ManagedRuntime(indexing(PastChatsSettings(path=str(path)))) as runtime:
            request = IndexRequest(inputs=(str(HISTORIES),))
            runtime.run_sync(PastChatsIndexService.use(lambda past_chats: past_chats.index(request))).unwrap()
        return path.read_bytes()
