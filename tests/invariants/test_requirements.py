"""Every requirement has a test that bears its name, and every test of a document belongs to a requirement."""

import ast
import re
from pathlib import Path
from typing import Any

import yaml

from tests.for_each import for_each

ROOT = Path(__file__).parents[2]
TABLE: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (ROOT / "schemas/contracts/requirements.yml").read_text(encoding="utf-8")
)


def name_of_test(title: str) -> str:
    return "test_" + re.sub(r"[\W_]+", "_", title).strip("_").lower()


def names_of_tests(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {function.name for function in functions if function.name.startswith("test_")}


def written_for(document: str) -> set[str]:
    return names_of_tests(Path(__file__).with_name(f"test_{document}.py"))


def named_in_the_table(document: str) -> list[str]:
    titles = [title for row in TABLE[document] for title in (*row["scenarios"], *row.get("also", ()))]
    return [name_of_test(title) for title in titles]


@for_each("document", TABLE)
def test_each_requirement_has_a_scenario_and_each_scenario_a_test_of_its_name(document: str) -> None:
    assert [row["requirement"] for row in TABLE[document] if not row["scenarios"]] == []
    assert sorted(set(named_in_the_table(document)) - written_for(document)) == []


@for_each("document", TABLE)
def test_each_test_belongs_to_a_requirement(document: str) -> None:
    names = named_in_the_table(document)
    assert len(names) == len(set(names))
    assert sorted(written_for(document) - set(names)) == []


def test_the_documents_are_all_there() -> None:
    files = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_0*.py")}
    assert files == {*TABLE, "004_prompt_memory", "004_scenarios"}  # see test_contract_index.py
