"""What a type checker tells users: the programs beside this module have exactly the errors that their comments expect,
and those of the README have none.

``# type error: why`` is expected of both checkers, ``# type error in pyright: why`` of one.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.readme_programs import OURS, PROGRAMS
from tests.thorough import IS_THOROUGH
from tests.typing.checkers import Problem, basedpyright_problems, mypy_problems

CHECKERS = {"mypy": mypy_problems, "pyright": basedpyright_problems}
FOLDER = Path(__file__).parent / "programs"
EXPECTED = re.compile(r"# type error(?: in (?P<checker>\w+))?: .+")

# Strict checkers refuse it, wherever it lies.
UNTYPED = "def ask(client):\n    return client.ask()\n"


# Reading a framework takes a checker ten times as long as all the rest.
README_PROGRAMS = {
    f"readme_{name.replace('-', '_')}.py": program
    for name, (program, _) in (PROGRAMS if IS_THOROUGH else OURS).items()
}

# What a framework leaves untyped, its users cannot mend: Memory.from_defaults of llama_index takes a bare List.
UNTYPED_BY_FRAMEWORKS = {("llama_index", "reportUnknownMemberType")}


@pytest.fixture(scope="module", params=["mypy", "pyright"])
def checker(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def problems(checker: str, tmp_path_factory: pytest.TempPathFactory) -> list[Problem]:
    """Check everything in one run: most of its time goes into what the programs import."""
    readme = tmp_path_factory.mktemp("readme")
    (readme / "untyped.py").write_text(UNTYPED, encoding="utf-8")
    for file, program in README_PROGRAMS.items():
        (readme / file).write_text(program, encoding="utf-8")
    return CHECKERS[checker](FOLDER, readme)


def places_expected_of(checker: str) -> set[str]:
    return {
        f"{program.name}:{number}"
        for program in FOLDER.glob("*.py")
        for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), start=1)
        if (expected := EXPECTED.search(line)) and expected["checker"] in {None, checker}
    }


def test_the_programs_have_the_type_errors_that_they_expect_and_no_others(
    checker: str, problems: list[Problem]
) -> None:
    expected = places_expected_of(checker)
    found = [problem for problem in problems if problem.path.parent == FOLDER]
    refused = [str(problem) for problem in found if problem.place not in expected]
    assert refused == [], "correct programs are refused"
    assert expected - {problem.place for problem in found} == set(), "wrong programs pass"


def test_programs_outside_the_repository_are_checked_strictly(problems: list[Problem]) -> None:
    assert "untyped.py:1" in {problem.place for problem in problems}


def test_the_programs_of_the_documentation_have_no_type_error(problems: list[Problem]) -> None:
    assert [
        str(problem)
        for problem in problems
        if (program := README_PROGRAMS.get(problem.path.name))
        and not any(name in program and rule == problem.rule for name, rule in UNTYPED_BY_FRAMEWORKS)
    ] == []
