"""The stores that ship with chatmemory, each as a base of the laws of its repositories."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, final

import pytest
from attrs import frozen

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.access.principal import EVERYBODY, READ, Granted, Principal, acting_as
from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Effect, Layer, Outcome
from chatmemory.errors import RepositoryError
from chatmemory.events.event_log import EventLog, KeepsLog
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.laws.kit.law import UnderTest
from chatmemory.longterm.memory_repository import MemoryRepository, MemoryRepositoryTag
from chatmemory.settings.memory_settings import (
    PostgresSettings,
    PostgresSettingsTag,
    SqliteSettings,
    SqliteSettingsTag,
)
from chatmemory_layers.in_memory import item_repository, memory_repository, message_repository
from chatmemory_layers.postgres.engine import database as postgres
from chatmemory_layers.postgres.items import item_repository as postgres_items
from chatmemory_layers.postgres.memories import memory_repository as postgres_memories
from chatmemory_layers.postgres.messages import message_repository as postgres_messages
from chatmemory_layers.sqlite.engine import database as sqlite
from chatmemory_layers.sqlite.items import item_repository as sqlite_items
from chatmemory_layers.sqlite.memories import memory_repository as sqlite_memories
from chatmemory_layers.sqlite.messages import message_repository as sqlite_messages
from tests.thorough import rounds

Repositories: TypeAlias = Layer[
    MessageRepositoryTag | MemoryRepositoryTag | ItemRepositoryTag, RepositoryError
]


in_memory: Repositories = (
    message_repository.message_repository
    | memory_repository.memory_repository
    | item_repository.item_repository
)


class Store(UnderTest):
    examples = rounds(4, thorough=100)
    rounds = rounds(40, thorough=100)  # each moment, in both ways of cancelling


class InMemory(Store):
    repository = in_memory
    is_durable = False


def in_sqlite(path: Path) -> Repositories:
    """Return the repositories over a file."""
    settings = Layer.succeed(SqliteSettingsTag, SqliteSettings(path=str(path)))
    repositories = (
        sqlite_messages.message_repository | sqlite_memories.memory_repository | sqlite_items.item_repository
    )
    return settings >> sqlite.database >> repositories


def in_postgres(dsn: str) -> Repositories:
    """Return the repositories over a database."""
    settings = Layer.succeed(PostgresSettingsTag, PostgresSettings(dsn=dsn))
    repositories = (
        postgres_messages.message_repository
        | postgres_memories.memory_repository
        | postgres_items.item_repository
    )
    return settings >> postgres.database >> repositories


class InSqlite(Store):
    @pytest.fixture(autouse=True)
    def in_a_file(self, tmp_path: Path) -> None:
        self.repository = in_sqlite(tmp_path / "laws.db")


class InPostgres(Store):
    examples = rounds(2, thorough=40)  # the same decisions as on SQLite, and round trips

    @pytest.fixture(autouse=True)
    def in_a_database(self, dsn: str) -> None:
        self.repository = in_postgres(dsn)


class WithRowSecurity(Store):
    examples = rounds(2, thorough=10)

    @pytest.fixture(autouse=True)
    def in_a_guarded_database(self, serving: str) -> None:
        self.repository = guarded(serving)


def guarded(dsn: str) -> Layer[Any, Any]:
    """Return the repositories over a database with row-level security."""
    settings = Layer.succeed(PostgresSettingsTag, PostgresSettings(dsn=dsn, row_security=True))
    as_their_user = Layer.effect(
        MemoryRepositoryTag,
        Effect.service(postgres.DatabaseTag).map(
            lambda database: AsTheirUser(postgres_memories.PostgresMemoryRepository(database))
        ),
        needs=[postgres.DatabaseTag],
    )
    repositories = postgres_messages.message_repository | postgres_items.item_repository
    return settings >> postgres.database >> (as_their_user | repositories)


@final
@frozen
class AsTheirUser:
    """Asks *repository* for the user whose memories are asked for, who may read the conversations of nobody, as those of the laws are."""

    repository: MemoryRepository

    @property
    def log(self) -> EventLog:
        """See ``KeepsLog``; what it tells is asked for by the laws as whoever they say."""
        assert isinstance(self.repository, KeepsLog)
        return self.repository.log

    def __getattr__(self, name: str) -> Callable[..., Effect[Any, Any]]:
        method = getattr(self.repository, name)

        def ask(first: Any, *rest: Any, **named: Any) -> Effect[Any, Any]:
            async def run() -> Outcome[Any, Any]:
                with acting_as(_user_of(first)):
                    return await method(first, *rest, **named)

            return Effect.from_outcome(run)

        return ask


def _user_of(asked: Any) -> Principal:
    """Return who asks: the user of a namespace, or of what has one; of drafts of several users, nobody in particular."""
    if isinstance(asked, tuple):
        users = {draft.namespace.user for draft in asked}
        return _reader(Namespace(*users)) if len(users) == 1 else EVERYBODY
    return _reader(asked if isinstance(asked, Namespace) else asked.namespace)


def _reader(namespace: Namespace) -> Principal:
    return Principal(name="", namespace=namespace, granted=(Granted(UNOWNED, rights=READ),))
