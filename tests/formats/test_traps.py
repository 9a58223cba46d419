"""``traps.yml`` names every trap of real histories and a test for each."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.for_each import for_each
from tests.formats.small_histories import ROLE_LIST
from tests.indexed import open_index

ROOT = Path(__file__).parents[2]
TRAPS: dict[int, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "traps.yml").read_text())

THE_SAME_IN_MARKDOWN = """**User:**

How do I undo the last commit without losing my work?

**Assistant:**

Run git reset --soft HEAD~1: the changes stay staged.

**User:**

谢谢！如果已经推送到远程仓库了怎么办？

**Assistant:**

那就用 git revert HEAD，它会新建一个反向的提交，不改写历史。
"""


@cache
def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_there_are_32_traps() -> None:
    assert list(TRAPS) == list(range(1, 33))


@for_each("number", TRAPS)
def test_each_trap_has_tests(number: int) -> None:
    tests: list[str] = TRAPS[number]["tests"]
    assert tests
    assert [test for test in tests if test.partition("::")[2] not in functions(test.partition("::")[0])] == []


def test_a_chat_that_was_exported_twice_is_kept_twice_and_found_once(tmp_path: Path) -> None:
    with open_index(tmp_path) as past:
        past.write_text("chat.json", ROLE_LIST)
        past.write_text("chat.md", THE_SAME_IN_MARKDOWN)
        report = past.index()
        assert report.read == {"role_list": 1, "markdown": 1}
        hashes = [text_hash for (text_hash,) in past.rows("text_hash")]
        assert (len(hashes), len(set(hashes))) == (8, 4)
