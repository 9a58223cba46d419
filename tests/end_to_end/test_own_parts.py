"""A stranger's backend, strategy, skill, clock, embedder, extractor and ranking are plugged in from outside."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_SECONDS


def test_a_package_from_elsewhere_brings_every_part_and_passes_the_laws(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parent / "own_parts", tmp_path / "own_parts")
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "own_parts/checks.py"],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # the laws need pytest and nothing beside it
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed, run.stdout
    assert int(passed[1]) > 50, "not the whole kit ran"
