"""A block of ours is found in a history of any length: each line is matched in one way alone.

The hostile texts are of a million characters, at which an expression that tries two ways for each never comes back.
"""

from chatmemory.pastchats.finding.recall_echo import END, HEADING, NOTICE, SOURCE, without_recall_blocks
from tests.for_each import for_each

BLOCK = f"{HEADING}\n{NOTICE}"
MILLION = 1_000_000

NO_BLOCK = {
    "headings": f"{HEADING}\n" * (MILLION // 16),
    "empty lines": HEADING + "\n" * MILLION + "x",
    "blank lines": HEADING + " \n" * (MILLION // 2) + "x",
    "a wide heading": HEADING + " " * MILLION + "x",
    "an indented heading": " " * MILLION + HEADING,
}
BLOCK_AND_REST = {
    "an indented line": (BLOCK, "\n" + " " * MILLION + "x"),
    "a number without end": (BLOCK, "\n## " + "1" * MILLION),
    "quotes that end in blanks": (BLOCK + ("\n> " + " " * 97) * (MILLION // 100), "\nx"),
    "sources that end in blanks": (BLOCK + f"\n{SOURCE}\t \t" * (MILLION // 12), f"\n{END} x"),
    "an end that is wide": (BLOCK, f"\n{END}" + " " * MILLION + "x"),
}


@for_each("text", NO_BLOCK.values())
def test_a_million_characters_that_are_nearly_a_block_stay(text: str) -> None:
    assert without_recall_blocks(text) == text


@for_each(("block", "rest"), BLOCK_AND_REST.values())
def test_a_block_ends_before_a_million_characters_that_are_nearly_of_it(block: str, rest: str) -> None:
    assert without_recall_blocks(f"before\n{block}{rest}").split() == ["before", *rest.split()]


@for_each("indent", ["", "  ", "\t"])
def test_a_block_is_found_under_any_indent(indent: str) -> None:
    lines = (*BLOCK.split("\n"), "## 1. Retry?", "What worked:", "> Backoff.", "", f"{SOURCE}/h#1", END)
    block = "\n".join(f"{indent}{line}{indent}" for line in lines)
    assert without_recall_blocks(f"before\n{block}\nafter").split() == ["before", "after"]
