"""What a type checker keeps of our constants can be written down."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = [ROOT / "chatmemory", ROOT / "layers/chatmemory_layers"]


def _is_written(text: object) -> bool:
    return not isinstance(text, str) or text.isascii() or text.encode(errors="ignore").decode() == text


def test_no_constant_holds_half_a_character() -> None:
    # mypy 1.20 to 2.3 put the literal type of a constant into their cache, as UTF-8, and end with an internal error,
    # in the checks of everybody who imports us.
    constants = [
        (module.name, node.lineno, node.value.value)
        for package in PACKAGES
        for module in package.rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
    ]
    assert len(constants) > 100
    assert [(name, line) for name, line, text in constants if not _is_written(text)] == []
