"""How many questions that share no word with their answer find it: ``python benchmarks/paraphrases.py``.

The questions are those of ``tests/recall/paraphrases``, each asked of the 54 memories of its person, in Chinese, in English,
and from one to the other.  Figures are the share of answers among the first 5: by the vectors of the bundled model alone,
by those of hashed features, and by recall as it is configured, words and all.
"""

import asyncio

from chatmemory import ManagedRuntime
from chatmemory.effect import Layer
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.settings.memory_settings import RetrievalSettings
from chatmemory_layers.embedding.composite import composite_rows, hashed_rows
from chatmemory_layers.embedding.local import static
from chatmemory_layers.embedding.none import none
from chatmemory_layers.in_memory.memory_repository import memory_repository
from tests.recall.paraphrases import FIRST, Kind, found_by_vectors, of_each_person, shares
from tests.recall.quality import search_all

CANDIDATES = 50  # of each way of searching, as recall asks for


async def found_by_recall(embedder: Layer[EmbedderTag]) -> list[tuple[Kind, bool]]:
    found: list[tuple[Kind, bool]] = []
    for told, memories, asked in of_each_person():
        async with ManagedRuntime(memory_repository | embedder) as runtime:
            searched = (await runtime.run(search_all(memories, asked, limit=CANDIDATES))).unwrap()
        for one, search in zip(told, searched, strict=True):
            first = search.ranked(RetrievalSettings())[:FIRST]
            found.append((one.kind, not search.question.answers.isdisjoint(first)))
    return found


def show(name: str, found: list[tuple[Kind, bool]]) -> None:
    measured = "   ".join(f"{kind} {share:.3f}" for kind, share in shares(found).items())
    print(f"{name:<28}{measured}", flush=True)


async def main() -> None:
    show("vectors of hashed features", found_by_vectors(hashed_rows))
    show("vectors alone", found_by_vectors(composite_rows))
    show("recall, words alone", await found_by_recall(none))
    show("recall", await found_by_recall(static))


if __name__ == "__main__":
    asyncio.run(main())
