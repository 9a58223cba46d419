"""The corpus of texts that try to leave their place: ``tests/data/injections.jsonl``.

One JSON object per line: *kind*, *name*, *text*, and how many *times* the text is repeated.  ``FENCE`` in a text stands
for the fence that the attacker has guessed.
"""

import json
from pathlib import Path

LINES = (Path(__file__).parent / "data" / "injections.jsonl").read_text(encoding="utf-8").split("\n")
ROWS = [json.loads(line) for line in LINES if line]


def injections(*, fence: str) -> dict[str, str]:
    """Return the texts under their names, for an attacker who knows *fence*."""
    return {row["name"]: row["text"].replace("FENCE", fence) * row.get("times", 1) for row in ROWS}
