"""Another project's distribution is called chatmemory, and installs into the folder of our package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import chatmemory
import chatmemory_layers

CURE = "pip uninstall chatmemory chatmemory-effect"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages with those files of ours in it that the first import reads."""
    ours, layers = Path(chatmemory.__file__).parent, Path(chatmemory_layers.__file__).parent
    init = ("__init__.py", "__init__.pyi")
    for file in (*init, "namesake.py", *(f"effect/{file}" for file in (*init, "lazy_names.py"))):
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
    assert (
        "chatmemory-effect, which is imported, and another project (chatmemory-1.3.0.dist-info)"
        in done.stderr
    )
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
