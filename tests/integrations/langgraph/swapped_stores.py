"""A pytest plugin that lets LangGraph's own tests of its stores run on ours.

LangGraph's names are bound to stores of ours before a test module is imported.  ``test_foreign_suites.py`` starts it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import langgraph.store.memory
import langgraph.store.sqlite
import langgraph.store.sqlite.aio
from langgraph.store.base import GetOp, Op, PutOp, Result

from chatmemory import Layer, ThreadRuntime
from chatmemory.integrations.langgraph import ChatMemoryStore
from chatmemory.settings.memory_settings import MemorySettings, Settings, StoreSettings
from chatmemory_layers import stacks

BREAK = os.environ.get(
    "BREAK_STORE", ""
)  # the kind of operation that is to do nothing, to see the suites notice it


def stack(place: str) -> Layer[Any, Any]:
    if place == ":memory:":
        return stacks.configured(Settings(memory=MemorySettings(store=StoreSettings(backend="in_memory"))))
    return stacks.embedded(place)


class Swapped(ChatMemoryStore):
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return super().batch(map(broken, ops) if BREAK else ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await super().abatch(map(broken, ops) if BREAK else ops)


def broken(op: Op) -> Op:
    """Return an operation that does nothing, when it is of the kind that is to be broken."""
    if type(op).__name__ != BREAK:
        return op
    match op:
        case PutOp():
            return op._replace(value=None)
        case GetOp():
            return op._replace(key="nobody has put this")
        case _:
            return op._replace(limit=0)


class SqliteStore(Swapped):
    @classmethod
    @contextmanager
    def from_conn_string(cls, place: str, *, index: Any = None, ttl: Any = None) -> Generator[SqliteStore]:
        with ThreadRuntime(stack(place)) as runtime:
            store = cls(runtime, index=index, ttl=ttl)
            yield store
            store.stop_ttl_sweeper()

    def setup(self) -> None:
        """Nothing is left to do."""


class AsyncSqliteStore(Swapped):
    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, place: str, *, index: Any = None, ttl: Any = None
    ) -> AsyncGenerator[AsyncSqliteStore]:
        async with ThreadRuntime(stack(place)) as runtime:
            store = cls(runtime, index=index, ttl=ttl)
            yield store
            await store.stop_ttl_sweeper()

    async def setup(self) -> None:
        """Nothing is left to do."""

    async def sweep_ttl(self) -> int:
        return await self.asweep_ttl()

    async def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        super().start_ttl_sweeper(sweep_interval_minutes)

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109  the store of langgraph names it
        return super().stop_ttl_sweeper(timeout)


class InMemoryStore(Swapped):
    def __init__(self, *, index: Any = None) -> None:
        super().__init__(ThreadRuntime(stack(":memory:")), index=index)


langgraph.store.sqlite.SqliteStore = SqliteStore
langgraph.store.sqlite.AsyncSqliteStore = AsyncSqliteStore
langgraph.store.sqlite.aio.AsyncSqliteStore = AsyncSqliteStore
langgraph.store.memory.InMemoryStore = InMemoryStore
