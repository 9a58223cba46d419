"""Questions that share no word with the memory that answers them; ``paraphrases/README.md`` says what they are."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Final, Literal, final

from attrs import frozen

from chatmemory.embedding.embedder import Matrix
from chatmemory.longterm.memories import NewMemory
from chatmemory_layers.embedding.local import Vectors
from tests.recall.quality import NOW, Question

PARAPHRASES: Final = Path(__file__).parent / "paraphrases" / "paraphrases.jsonl"
FIRST: Final = 5
Kind = Literal["zh", "en", "across"]
KINDS: Final[tuple[Kind, ...]] = ("zh", "en", "across")


@final
@frozen
class Paraphrase:
    """A memory of *person* and a question about it in other words."""

    person: str
    kind: Kind
    memory: str
    question: str


def paraphrases() -> list[Paraphrase]:
    """Read ``paraphrases.jsonl``."""
    lines = PARAPHRASES.read_text(encoding="utf-8").splitlines()
    return [Paraphrase(**json.loads(line)) for line in lines]


def of_each_person() -> Iterator[tuple[list[Paraphrase], list[NewMemory], list[Question]]]:
    """Yield what is asked of each person: the paraphrases, their memories, and their questions, in one order."""
    for _, lines in groupby(paraphrases(), key=lambda one: one.person):
        told = list(lines)
        memories = [NewMemory(one.memory, id=f"{place:03}", created_at=NOW) for place, one in enumerate(told)]
        asked = [Question(one.question, frozenset({f"{place:03}"}), NOW) for place, one in enumerate(told)]
        yield told, memories, asked


def found_by_vectors(vectors: Vectors) -> list[tuple[Kind, bool]]:
    """Return for each paraphrase whether its memory is among the first ``FIRST`` of its person, by vectors alone."""
    found: list[tuple[Kind, bool]] = []
    for told, _, _ in of_each_person():
        cosines: Matrix = vectors([one.question for one in told]) @ vectors([one.memory for one in told]).T
        places = (cosines > cosines.diagonal()[:, None]).sum(axis=1)
        found += [(one.kind, bool(place < FIRST)) for one, place in zip(told, places, strict=True)]
    return found


def shares(found: Sequence[tuple[Kind, bool]]) -> dict[str, float]:
    """Return the share that was found: of all, and of each kind."""
    of_kinds = {kind: fmean(is_found for its, is_found in found if its == kind) for kind in KINDS}
    return {"all": fmean(is_found for _, is_found in found), **of_kinds}
