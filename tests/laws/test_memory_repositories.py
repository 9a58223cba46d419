"""The law kit on the memory repositories that ship with chatmemory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, final

import pytest
from attrs import frozen

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.access.principal import ANYBODY, READ, Granted, Principal, acting_as
from chatmemory.effect import Effect, Layer, Outcome
from chatmemory.events.event_log import EventLog, KeepsLog
from chatmemory.laws import MemoryRepositoryLaws
from chatmemory.longterm.memory_repository import MemoryRepository, MemoryRepositoryTag
from chatmemory.settings.memory_settings import (
    PostgresSettings,
    PostgresSettingsTag,
    SqliteSettings,
    SqliteSettingsTag,
)
from chatmemory_layers.in_memory import (
    memory_repository as in_memory,
    message_repository as in_memory_messages,
)
from chatmemory_layers.postgres.engine import database as postgres_database
from chatmemory_layers.postgres.memories import memory_repository as postgres
from chatmemory_layers.postgres.messages import message_repository as postgres_messages
from chatmemory_layers.sqlite.engine import database as sqlite_database
from chatmemory_layers.sqlite.memories import memory_repository as sqlite
from chatmemory_layers.sqlite.messages import message_repository as sqlite_messages
from tests.thorough import IS_THOROUGH, rounds, thorough


class Laws(MemoryRepositoryLaws):
    examples = rounds(6, thorough=100)
    rounds = 100 if IS_THOROUGH else 40


class TestInMemory(Laws):
    repository = in_memory.memory_repository | in_memory_messages.message_repository
    is_durable = False


class TestInMemoryOnTrio(TestInMemory):
    event_loop = "trio"


class TestSqlite(Laws):
    @pytest.fixture(autouse=True)
    def in_a_file(self, tmp_path: Path) -> None:
        settings = Layer.succeed(SqliteSettingsTag, SqliteSettings(path=str(tmp_path / "laws.db")))
        self.repository = (
            settings
            >> sqlite_database.database
            >> (sqlite.memory_repository | sqlite_messages.message_repository)
        )


class TestPostgres(Laws):
    examples = rounds(3, thorough=40)  # the same decisions as above, and round trips

    @pytest.fixture(autouse=True)
    def in_a_database(self, dsn: str) -> None:
        settings = Layer.succeed(PostgresSettingsTag, PostgresSettings(dsn=dsn))
        self.repository = (
            settings
            >> postgres_database.database
            >> (postgres.memory_repository | postgres_messages.message_repository)
        )


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
        return _reader(Namespace(*users)) if len(users) == 1 else ANYBODY
    return _reader(asked if isinstance(asked, Namespace) else asked.namespace)


def _reader(namespace: Namespace) -> Principal:
    return Principal(name="", namespace=namespace, granted=(Granted(UNOWNED, rights=READ),))


def guarded(dsn: str) -> Layer[Any, Any]:
    """Return the repository over a database with row-level security."""
    settings = Layer.succeed(PostgresSettingsTag, PostgresSettings(dsn=dsn, row_security=True))
    as_their_user = Layer.effect(
        MemoryRepositoryTag,
        Effect.service(postgres_database.DatabaseTag).map(
            lambda database: AsTheirUser(postgres.PostgresMemoryRepository(database))
        ),
        needs=[postgres_database.DatabaseTag],
    )
    return settings >> postgres_database.database >> (as_their_user | postgres_messages.message_repository)


@thorough
class TestPostgresWithRowSecurity(Laws):
    examples = 10

    @pytest.fixture(autouse=True)
    def in_a_guarded_database(self, serving: str) -> None:
        self.repository = guarded(serving)


def test_a_program_of_everything_has_the_same_results_with_row_security(serving: str) -> None:
    laws = Laws()
    laws.examples = 3
    laws.repository = guarded(serving)
    laws.test_l21_equivalence()
