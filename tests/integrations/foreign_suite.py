"""Tests that a framework publishes of its own parts, unmodified, on ours.

A plugin of pytest binds the framework's names to classes of ours before a test module is imported; it lies beside
``not_applicable.txt``, which names the tests that cannot apply, each with its reason.  All others have to pass.
``ForeignSuite`` runs them in a process of its own, where this module is a plugin too and leaves out what cannot apply.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final, final

import pytest
from attrs import frozen

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
ENOUGH_FAILURES: Final = 6  # to see that something is broken
LONGEST_SECONDS: Final = 900  # of a whole suite; a guard against what hangs
SUITES: Final = os.environ.get("FRAMEWORK_SUITES", "")
"""Where ``make test-long`` unpacks the source archives, each in a folder named after its distribution."""

needs_suites: Final = pytest.mark.skipif(
    not SUITES, reason="FRAMEWORK_SUITES names no folder of unpacked archives: make test-long makes one"
)
NOT_APPLICABLE: Final = "NOT_APPLICABLE"
"""The variable that names the list, for the process that runs the tests."""

PREFIX: Final = "NOT_APPLICABLE_PREFIX"
"""The variable that says with what the ids of that process begin in the list: several archives may share one."""


@final
@frozen
class Ran:
    """What pytest said, and its figures."""

    said: str

    def count(self, figure: str) -> int:
        """Return how many ``passed``, ``failed``, were ``skipped`` or ``deselected`` ..., as the last line says."""
        found = re.search(rf"(\d+) {figure}", self.summary)
        return int(found[1]) if found else 0

    @property
    def summary(self) -> str:
        """The line of the figures; whatever pytest said last where it came to none."""
        lines = self.said.strip().splitlines() or [""]
        return next((line for line in reversed(lines) if re.search(r" in \d[\d.:]*s", line)), lines[-1])

    def all_passed(self, *, at_least: int) -> bool:
        """Tell whether nothing failed or was skipped, and as many passed as there are to our knowledge."""
        trouble = sum(map(self.count, ("failed", "error", "skipped", "xfailed")))
        return trouble == 0 and self.count("passed") >= at_least


def unpacked(distribution: str) -> Path:
    """Return the folder with the source of *distribution*."""
    return Path(SUITES).absolute() / distribution


@final
@frozen
class ForeignSuite:
    """The tests in *folder*, an unpacked source archive, with *plugin*, the path of ours.

    *prefix*: with what their ids begin in ``not_applicable.txt``; *options*: more of pytest's.
    """

    folder: Path
    plugin: Path
    prefix: str = ""
    options: tuple[str, ...] = ()

    def run(self, *files: str, **environment: str) -> Ran:
        """Run the tests of *files*; *environment* tells the plugin what to break, and then a few failures are enough."""
        plugins = ("-p", "foreign_suite", "-p", self.plugin.stem, "-p", "no:cacheprovider")
        most = (f"--maxfail={ENOUGH_FAILURES}",) if environment else ()
        # Our folder is last: the folders in it bear the names of frameworks.
        path = (self.plugin.parent, ROOT, ROOT / "layers", HERE)
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", *plugins, "-q", "--tb=line", *most, *self.options, *files],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(map(str, path)),
                NOT_APPLICABLE: str(self.plugin.with_name("not_applicable.txt")),
                PREFIX: self.prefix,
                **environment,
            },
            capture_output=True,
            encoding="utf-8",
            timeout=LONGEST_SECONDS,
            check=False,
        )
        return Ran(ran.stdout + ran.stderr)


def reasons(listed: str) -> dict[str, str]:
    """Return what cannot apply: from the test's id, without parameters, to the reason."""
    known: dict[str, str] = {}
    for line in filter(None, listed.splitlines()):
        name, _, reason = line.partition(": ")
        if line.startswith("#"):
            continue
        if name in known or not reason.strip():
            raise pytest.UsageError(f"not_applicable.txt names {name!r} twice or without a reason")
        known[name] = reason
    return known


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what cannot apply, and refuse a list that names what is not there."""
    known = reasons(Path(os.environ[NOT_APPLICABLE]).read_text("utf-8"))
    ids = {item: os.environ[PREFIX] + item.nodeid.split("[")[0] for item in items}
    out = [item for item in items if ids[item] in known]
    collected = {name.split("::")[0] for name in ids.values()}
    unknown = {name for name in known if name.split("::")[0] in collected} - {ids[item] for item in out}
    if unknown:
        raise pytest.UsageError(f"not_applicable.txt names tests that are not there: {sorted(unknown)}")
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in out]
