"""What the commands print with ``--json`` obeys the published schemas."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from past_chats_command import HISTORIES, Agent

from chatmemory.programs.schemas.json_schema import PRINTED

SCHEMAS = Path(__file__).parents[2] / "schemas"
COMMANDS = {
    "pastchats_index": f"index {HISTORIES}",
    "pastchats_search": "search '中文全文检索' --limit 5",
    "pastchats_recall": "recall --query 'sqlite database is locked'",
    "pastchats_show": "show SOURCE",
    "pastchats_stats": "stats",
    "pastchats_doctor": "doctor",
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    agent = Agent(tmp_path_factory.mktemp("打印"))
    told: dict[str, Any] = {}
    for name, command in COMMANDS.items():
        found = told["pastchats_search"]["results"][0]["source"] if "SOURCE" in command else ""
        asked = command.replace("SOURCE", shlex.quote(found))
        told[name] = json.loads(agent.run(f"pastchats-memory {asked} --json").stdout)
    return told


def test_every_printed_schema_has_its_command() -> None:
    assert set(COMMANDS) == set(PRINTED)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints_obeys_its_schema(name: str, printed: dict[str, Any]) -> None:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(printed[name])


def test_there_was_something_to_print(printed: dict[str, Any]) -> None:
    assert printed["pastchats_index"]["turns"]["new"] > 0
    assert printed["pastchats_search"]["results"]
    assert any(memory["whatWorked"] for memory in printed["pastchats_recall"]["memories"])
    assert any(memory["whatFailed"] for memory in printed["pastchats_recall"]["memories"])
    assert printed["pastchats_show"]["turns"]
