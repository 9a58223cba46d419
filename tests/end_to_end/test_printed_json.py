"""What the commands print with ``--json`` obeys the published schemas."""

import json
import shlex
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from past_chats_command import HISTORIES, Agent

from chatmemory.programs.json_schema import PRINTED

SCHEMAS = Path(__file__).parents[2] / "schemas"
COMMANDS = {
    "pastchats_index": f"index {HISTORIES}",
    "pastchats_search": "search '中文全文检索' --limit 5",
    "pastchats_recall": "recall --query 'sqlite database is locked'",
    "pastchats_show": "show SOURCE",
    "pastchats_stats": "stats",
    "pastchats_doctor": "doctor",
}


def test_what_a_command_prints_obeys_its_schema(tmp_path: Path) -> None:
    assert set(COMMANDS) == set(PRINTED)
    agent = Agent(tmp_path / "打印")
    told: dict[str, Any] = {}
    for name, command in COMMANDS.items():
        found = told["pastchats_search"]["results"][0]["source"] if "SOURCE" in command else ""
        asked = command.replace("SOURCE", shlex.quote(found))
        done = agent.run(f"pastchats-memory {asked} --json")
        assert (done.returncode, done.stderr) == (0, "") or name == "pastchats_index"  # it tells its progress
        told[name] = json.loads(done.stdout)
        schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
        Draft202012Validator(schema, format_checker=FormatChecker()).validate(told[name])
    assert told["pastchats_index"]["turns"]["new"] > 0
    for of_memory in ("whatWorked", "whatFailed"):
        assert any(memory[of_memory] for memory in told["pastchats_recall"]["memories"])
    assert told["pastchats_show"]["turns"]
