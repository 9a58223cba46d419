"""The index of contracts is complete and true: every contract is in it, and every invariant has a test that exists."""

import re
from pathlib import Path
from typing import Any

import yaml

from tests.for_each import for_each
from tests.invariants.test_requirements import ROOT, names_of_tests

CONTRACTS = ROOT / "schemas/contracts"
FEATURE = Path(__file__).with_name("004_prompt_memory.feature")


def loaded(file: str) -> Any:
    return yaml.safe_load((CONTRACTS / file).read_text(encoding="utf-8"))


INDEX: list[dict[str, Any]] = loaded("CONTRACT_INDEX.yml")["contracts"]
OF_004 = [row for row in INDEX if row["id"] != "requirements"]


def test_every_contract_of_the_folder_is_in_the_index_once_with_what_it_covers() -> None:
    files = sorted(path.name for path in CONTRACTS.glob("*.yml") if path.name != "CONTRACT_INDEX.yml")
    assert sorted(row["file"] for row in INDEX) == files
    assert len({row["id"] for row in INDEX}) == len(INDEX)
    assert {row["kind"] for row in INDEX} == {"feature", "journey"}
    for row in INDEX:
        contract = loaded(row["file"])
        if row["id"] == "requirements":
            assert row["covers"] == list(contract)
        elif row["kind"] == "journey":
            assert (contract["id"], [contract["journey"]]) == (row["id"], row["covers"])
        else:
            assert contract["id"] == row["id"]
            assert [invariant["id"] for invariant in contract["invariants"]] == row["covers"]


def test_the_seven_invariants_of_document_004_are_covered() -> None:
    covered = {name for row in OF_004 for name in row["covers"] if name.startswith("I-")}
    assert covered == {f"I-ARCH-00{n}" for n in (1, 2, 3)} | {f"I-MEM-00{n}" for n in (1, 2, 3, 4)}


@for_each("row", OF_004)
def test_each_invariant_and_journey_has_tests_that_exist(row: dict[str, Any]) -> None:
    contract = loaded(row["file"])
    promises = contract.get("invariants", [contract])
    assert [promise for promise in promises if not promise["tests"]] == []
    written = set[str]().union(*map(names_of_tests, Path(__file__).parent.glob("test_*.py")))
    assert {name for promise in promises for name in promise["tests"]} <= written


def test_each_scenario_of_the_feature_file_belongs_to_a_contract_with_its_tags() -> None:
    feature = FEATURE.read_text(encoding="utf-8")
    found = re.findall(r"^  (@[^\n]+)\n  Scenario(?: Outline)?: ([^\n]+)$", feature, re.MULTILINE)
    written = {title: re.findall(r"@(\S+)", tags) for tags, title in found}
    promised = {
        scenario["title"]: scenario["tags"]
        for row in OF_004
        for scenario in loaded(row["file"]).get("scenarios", ())
    }
    assert promised == written
    assert len(written) == feature.count("Scenario")
