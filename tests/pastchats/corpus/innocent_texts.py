"""Texts without a secret that look as if they had one: what a redaction must leave as it is.

Kinds are headings, texts stand in lines and between bars (``\\n`` is a line break); parts are drawn as in
``true_secrets.py``.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from tests.pastchats.corpus.true_secrets import drawn

INNOCENT: Final = (Path(__file__).parents[2] / "data/innocent_texts.txt").read_text()


def innocent_texts(seed: int = 20) -> list[tuple[str, str]]:
    """Return kind and text of each; another *seed* draws other hashes, ids and pictures."""
    return list(_texts(Random(seed)))


def _texts(chance: Random) -> Iterator[tuple[str, str]]:
    kind = ""
    for line in INNOCENT.strip().splitlines():
        if line.startswith("# "):
            kind = line[2:]
        else:
            for text in line.split(" ¦ "):
                yield kind, drawn(text.replace("\\n", "\n"), chance)
