"""How well and how fast the rules find memories in labelled texts: ``python benchmarks/extraction.py [--faults]``.

``held_out`` is what counts: the rules were tuned on the other texts.  ``--faults`` prints what was wrong or missed there;
who reads it and then improves a rule has tuned on it, and needs new texts.
"""

from __future__ import annotations

import sys
import time

from chatmemory.longterm.extraction.memory_extractor import ProposedMemory, Speaker
from chatmemory.longterm.extraction.rules import extract_by_rules
from tests.extraction.score import Labelled, Score, labelled, score

ROUNDS = 5


def by_rules(text: str, role: Speaker) -> tuple[ProposedMemory, ...]:
    return extract_by_rules(text, role=role)


def row(name: str, texts: list[Labelled], reached: Score) -> str:
    expected = sum(len(text.expected) for text in texts)
    return (
        f"{name:<22}{len(texts):>7}{expected:>10}{reached.precision:>11.3f}{reached.recall:>9.3f}"
        f"{reached.key_accuracy:>8.3f}{reached.category_accuracy:>10.3f}"
    )


def microseconds(texts: list[Labelled]) -> float:
    """Return the time of one text, the best of some rounds."""
    laps: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for text in texts:
            extract_by_rules(text.text, role=text.role)
        laps.append(time.process_time() - start)
    return min(laps) / len(texts) * 1e6


def main() -> None:
    print(f"{'':<22}{'texts':>7}{'memories':>10}{'precision':>11}{'recall':>9}{'key':>8}{'category':>10}")
    for name in ("tuned_on", "held_out"):
        texts = labelled(name)
        print(row(name, texts, score(texts, by_rules)))
        for language in ("zh", "en"):
            spoken = [text for text in texts if text.language == language]
            print(row(f"  {language}", spoken, score(spoken, by_rules)))
        silent = [text for text in texts if not text.expected]
        print(f"  of {len(silent)} that say nothing, {score(silent, by_rules).wrong} proposals")
    held_out = labelled("held_out")
    print(f"{microseconds(held_out):.0f} us a text")
    if "--faults" in sys.argv:
        print(*score(held_out, by_rules).faults, sep="\n")


if __name__ == "__main__":
    main()
