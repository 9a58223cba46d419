"""An embedder whose vectors a test foresees, alone and in a whole stack."""

from math import hypot

import numpy as np
import pytest

from chatmemory import EmbedderTag, Layer, LongTermMemoryService, ManagedRuntime, Namespace, NewMemory
from chatmemory.effect import Failure, Success
from chatmemory.errors import EmbeddingError
from chatmemory.testing import Spy, TableEmbedder
from chatmemory_layers import stacks

pytestmark = pytest.mark.anyio

MEI = Namespace("梅")
TABLE = {"我喜欢喝茶": (1.0, 0.0), "I bike to work": (0.0, 2.0), "饮料": (3.0, 4.0), "": (0.0, 0.0)}


async def test_a_row_has_length_one_in_the_direction_that_the_table_says() -> None:
    rows = await TableEmbedder(table=TABLE).embed(["饮料", "I bike to work", ""]).or_raise()
    assert (rows.dtype, rows.shape) == (np.float32, (3, 2))
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0, 1], [0, 0]]))
    assert (await TableEmbedder(table=TABLE).embed([]).or_raise()).shape == (0, 2)
    embedder = TableEmbedder(table=TABLE)
    assert await embedder.embed_query("饮料").or_raise() == pytest.approx([0.6, 0.8])
    assert await embedder.embed_query("") == Success(None)


async def test_a_text_that_the_table_lacks_fails_and_is_named_and_every_call_is_noted() -> None:
    detail = "no vector of '咖啡' in the table; add one, or say unknown='hashed'"
    lacking = Failure(EmbeddingError("table", "refused", detail))
    embedder = TableEmbedder(table=TABLE)
    assert await embedder.embed(["饮料", "咖啡"]) == lacking
    assert await embedder.embed_query("咖啡") == lacking
    embedder = TableEmbedder(table=TABLE)
    await embedder.embed(["饮料", "我喜欢喝茶"])
    assert isinstance(await embedder.embed(["咖啡"]), Failure)
    await embedder.embed_query("饮料")
    assert embedder.asked == [("饮料", "我喜欢喝茶"), ("咖啡",), ("饮料",)]
    with pytest.raises(ValueError, match=r"one dimension, not \[1, 2\]"):
        TableEmbedder(table={"a": (1,), "b": (1, 2)})


async def test_it_may_be_drawn_by_chance_instead_the_same_each_time() -> None:
    first, second = (TableEmbedder(unknown="hashed") for _ in range(2))
    rows = await first.embed(["咖啡", "coffee"]).or_raise()
    assert rows.shape == (2, 8)
    assert (rows == await second.embed(["咖啡", "coffee"]).or_raise()).all()
    assert hypot(*await first.embed_query("咖啡").or_raise() or ()) == pytest.approx(1)
    assert rows[0] @ rows[1] < 0.99


async def test_a_stack_recalls_by_the_table_and_says_when_its_embedder_fails() -> None:
    embedder = TableEmbedder(table=TABLE)
    refused = EmbeddingError("table", "unavailable", "the test says so")
    spy = Spy(EmbedderTag, embed=[embedder.embed(["我喜欢喝茶"]), embedder.embed(["饮料"]), Failure(refused)])
    given = Layer.succeed(EmbedderTag, embedder) >> spy.layer
    async with ManagedRuntime(stacks.testing(embedder=given)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        await memory.remember(MEI, [NewMemory("我喜欢喝茶")]).or_raise()
        recalled = await memory.recall(MEI, "饮料").or_raise()
        assert [hit.memory.content for hit in recalled.hits] == ["我喜欢喝茶"]
        assert (await memory.recall(MEI, "饮料").or_raise()).mode == "lexical"
