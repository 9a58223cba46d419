"""An embedder of this process: loaded once, by the first who needs it."""

import time
from collections.abc import Sequence

import anyio
import numpy as np

from chatmemory.embedding.embedder import Matrix
from chatmemory_layers.embedding.local import LocalEmbedder, Vectors


def ones(texts: Sequence[str]) -> Matrix:
    return np.ones((len(texts), 1), dtype=np.float32)


async def test_it_is_loaded_once_however_many_come_first() -> None:
    loads: list[str] = []

    def load() -> Vectors:
        loads.append("began")
        time.sleep(0.05)  # in a worker thread, while the others come
        return ones

    embedder = LocalEmbedder("m", load, is_quick=True)
    assert loads == []
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(embedder.embed(["茶"]).or_raise)
    assert loads == ["began"]
