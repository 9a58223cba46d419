"""The contestants: ways to keep the messages of conversations, from the bare disk to chatmemory and its peers.

Each stores one message per call, durably, before it answers.  How they are timed stands in ``contest.py``.
"""

# ruff: noqa: ARG002, TID251  they answer to one protocol, whatever they need of it, and bring their own drivers

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Protocol

import aiosqlite

from chatmemory import ChatMemory, ChatMemoryService, ManagedRuntime, NewMessage, ThreadRuntime
from chatmemory_layers.sqlite.memories import memory_store
from chatmemory_layers.sqlite.messages import message_writes
from chatmemory_layers.stacks import Stack, embedded, postgres

KEPT_OPEN = (
    64  # sessions of openai-agents; with more conversations one is made for each call, as its documents do
)

WAL_FULL = "on disk: WAL, synchronous=FULL"
"""What ``contest.durable`` sets for everybody; openai-agents sets WAL and leaves FULL, the default of SQLite."""

CREATE = """
CREATE TABLE message (conversation TEXT NOT NULL, id INTEGER PRIMARY KEY, role TEXT, content TEXT, sent_at REAL);
CREATE INDEX message_conversation ON message (conversation, id);
"""
INSERT = "INSERT INTO message (conversation, role, content, sent_at) VALUES (?, ?, ?, 0)"
SELECT_LAST = "SELECT role, content FROM message WHERE conversation = ? ORDER BY id DESC LIMIT ?"
COUNT = "SELECT count(*) FROM message"


class Contestant(Protocol):
    """A way to keep messages.

    Attributes:
        name: what the tables call it.
        durability: what has happened when it answers.
    """

    name: ClassVar[str]
    durability: ClassVar[str]

    async def open(self, folder: Path, conversations: int) -> None:
        """Begin a store in *folder*, for so many conversations."""

    async def close(self) -> None:
        """Leave nothing open."""


class Appender(Contestant, Protocol):
    """One that can be asked how fast it stores."""

    async def append(self, conversation_id: str, content: str) -> None:
        """Store a message durably."""

    async def count(self, conversation_ids: Sequence[str]) -> int:
        """Count the messages that are stored; the last call before ``close``."""


class Reader(Contestant, Protocol):
    """One that can be asked how fast it reads."""

    async def load(self, conversation_id: str, contents: Sequence[str]) -> None:
        """Store many messages at once."""

    async def last(self, conversation_id: str, limit: int) -> list[str]:
        """Return the contents of the newest messages, oldest first."""


class Fdatasync:
    """What the disk gives at this moment: a page and a sync for each message, and nothing kept of it."""

    name: ClassVar[str] = "disk: fdatasync"
    durability: ClassVar[str] = "on disk, nothing kept"

    async def open(self, folder: Path, conversations: int) -> None:
        self.file = os.open(folder / "probe", os.O_RDWR | os.O_CREAT)
        self.written = 0

    async def append(self, conversation_id: str, content: str) -> None:
        os.pwrite(self.file, b"\0" * 4096, self.written % 1024 * 4096)
        os.fdatasync(self.file)
        self.written += 1

    async def count(self, conversation_ids: Sequence[str]) -> int:
        return self.written

    async def close(self) -> None:
        os.close(self.file)


class GroupCommit:
    """The limit: a thread that inserts whatever has gathered and commits it together, by hand and for this alone."""

    name: ClassVar[str] = "limit: group commit"
    durability: ClassVar[str] = WAL_FULL

    async def open(self, folder: Path, conversations: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.waiting: list[tuple[tuple[str, str, str], asyncio.Future[None]]] = []
        self.lock = threading.Lock()
        self.bell = threading.Semaphore(0)
        self.is_closing = False
        self.stored = 0
        self.thread = threading.Thread(target=self.commit_for_ever, args=(folder / "limit.db",))
        self.thread.start()

    def commit_for_ever(self, path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.executescript(CREATE)
        while True:
            self.bell.acquire()
            with self.lock:
                group, self.waiting = self.waiting, []
            if not group and self.is_closing:
                break
            if group:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(INSERT, [row for row, _ in group])
                connection.execute("COMMIT")
                self.loop.call_soon_threadsafe(self.acknowledge, [future for _, future in group])
        (self.stored,) = connection.execute(COUNT).fetchone()
        connection.close()

    def acknowledge(self, futures: Sequence[asyncio.Future[None]]) -> None:
        for future in futures:
            future.set_result(None)

    async def append(self, conversation_id: str, content: str) -> None:
        future = self.loop.create_future()
        with self.lock:
            self.waiting.append(((conversation_id, "user", content), future))
            is_first = len(self.waiting) == 1
        if is_first:
            self.bell.release()
        await future

    async def count(self, conversation_ids: Sequence[str]) -> int:
        await self.close()  # its only connection lives on the thread
        return self.stored

    async def close(self) -> None:
        self.is_closing = True
        self.bell.release()
        await asyncio.to_thread(self.thread.join)


class RawAiosqlite:
    """aiosqlite as one would use it by hand: a connection, and a transaction for each call."""

    name: ClassVar[str] = "raw aiosqlite"
    durability: ClassVar[str] = WAL_FULL

    async def open(self, folder: Path, conversations: int) -> None:
        self.connection = await aiosqlite.connect(folder / "raw.db", isolation_level=None)
        await self.connection.executescript(CREATE)

    async def append(self, conversation_id: str, content: str) -> None:
        await self.connection.execute(INSERT, (conversation_id, "user", content))

    async def load(self, conversation_id: str, contents: Sequence[str]) -> None:
        await self.connection.execute("BEGIN")
        await self.connection.executemany(
            INSERT, [(conversation_id, "user", content) for content in contents]
        )
        await self.connection.execute("COMMIT")

    async def last(self, conversation_id: str, limit: int) -> list[str]:
        rows = list(await self.connection.execute_fetchall(SELECT_LAST, (conversation_id, limit)))
        return [content for _, content in reversed(rows)]

    async def count(self, conversation_ids: Sequence[str]) -> int:
        ((stored,),) = await self.connection.execute_fetchall(COUNT)
        return int(stored)

    async def close(self) -> None:
        await self.connection.close()


class Ours:
    """chatmemory's service over its SQLite stack."""

    name: ClassVar[str] = "chatmemory"
    durability: ClassVar[str] = WAL_FULL
    memory: ChatMemory

    async def open(self, folder: Path, conversations: int) -> None:
        self.open_things = AsyncExitStack()
        runtime = await self.open_things.enter_async_context(ManagedRuntime(self.stack(folder)))
        self.memory = await runtime.service(ChatMemoryService)

    def stack(self, folder: Path) -> Stack:
        return embedded(folder / "ours.db")

    async def append(self, conversation_id: str, content: str) -> None:
        await self.memory.add_messages(conversation_id, [NewMessage("user", content)]).or_raise()

    async def load(self, conversation_id: str, contents: Sequence[str]) -> None:
        batch = [NewMessage("user", content) for content in contents]
        await self.memory.add_messages(conversation_id, batch).or_raise()

    async def last(self, conversation_id: str, limit: int) -> list[str]:
        messages = await self.memory.get_messages(conversation_id, limit=limit).or_raise()
        return [message.content for message in messages]

    async def count(self, conversation_ids: Sequence[str]) -> int:
        return sum([await self.memory.count(id_, view="full").or_raise() for id_ in conversation_ids])

    async def close(self) -> None:
        await self.open_things.aclose()


@contextmanager
def without_log() -> Generator[None]:
    """Let stores that write inside the block keep no log: what it costs shows beside one that does."""
    stand_ins: list[tuple[Any, str, Any]] = [
        (message_writes, "_note", lambda *_: None),
        (memory_store, "note", lambda *_: None),
    ]
    found = [(module, name, getattr(module, name)) for module, name, _ in stand_ins]
    for module, name, nothing in stand_ins:
        setattr(module, name, nothing)
    try:
        yield
    finally:
        for module, name, real in found:
            setattr(module, name, real)


class OursWithoutLog(Ours):
    """The same with a store of its own, whose log of events is off while it appends."""

    name: ClassVar[str] = "chatmemory, log off"

    def stack(self, folder: Path) -> Stack:
        return embedded(folder / "without_log.db")


class OursOnPostgres(Ours):
    """The same service over PostgreSQL; *dsn* is set before it is opened."""

    name: ClassVar[str] = "chatmemory on PostgreSQL"
    durability: ClassVar[str] = "as the server syncs its commits"
    dsn: ClassVar[str] = ""

    async def open(self, folder: Path, conversations: int) -> None:
        await super().open(folder, conversations)
        async for outcome in self.memory.pages("nothing"):  # connect before the clock runs
            outcome.failure()

    def stack(self, folder: Path) -> Stack:
        return postgres(self.dsn)


class Session:
    """A session of openai-agents; kept open while there are few, made and closed in each call when there are many."""

    file: ClassVar[str]
    durability: ClassVar[str] = WAL_FULL

    async def open(self, folder: Path, conversations: int) -> None:
        self.path = folder / self.file
        self.keeps = conversations <= KEPT_OPEN
        self.sessions: dict[str, Any] = {}

    def make(self, conversation_id: str) -> Any:
        """Open a session; each kind says how."""
        raise NotImplementedError

    async def end(self, session: Any) -> None:
        session.close()

    async def call(self, conversation_id: str, method: str, *args: Any, **kwargs: Any) -> Any:
        if self.keeps:
            if conversation_id not in self.sessions:
                self.sessions[conversation_id] = self.make(conversation_id)
            return await getattr(self.sessions[conversation_id], method)(*args, **kwargs)
        session = self.make(conversation_id)
        try:
            return await getattr(session, method)(*args, **kwargs)
        finally:
            await self.end(session)

    async def append(self, conversation_id: str, content: str) -> None:
        await self.load(conversation_id, [content])

    async def load(self, conversation_id: str, contents: Sequence[str]) -> None:
        items = [{"role": "user", "content": content} for content in contents]
        await self.call(conversation_id, "add_items", items)

    async def last(self, conversation_id: str, limit: int) -> list[str]:
        items = await self.call(conversation_id, "get_items", limit=limit)
        return [item["content"] for item in items]

    async def count(self, conversation_ids: Sequence[str]) -> int:
        return sum([len(await self.call(id_, "get_items")) for id_ in conversation_ids])

    async def close(self) -> None:
        for session in self.sessions.values():
            await self.end(session)


class OpenaiSqlite(Session):
    name: ClassVar[str] = "openai-agents SQLiteSession"
    file: ClassVar[str] = "openai.db"

    def make(self, conversation_id: str) -> Any:
        from agents import SQLiteSession

        return SQLiteSession(conversation_id, self.path)


class OpenaiAsyncSqlite(Session):
    name: ClassVar[str] = "openai-agents AsyncSQLiteSession"
    file: ClassVar[str] = "openai_async.db"

    def make(self, conversation_id: str) -> Any:
        from agents.extensions.memory import AsyncSQLiteSession

        return AsyncSQLiteSession(conversation_id, self.path)

    async def end(self, session: Any) -> None:
        await session.close()


class OurSessions(Session):
    """Sessions of ours for openai-agents, in the event loop of their users."""

    name: ClassVar[str] = "chatmemory sessions"
    file: ClassVar[str] = "our_sessions.db"

    async def open(self, folder: Path, conversations: int) -> None:
        await super().open(folder, conversations)
        self.open_things = AsyncExitStack()
        self.runtime: Any = await self.open_things.enter_async_context(self.runtime_of(embedded(self.path)))

    def runtime_of(self, stack: Stack) -> Any:
        return ManagedRuntime(stack)

    def make(self, conversation_id: str) -> Any:
        from chatmemory.integrations.openai_agents import ChatMemorySession

        return ChatMemorySession(conversation_id, self.runtime)

    async def end(self, session: Any) -> None:
        await session.close()

    async def close(self) -> None:
        await super().close()
        await self.open_things.aclose()


class OurSessionsInAThread(OurSessions):
    """The same for users of any event loop."""

    name: ClassVar[str] = "chatmemory sessions, thread"
    file: ClassVar[str] = "our_sessions_thread.db"

    def runtime_of(self, stack: Stack) -> Any:
        return ThreadRuntime(stack)


def openai_agents() -> list[type[Any]]:
    """Return its sessions, none where it is not installed."""
    try:
        import agents  # noqa: F401  optional
    except ImportError:
        print("openai-agents is not installed, its sessions are left out: pip install openai-agents")
        return []
    return [OpenaiAsyncSqlite, OpenaiSqlite]
