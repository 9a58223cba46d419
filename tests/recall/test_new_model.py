"""A store with vectors of an earlier model: searched by words until they are made anew, never with vectors of two models."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from chatmemory import ManagedRuntime, Namespace
from chatmemory.embedding.embedder import EmbedderTag, Matrix
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import NewMemory
from chatmemory.pastchats.past_chats import SourceChanges
from chatmemory.testing import Stub
from chatmemory_layers import stacks
from chatmemory_layers.embedding.bundled import MODEL
from chatmemory_layers.embedding.composite import hashed_rows
from chatmemory_layers.embedding.local import static
from tests.indexed import Indexed, open_index
from tests.searched import searching

MEI = Namespace("mei")
EARLIER = "chatmemory-static-1"
ALLERGY = "用户对花生过敏"
CAT = "家里养了一只橘猫"


def earlier_rows(texts: Sequence[str]) -> Matrix:
    """Return the vectors of the bundled model before glosses, which had other dimensions."""
    return np.ascontiguousarray(hashed_rows(texts)[:, 256:])


earlier = Stub(
    EmbedderTag, model=EARLIER, similarity_threshold=0.2, unavailability=lambda: None, embed=earlier_rows
).layer


async def test_memories_of_an_earlier_model_are_found_by_words_until_they_are_embedded_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    async with ManagedRuntime(stacks.embedded(path, embedder=earlier)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        await memory.remember(MEI, [NewMemory(ALLERGY), NewMemory(CAT)]).or_raise()
    async with ManagedRuntime(stacks.embedded(path)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        by_words = await memory.recall(MEI, "花生").or_raise()
        assert [hit.memory.content for hit in by_words.hits] == [ALLERGY]
        assert (by_words.mode, by_words.coverage.embedded) == ("lexical", 0)
        assert MODEL in by_words.reason
        assert (await memory.recall(MEI, "pets").or_raise()).hits == ()

        await memory.remember(MEI, [NewMemory("每天喝龙井茶")]).or_raise()
        mixed = await memory.recall(MEI, "花生").or_raise()
        assert {hit.memory.content: hit.signals.similarity is None for hit in mixed.hits}[ALLERGY]

        counted = await memory.re_embed(MEI, limit=0).or_raise()
        assert (counted.embedded, counted.remaining) == (0, 2)
        report = await memory.re_embed(MEI).or_raise()
        assert (report.embedded, report.remaining) == (2, 0)
        by_meaning = await memory.recall(MEI, "the cat that lives with her").or_raise()
        assert by_meaning.mode == "hybrid"
        assert by_meaning.hits[0].memory.content == CAT


def models(past: Indexed) -> dict[str, int]:
    return dict(past.live.repository.statistics().run_sync().unwrap().models)


def test_past_chats_of_an_earlier_model_are_embedded_anew_batch_by_batch(tmp_path: Path) -> None:
    with open_index(tmp_path, embedder=earlier) as past:
        past.write("s1.jsonl", ("user", ALLERGY), ("user", CAT))
        past.index()
    with open_index(tmp_path, embedder=static) as past:
        search = searching(past.live.repository)
        before = search.search("花生过敏").run_sync().unwrap()
        assert [hit.prompt.content for hit in before.hits][:1] == [ALLERGY]
        assert before.mode == "lexical"
        assert f"2 turns have no vector of {MODEL}" in before.reason

        past.write("s1.jsonl", ("user", ALLERGY), ("user", CAT), ("user", "每天喝龙井茶"))
        assert past.index().turns == SourceChanges(new=1, unchanged=2)
        assert models(past) == {EARLIER: 2, MODEL: 1}
        mixed = search.search("花生过敏 cat").run_sync().unwrap()
        compared = {hit.prompt.content: hit.similarity is not None for hit in mixed.hits}
        assert not compared[ALLERGY]

        assert past.run(past.live.re_embed()).unwrap() == 2
        assert past.run(past.live.re_embed()).unwrap() == 0
        assert models(past) == {MODEL: 3}
        after = search.search("the cat that lives with her").run_sync().unwrap()
        assert (after.mode, after.hits[0].prompt.content) == ("hybrid", CAT)
