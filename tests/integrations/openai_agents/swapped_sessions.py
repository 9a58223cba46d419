"""A pytest plugin that lets the SDK's own tests of its SQLite sessions run on ours.

The SDK's names are bound to sessions of ours before a test module is imported.  ``test_foreign_suites.py`` starts it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import agents
import agents.extensions.memory
import agents.extensions.memory.async_sqlite_session

# Before the names are bound: EncryptedSession asks its own SQLiteSession for more than any other session.
import agents.extensions.memory.encrypt_session
import agents.memory
import agents.memory.sqlite_session

from chatmemory import ThreadRuntime
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.integrations.openai_agents import ChatMemorySession
from chatmemory.settings.memory_settings import MemorySettings, Settings, StoreSettings
from chatmemory_layers.stacks import configured, embedded

IN_MEMORY = Settings(memory=MemorySettings(store=StoreSettings(backend="in_memory")))
BREAK = os.environ.get(
    "BREAK_SESSION", ""
)  # the name of a method that is to do nothing, to see the suite notice it


class SessionOnAFile(ChatMemorySession):
    """Made as the SDK makes its own: of a path.  Sessions of one file share its runtime until the last is closed."""

    shared: ClassVar[dict[Path, tuple[ThreadRuntime[ChatMemoryService], set[SessionOnAFile]]]] = {}

    def __init__(
        self, session_id: str, db_path: str | Path = ":memory:", session_settings: Any = None
    ) -> None:
        if str(db_path) == ":memory:":
            self.users: set[SessionOnAFile] = {self}
            runtime: ThreadRuntime[ChatMemoryService] = ThreadRuntime(configured(IN_MEMORY))
        else:
            key = Path(db_path).resolve()
            if key not in self.shared:
                self.shared[key] = (ThreadRuntime(embedded(key)), set())
            runtime, self.users = self.shared[key]
            self.users.add(self)
            self.key = key
        super().__init__(session_id, runtime, session_settings=session_settings)

    def let_go(self) -> None:
        self._is_closed = True
        self.users.discard(self)
        if not self.users:
            self.shared.pop(getattr(self, "key", Path()), None)
            self._runtime.close()


class SQLiteSession(SessionOnAFile):
    def close(self) -> None:  # as the SDK's, which waits for nothing
        self.let_go()


class AsyncSQLiteSession(SessionOnAFile):
    async def close(self) -> None:
        self.let_go()


async def does_nothing(*_: object, **__: object) -> list[object]:
    return []


if BREAK:
    setattr(SessionOnAFile, BREAK, does_nothing)
for module in (agents, agents.memory, agents.memory.sqlite_session):
    module.SQLiteSession = SQLiteSession
for module in (agents.extensions.memory, agents.extensions.memory.async_sqlite_session):
    module.AsyncSQLiteSession = AsyncSQLiteSession
