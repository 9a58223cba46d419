"""``pastchats-memory``, run as an agent runs it."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chatmemory_layers.entry import pastchats_memory
from tests.in_process import in_process
from tests.patience import PATIENCE_SECONDS

HISTORIES = Path(__file__).parents[1] / "examples/histories"
COMPILED = Path(tempfile.gettempdir()) / f"chatmemory-compiled-{os.getuid()}"
PROGRAM = Path(sys.executable).with_name("pastchats-memory")


class Agent:
    """Runs commands on an index of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "pastchats.db"
        self.environment: dict[str, str] = {}
        self.has_own_process = False

    def begin_with(self, index: Path) -> None:
        """Take *index* for its own, as it is now."""
        shutil.copy(index, self.db)

    def run(
        self, command: str, *, given: str = "", may_hang: bool = False
    ) -> "subprocess.CompletedProcess[str]":
        """Run *command*, which begins with ``pastchats-memory``: in this process, unless it needs its own or may hang."""
        program, *arguments = shlex.split(command)
        assert program == PROGRAM.name
        if not (may_hang or self.has_own_process):
            return in_process(
                pastchats_memory,
                arguments=[PROGRAM, *arguments],
                given=given,
                environment=self._environment(),
            )
        return subprocess.run(
            [PROGRAM, *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            input=given,
            check=False,
            timeout=PATIENCE_SECONDS,
            env=self._environment(),
        )

    def answer(self, command: str) -> str:
        """Run *command*, which succeeds and says nothing on the side, and return what it prints."""
        done = self.run(command)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def json(self, command: str) -> Any:
        return json.loads(self.answer(f"{command} --json"))

    def without_sqlite_vec(self) -> None:
        """Let loading sqlite-vec fail from now on, as on a machine whose SQLite loads no extensions."""
        broken = self.folder / "broken"
        broken.mkdir()
        (broken / "sqlite_vec.py").write_text("raise ImportError('no such extension')\n")
        self.environment["PYTHONPATH"] = str(broken)
        self.has_own_process = True

    def _environment(self) -> Mapping[str, str]:
        own = {"HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder), "PASTCHATS_DB": str(self.db)}
        # Compiled once for all of them, as what is installed is.
        compiled = {"PYTHONPYCACHEPREFIX": str(COMPILED), "PYTHONDONTWRITEBYTECODE": ""}
        return {**os.environ, **compiled, **own, **self.environment}
