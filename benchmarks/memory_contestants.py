"""The contestants: ways to keep memories and to find them again by a vector, chatmemory and its peers.

Each stores what a call gives it durably before it answers, apart for each user and application, and makes no vector of
its own: they come from a table.  How they are timed stands in ``memory_contest.py``.
"""

# ruff: noqa: ARG002  they answer to one protocol, whatever they need of it

from __future__ import annotations

import os
import sqlite3  # noqa: TID251  asked whether it can load what a peer needs
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar, Protocol

from contestants import WAL_FULL
from memories import DIM, Question, World, given_vectors

from chatmemory import LongTermMemory, LongTermMemoryService, ManagedRuntime, Namespace, NewMemory
from chatmemory.longterm.saving.memory_drafts import memory_terms
from chatmemory.settings.memory_settings import (
    MemorySettings,
    RetrievalSettings,
    Settings,
    SqliteSettings,
    StoreSettings,
)
from chatmemory_layers.stacks import Stack, configured

PACKAGES = ("langgraph-checkpoint-sqlite", "sqlite-vec", "mem0ai", "qdrant-client", "faiss-cpu")


class GivenLists:
    """The vectors of texts as peers take them from an embedder: lists of numbers, made before the clock runs."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.of_questions: dict[str, list[float]] = {one.text: one.vector.tolist() for one in questions}
        self.lists = self.of_questions

    def learn(self, memories: Sequence[NewMemory]) -> None:
        """Know *memories*, and no longer those before: 100,000 lists would fill the machine."""
        learnt = {one.content: list(map(float, one.embedding.vector)) for one in memories if one.embedding}
        self.lists = self.of_questions | learnt

    def of(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.lists[text] for text in texts]


class Contestant(Protocol):
    """A way to keep memories."""

    name: ClassVar[str]
    durability: ClassVar[str]

    async def open(self, folder: Path, world: World, given: GivenLists) -> None:
        """Begin a store in *folder*."""

    async def put(self, namespace: Namespace, memories: Sequence[NewMemory]) -> None:
        """Store *memories* durably, in one call."""

    async def search(self, namespace: Namespace, question: Question, limit: int) -> list[str]:
        """Return the contents of what belongs to *question*, best first."""

    async def close(self) -> None:
        """Leave nothing open."""


class Ours:
    """chatmemory's service over its SQLite stack: by words and by vector, weighed by age."""

    name: ClassVar[str] = "chatmemory"
    durability: ClassVar[str] = WAL_FULL
    retrieval: ClassVar[RetrievalSettings] = RetrievalSettings()
    memory: LongTermMemory

    async def open(self, folder: Path, world: World, given: GivenLists) -> None:
        for text in world.texts:  # so that the stemmer knows their words, as it does after a while
            memory_terms(text)
        self.open_things = AsyncExitStack()
        runtime = ManagedRuntime(self.stack(folder / f"{type(self).__name__}.db", world))
        self.memory = await (await self.open_things.enter_async_context(runtime)).service(
            LongTermMemoryService
        )

    def stack(self, path: Path, world: World) -> Stack:
        store = StoreSettings(backend="sqlite", sqlite=SqliteSettings(path=str(path)))
        settings = Settings(memory=MemorySettings(store=store, retrieval=self.retrieval))
        return configured(settings, embedder=given_vectors(world))

    async def put(self, namespace: Namespace, memories: Sequence[NewMemory]) -> None:
        report = await self.memory.remember(namespace, memories).or_raise()
        assert len(report.stored) == len(memories)

    async def search(self, namespace: Namespace, question: Question, limit: int) -> list[str]:
        found = await self.memory.recall(namespace, question.text, limit=limit).or_raise()
        return [hit.memory.content for hit in found.hits]

    async def close(self) -> None:
        await self.open_things.aclose()


class OursByVector(Ours):
    """The same with words that count nothing, as those of the peers do."""

    name: ClassVar[str] = "chatmemory, words weigh 0"
    retrieval: ClassVar[RetrievalSettings] = RetrievalSettings(lexical_share=0)


class LangGraph:
    """LangGraph's ``SqliteStore``; it keeps memories apart by their namespace."""

    name: ClassVar[str] = "LangGraph SqliteStore"
    durability: ClassVar[str] = WAL_FULL
    store: Any

    async def open(self, folder: Path, world: World, given: GivenLists) -> None:
        from langgraph.store.sqlite import SqliteStore

        self.open_things = AsyncExitStack()
        index = {"dims": DIM, "embed": given.of, "text_fields": ["text"]}
        self.store = self.open_things.enter_context(
            SqliteStore.from_conn_string(str(folder / f"{type(self).__name__}.db"), index=index)
        )
        self.store.setup()

    async def run(self, operations: Sequence[Any]) -> list[Any]:
        return list(self.store.batch(operations))

    async def put(self, namespace: Namespace, memories: Sequence[NewMemory]) -> None:
        from langgraph.store.base import PutOp

        place = (namespace.user, namespace.app)
        await self.run([PutOp(place, str(memory.id), {"text": memory.content}) for memory in memories])

    async def search(self, namespace: Namespace, question: Question, limit: int) -> list[str]:
        from langgraph.store.base import SearchOp

        place = (namespace.user, namespace.app)
        (items,) = await self.run([SearchOp(place, query=question.text, limit=limit)])
        return [item.value["text"] for item in items]

    async def close(self) -> None:
        await self.open_things.aclose()


class LangGraphAsync(LangGraph):
    """Its sister over aiosqlite."""

    name: ClassVar[str] = "LangGraph AsyncSqliteStore"
    durability: ClassVar[str] = WAL_FULL

    async def open(self, folder: Path, world: World, given: GivenLists) -> None:
        from langgraph.store.sqlite.aio import AsyncSqliteStore

        async def embed(texts: Sequence[str]) -> list[list[float]]:
            return given.of(texts)

        self.open_things = AsyncExitStack()
        index = {"dims": DIM, "embed": embed, "text_fields": ["text"]}
        self.store = await self.open_things.enter_async_context(
            AsyncSqliteStore.from_conn_string(str(folder / f"{type(self).__name__}.db"), index=index)
        )
        await self.store.setup()

    async def run(self, operations: Sequence[Any]) -> list[Any]:
        return list(await self.store.abatch(operations))


class Mem0:
    """mem0 over the store that it takes by default, Qdrant without a server; no model writes its memories.

    Its asynchronous sister cannot be raced: over this store, tasks that add at the same time break each other's
    transactions.
    """

    name: ClassVar[str] = "mem0, Qdrant"
    durability: ClassVar[str] = "as its parts do by default"
    provider: ClassVar[str] = "qdrant"
    settings: ClassVar[dict[str, object]] = {}

    async def open(self, folder: Path, world: World, given: GivenLists) -> None:
        from mem0 import Memory

        store = {
            "path": str(folder / self.provider),
            "collection_name": "memories",
            "embedding_model_dims": DIM,
        }
        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": self.provider, "config": store | self.settings},
                "history_db_path": str(folder / f"{self.provider}_history.db"),
                "embedder": unused,
                "llm": unused,
            }
        )
        self.memory.embedding_model = Mem0Embedder(given)

    async def put(self, namespace: Namespace, memories: Sequence[NewMemory]) -> None:
        messages = [{"role": "user", "content": memory.content} for memory in memories]
        self.memory.add(messages, user_id=namespace.user, agent_id=namespace.app, infer=False)

    async def search(self, namespace: Namespace, question: Question, limit: int) -> list[str]:
        scope = {"user_id": namespace.user, "agent_id": namespace.app}
        found = self.memory.search(question.text, top_k=limit, filters=scope)
        return [memory["memory"] for memory in found["results"]]

    async def close(self) -> None:
        self.memory.close()


class Mem0Faiss(Mem0):
    """mem0 over FAISS, which holds everything in memory and writes it to a file anew with each memory."""

    name: ClassVar[str] = "mem0, FAISS"
    durability: ClassVar[str] = "as its parts do by default"
    provider: ClassVar[str] = "faiss"
    settings: ClassVar[dict[str, object]] = {"distance_strategy": "cosine"}


class Mem0Embedder:
    """What mem0 asks for vectors."""

    def __init__(self, given: GivenLists) -> None:
        self.given = given

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.given.lists[text]


def versions() -> str:
    """Return the versions of what is installed and counts."""
    found = [f"SQLite {sqlite3.sqlite_version}"]
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return ", ".join(found)


def langgraph() -> list[type[Contestant]]:
    """Return its stores, none where they cannot run."""
    try:
        import langgraph.store.sqlite  # noqa: F401  optional
    except ImportError:
        print("LangGraph's stores are not installed and left out: pip install langgraph-checkpoint-sqlite")
        return []
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        print("LangGraph's stores are left out: this Python cannot load sqlite-vec; Debian's can")
        return []
    return [LangGraph, LangGraphAsync]


def mem0(folder: Path) -> list[type[Contestant]]:
    """Return it over the stores that are installed; it leaves its own settings in *folder*."""
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}  # read when it is imported
    kinds: list[type[Contestant]] = []
    try:
        import mem0  # noqa: F401  optional
        import qdrant_client  # noqa: F401  optional

        kinds.append(Mem0)
        import faiss  # noqa: F401  optional

        kinds.append(Mem0Faiss)
    except ImportError as absent:
        print(f"mem0 is left out, or one of its stores ({absent}): pip install mem0ai faiss-cpu")
    return kinds
