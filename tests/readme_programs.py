"""The programs of the README and of the documentation, for the tests that run them.

``python -m tests.readme_programs FOLDER`` writes them down as modules: `make check` looks at their types.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(
    page
    for page in (ROOT / "docs").rglob("*.md")
    if page.name != "testing.md"
    and "made" not in page.parts  # its examples are tests: test_testing_docs.py runs them
)


def programs_of(page: Path) -> list[tuple[str, str]]:
    """Return the programs of a page, each with what stands below it as its output, or with nothing."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", text, re.MULTILINE | re.DOTALL)


PROGRAMS = {
    f"{page.stem}-{number}": program
    for page in (ROOT / "README.md", *PAGES)
    for number, program in enumerate(programs_of(page), start=1)
}
OF_FRAMEWORKS = {
    name: program
    for name, program in PROGRAMS.items()
    if any(name in program[0] for name in ("chatmemory.integrations.", "from fastapi import"))
}
"""Those that need a framework: tests/integrations runs them."""
OURS = {name: program for name, program in PROGRAMS.items() if name not in OF_FRAMEWORKS}


def folder_for_programs(folder: Path) -> Path:
    """Make *folder*, with what the programs read of this repository."""
    folder.mkdir()
    for read in ("config", "examples"):
        (folder / read).symlink_to(ROOT / read)
    return folder


UNTYPED_BY_FRAMEWORKS = "# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false\n"
"""What a framework leaves untyped, its users cannot mend."""


def write_modules(folder: Path) -> None:
    """Write each program into *folder* as a module of its own, and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, (program, _) in PROGRAMS.items():
        checked = UNTYPED_BY_FRAMEWORKS + program if name in OF_FRAMEWORKS else program
        (folder / f"of_{name.replace('-', '_')}.py").write_text(checked, encoding="utf-8")


if __name__ == "__main__":
    write_modules(Path(sys.argv[1]))
