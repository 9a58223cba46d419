"""What the README says is so: its programs run and print what stands below them."""

import re
import tomllib
from pathlib import Path

import pytest

from chatmemory.effect import Success
from chatmemory.input.structuring import structure
from chatmemory.programs.pastchats.program import COMMANDS
from chatmemory.settings.memory_settings import Settings
from tests.in_process import in_process
from tests.readme_programs import OURS, PAGES, PROGRAMS, README, ROOT, folder_for_programs, programs_of


def test_the_programs_print_what_stands_below_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {}
    for name, (program, output) in OURS.items():
        folder = folder_for_programs(tmp_path / name)
        monkeypatch.chdir(folder)
        printed = in_process(lambda program=program: exec(program, {"__name__": "__main__"}))
        if (printed.returncode, printed.stderr, printed.stdout) != (0, "", output):
            wrong[name] = printed
    assert wrong == {}


def test_it_is_short_as_is_its_first_program_which_shows_a_failure_in_both_languages() -> None:
    program, output = PROGRAMS["README-1"]
    assert len([line for line in program.splitlines() if line]) <= 12
    assert "<Failure: no conversation 'dinner'" in output
    assert len(README.encode()) < 8_192
    translated = ROOT / "README.zh.md"
    assert programs_of(translated) == [PROGRAMS["README-1"]]


def test_every_command_and_subcommand_that_it_names_is_there() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    made = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert {"demo", "test", "check", "docs"} <= made <= targets
    told = README + "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = re.findall(r"(?:^(?:\.venv/bin/)?|`)pastchats-memory ([a-z-]+)", told, re.MULTILINE)
    assert {"index", "recall", "search"} <= {*named} - {"--help"} <= set(COMMANDS)


def test_its_links_lead_somewhere_and_its_configuration_is_right() -> None:
    dead = {
        (page.name, link)
        for page in (ROOT / "README.md", ROOT / "README.zh.md", *PAGES)
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists() and "/made/" not in link
    }
    assert dead == set()
    text = (ROOT / "docs" / "guides" / "configuration.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert isinstance(structure(Settings, tomllib.loads(shown)), Success)


PUBLIC = re.compile(
    r"chatmemory(\.effect|\.testing|\.laws|\.integrations\.\w+)?|chatmemory_layers(\.stacks)?"
)


def test_pages_are_short_and_their_programs_import_public_names_alone() -> None:
    assert [page.name for page in PAGES if len(page.read_text(encoding="utf-8").splitlines()) > 200] == []
    imported = {
        (name, module)
        for name, (program, _) in PROGRAMS.items()
        for module in re.findall(r"^from (chatmemory[\w.]*) import", program, re.MULTILINE)
    }
    assert {(name, module) for name, module in imported if not PUBLIC.fullmatch(module)} == set()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    formats = len(project["entry-points"]["chatmemory.formats"])
    assert f"{formats} formats" in README
