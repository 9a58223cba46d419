"""``traps.yml`` names every trap of real histories and the tests for it."""

import ast
from functools import cache
from pathlib import Path

import yaml

from tests.formats.small_histories import SMALL, TALK
from tests.indexed import open_index

ROOT = Path(__file__).parents[2]
TRAPS: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_name("traps.yml").read_text())


@cache
def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_of_32_traps_has_tests() -> None:
    assert len(TRAPS) == 32
    assert all(TRAPS.values())
    named = [test.split("::") for tests in TRAPS.values() for test in tests]
    assert [(path, test) for path, test in named if test not in functions(path)] == []


def test_a_chat_that_was_exported_twice_is_kept_twice_and_found_once(tmp_path: Path) -> None:
    with open_index(tmp_path) as past:
        for name in ("role_list", "markdown"):
            for path, history in SMALL[name].items():
                past.write_text(path, history)
        report = past.index()
        assert report.read == {"role_list": 1, "markdown": 1}
        hashes = [text_hash for (text_hash,) in past.rows("text_hash")]
        assert (len(hashes), len(set(hashes))) == (2 * len(TALK), len(TALK))
