"""What can be imported from chatmemory, when it runs and when it is only read."""

import ast
from pathlib import Path

import pytest

import chatmemory


def names_for_type_checkers() -> set[str]:
    tree = ast.parse(Path(chatmemory.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    return {name.name for node in block.body if isinstance(node, ast.ImportFrom) for name in node.names}


def test_a_program_and_its_type_checker_see_the_same_names() -> None:
    assert set(dir(chatmemory)) == names_for_type_checkers()


@pytest.mark.parametrize("name", dir(chatmemory))
def test_every_name_is_there(name: str) -> None:
    assert getattr(chatmemory, name) is not None


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'ChatMemry'"):
        chatmemory.ChatMemry  # noqa: B018  the point
