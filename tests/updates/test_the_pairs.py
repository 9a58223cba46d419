"""``updates.jsonl`` is what its README says: so many lines of each kind and language, each of the shape that is described."""

import json
import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
PAIRS: Final[list[dict[str, Any]]] = [
    json.loads(line) for line in (HERE / "updates.jsonl").read_text("utf-8").splitlines()
]
KINDS: Final = {"update": 118, "end": 36, "trap": 80}
TRAPS: Final = {
    "several-valued",
    "other person",
    "hypothetical",
    "quoted",
    "past tense",
    "another app",
    "question",
    "negated wish",
    "assistant or tool said it",
    "similar but different attribute",
}
FIELDS: Final = {
    "id",
    "language",
    "kind",
    "attribute",
    "trap",
    "turns",
    "question",
    "current",
    "stale",
    "kept",
}
HAN: Final = re.compile(r"[\u4e00-\u9fff]")


def turns_with(pair: dict[str, Any], part: str) -> list[dict[str, str]]:
    """Return the turns of *pair* in which *part* stands, upper and lower case being the same."""
    return [turn for turn in pair["turns"] if part.lower() in turn["content"].lower()]


def test_there_are_as_many_of_each_kind_as_are_told() -> None:
    assert Counter(pair["kind"] for pair in PAIRS) == KINDS
    told = (HERE / "README.md").read_text("utf-8")
    assert f"Each of its {len(PAIRS)} lines" in told
    assert "{update} lines update a fact, {end} end one, and {trap} are traps".format(**KINDS) in told
    assert f"{len({pair['attribute'] for pair in PAIRS})} of them" in told


def test_half_of_each_kind_is_chinese() -> None:
    of_each = Counter((pair["kind"], pair["language"]) for pair in PAIRS)
    assert of_each == {(kind, language): n // 2 for kind, n in KINDS.items() for language in ("en", "zh")}


def test_a_third_are_traps_and_as_many_of_each_trap() -> None:
    assert KINDS["trap"] * 3 >= len(PAIRS)
    assert Counter(pair["trap"] for pair in PAIRS if pair["kind"] == "trap") == dict.fromkeys(TRAPS, 8)


def test_each_id_is_there_once() -> None:
    assert len({pair["id"] for pair in PAIRS}) == len(PAIRS)


def test_a_line_has_the_fields_that_are_described() -> None:
    for pair in PAIRS:
        assert pair.keys() == FIELDS
        assert pair["language"] in pair["id"].split("-"), pair["id"]
        assert pair["attribute"], pair["id"]
        assert pair["question"], pair["id"]
        assert 2 <= len(pair["turns"]) <= 4, pair["id"]
        for turn in pair["turns"]:
            assert {"role", "content"} <= turn.keys() <= {"role", "content", "app", "at"}, pair["id"]
            assert turn["role"] in {"user", "assistant", "tool"}, pair["id"]
            assert turn["content"].strip(), pair["id"]
        at = [datetime.fromisoformat(turn["at"]) for turn in pair["turns"] if "at" in turn]
        assert at == sorted(at), pair["id"]
        assert all(one.tzinfo is not None for one in at), pair["id"]


def test_a_line_is_in_its_language() -> None:
    for pair in PAIRS:
        assert bool(HAN.search(pair["question"])) == (pair["language"] == "zh"), pair["id"]


def test_a_trap_retires_nothing_and_every_other_line_something() -> None:
    for pair in PAIRS:
        is_trap = pair["kind"] == "trap"
        assert is_trap == (pair["trap"] is not None) == (pair["stale"] is None), pair["id"]
        assert pair["kept"] or not is_trap, pair["id"]
        assert pair["current"] is not None or pair["kind"] != "update", pair["id"]


def test_each_part_stands_where_it_is_said_to_stand() -> None:
    for pair in PAIRS:
        assert pair["current"] is None or turns_with(pair, pair["current"]), pair["id"]
        for part in (pair["stale"], *pair["kept"]):
            if part is not None:
                assert [turn["role"] for turn in turns_with(pair, part)] == ["user"], pair["id"]
