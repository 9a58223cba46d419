"""What the README says is so: its programs run and print what stands below them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from chatmemory.effect import Success
from chatmemory.effect.config.structuring import structure
from chatmemory.programs.pastchats.program import COMMANDS
from chatmemory.settings.memory_settings import Settings
from tests.readme_programs import PAGES, PROGRAMS, README, ROOT, programs_of, skip_without_frameworks


@pytest.mark.parametrize(("program", "output"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_prints_what_stands_below_it(program: str, output: str, tmp_path: Path) -> None:
    skip_without_frameworks(program)
    for folder in ("config", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    command = [sys.executable, "-W", "error", "-X", "utf8", "-c", program]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == output


def test_the_first_program_is_short_and_matches_on_a_failure() -> None:
    program, output = PROGRAMS["README-1"]
    assert len([line for line in program.splitlines() if line]) <= 15
    assert "case Failure(error)" in program
    assert "ConversationNotFoundError" in output


def test_the_configuration_that_it_shows_is_right() -> None:
    text = (ROOT / "docs" / "guides" / "configuration.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert isinstance(structure(Settings, tomllib.loads(shown)), Success)


def test_every_command_that_it_names_is_there() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert (
        {"demo", "test", "check", "docs"}
        <= set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
        <= targets
    )


def test_every_subcommand_that_it_names_is_one() -> None:
    told = README + "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(
        re.findall(
            r"^(?:\.venv/bin/)?pastchats-memory ([a-z-]+)|`pastchats-memory ([a-z-]+)", told, re.MULTILINE
        )
    )
    named = {first or second for first, second in named} - {"--help"}
    assert {"index", "recall", "search"} <= named
    assert named <= set(COMMANDS)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "README.zh.md", *PAGES], ids=lambda page: page.stem
)
def test_every_link_into_the_repository_leads_somewhere(page: Path) -> None:
    links = set(re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")))
    assert [link for link in links if not (page.parent / link).exists() and "/made/" not in link] == []


def test_it_is_short_and_its_two_languages_show_the_same_program() -> None:
    assert len(README.encode()) < 8_192
    translated = ROOT / "README.zh.md"
    assert programs_of(translated) == [PROGRAMS["README-1"]]
