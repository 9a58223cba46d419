"""``MemoryHost``: reads the settings, and runs the effect of each ``chatmemory`` command."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

import anyio
import click
from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import EVERYBODY, acting_as
from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.effect import Do, Effect, EffectFailed, Layer, ManagedRuntime, Outcome
from chatmemory.errors import (
    DataValidationError,
    GenericMemoryError,
    ReadError,
    RepositoryError,
    ServiceError,
    memory_error,
)
from chatmemory.extra import needed
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.pastchats.past_chats import Finding
from chatmemory.programs.archive.rivals.rival import RivalFile
from chatmemory.programs.commands.host import Host
from chatmemory.programs.operations.grant import main_grant
from chatmemory.programs.shell.exit_codes import CommandError, command_error, value_of
from chatmemory_layers import stacks
from chatmemory_layers.configuration import read_settings
from chatmemory_layers.files.sqlite_tables import rows_of
from chatmemory_layers.server.facts import place_of
from chatmemory_layers.setting_names import CONFIG
from chatmemory_layers.sqlite.engine.database import store_file
from chatmemory_layers.sqlite.engine.store_checks import store_checks
from chatmemory_layers.stacks.ready_made import trail_from_settings

if TYPE_CHECKING:
    from chatmemory.events.audit import AuditTrailTag
    from chatmemory.programs.commands.host import Serving
    from chatmemory.settings.memory_settings import Settings

A = TypeVar("A")

PARTS: Final = ("starlette", "uvicorn", "httptools")
"""The packages of the extra ``server``."""

SERVERS: Final = ("postgresql://", "postgres://")
"""How an address of ``--store`` begins that is not the path of a file."""


@final
class MemoryHost(Host):
    """Builds a stack for one effect, runs it, and closes the stack; see ``programs.commands.host``."""

    def __init__(
        self,
        *,
        store: str | None = None,
        config: str | None = None,
        user: str | None = None,
        app: str | None = None,
    ) -> None:
        self.store = store
        self.config = config
        self.user = user
        self.app = app
        self._read_settings: Settings | None = None

    def conversations(self, ask: Callable[[ChatMemory], Effect[A, ServiceError]], /) -> A:
        return self.run(lambda: ChatMemoryService.use(ask))

    def memories(
        self, ask: Callable[[LongTermMemory, Namespace], Effect[A, ServiceError]], /, *, creates: bool = False
    ) -> A:
        namespace = self.namespace()
        return self.run(lambda: LongTermMemoryService.use(lambda kept: ask(kept, namespace)), creates=creates)

    def run(
        self,
        ask: Callable[[], Effect[A, ServiceError, Any]],
        /,
        *,
        creates: bool = False,
        everybody: bool = False,
    ) -> A:
        settings = self.settings()
        if not creates:
            self._need_file(settings)
        return self._run(stacks.configured(settings), ask, everybody=everybody)

    def scratch(self, ask: Callable[[], Effect[A, ServiceError, Any]], /) -> A:
        settings = self.settings()
        memory = settings.memory
        with tempfile.TemporaryDirectory(prefix="chatmemory-") as folder:
            sqlite = evolve(memory.store.sqlite, path=str(Path(folder) / "scratch.db"))
            store = evolve(memory.store, backend="sqlite", sqlite=sqlite)
            return self._run(stacks.configured(evolve(settings, memory=evolve(memory, store=store))), ask)

    def trail(
        self, ask: Callable[[], Effect[A, DataValidationError | GenericMemoryError, AuditTrailTag]], /
    ) -> A:
        settings = self.settings()
        self._need_file(settings)
        return self._run(trail_from_settings(settings), ask)

    def findings(self) -> tuple[Finding, ...]:
        settings = self.settings()
        self._need_file(settings)
        store = settings.memory.store
        try:
            if store.backend == "sqlite":
                return store_checks(store.sqlite)
            if store.backend == "postgres":
                from chatmemory_layers.postgres.engine.store_checks import store_checks as server_checks

                return anyio.run(server_checks, store.postgres)
        except EffectFailed as failed:
            raise command_error(failed) from failed
        return self.run(lambda: service_findings(place_of(settings), self.namespace()))

    def serve(self, serving: Serving, /) -> None:
        if missing := [part for part in PARTS if find_spec(part) is None]:
            raise click.ClickException(needed(", ".join(missing), extra="server"))
        from chatmemory_layers.server.serve_command import serve

        server: dict[str, object] = {"host": serving.address, "port": serving.port}
        settings = self._settings_of(server, {"path": serving.past_chats})
        names_past_chats = serving.past_chats is not None
        try:
            serve(settings, names_past_chats=names_past_chats, is_quiet=serving.is_quiet)
        except EffectFailed as failed:
            raise command_error(failed) from failed

    def rival_file(self, path: str, /) -> RivalFile:
        return RivalFile(Path(path), rows_of)

    def settings(self) -> Settings:
        if self._read_settings is None:
            self._read_settings = self._settings_of({}, {})
        return self._read_settings

    def namespace(self) -> Namespace:
        server = self.settings().server
        return Namespace(server.user, server.app)

    def now(self) -> datetime:
        return datetime.now().astimezone()

    def _settings_of(self, server: dict[str, object], past_chats: dict[str, object]) -> Settings:
        store: dict[str, object] = {"sqlite": {"path": self.store}}
        if self.store is not None and self.store.startswith(SERVERS):
            store = {"backend": "postgres", "postgres": {"dsn": self.store}}
        elif self.store is not None:
            store["backend"] = "sqlite"
        given = {
            "server": {"user": self.user, "app": self.app, **server},
            "memory": {"store": store, "pastChats": past_chats},
        }
        return value_of(read_settings(self.config or os.environ.get(CONFIG) or None, given=given))

    def _need_file(self, settings: Settings) -> None:
        """Fail if the file does not exist: otherwise an empty store would be created, and the user would not know why."""
        if settings.memory.store.backend != "sqlite":
            return
        try:
            path = store_file(settings.memory.store.sqlite)
        except EffectFailed as failed:
            raise command_error(failed) from failed
        try:
            is_there = path.exists()
        except OSError as error:  # a folder that may not be entered
            detail = f"{path}: {error.strerror}"
            raise CommandError(
                memory_error(RepositoryError("open the store", "unavailable", detail))
            ) from error
        if not is_there:
            detail = f"there is no {path}: chatmemory remember or import makes it, --store or the settings name another"
            raise CommandError(memory_error(RepositoryError("open the store", "missing", detail)))

    def _run(
        self,
        stack: Layer[Any, Any],
        ask: Callable[[], Effect[A, ServiceError, Any]],
        *,
        everybody: bool = False,
    ) -> A:
        who = EVERYBODY if everybody else main_grant(self.settings().server, name="").principal

        async def in_a_loop() -> Outcome[A, ServiceError]:
            # Without a name: a program that has the store to itself leaves no entry in the audit trail.
            with acting_as(who):
                async with ManagedRuntime(stack) as runtime:
                    return await runtime.run(ask())

        try:
            return value_of(anyio.run(in_a_loop))
        except EffectFailed as failed:  # the stack could not be built
            raise command_error(failed) from failed


@Effect.gen
async def service_findings(
    do: Do[ReadError, ChatMemoryService | LongTermMemoryService], place: str, namespace: Namespace
) -> tuple[Finding, ...]:
    """Check a store in memory by asking its services; *place* says where it is, without its password."""
    page = await do(ChatMemoryService.use(lambda chat: chat.list_conversations(limit=1)))
    memories = await do(LongTermMemoryService.use(lambda kept: kept.list(namespace, limit=1)))
    told = [
        Finding(code="S001", severity="ok", message=place),
        Finding(
            code="S005",
            severity="ok",
            message=f"it answers, with {'some' if page.conversations else 'no'} conversations and "
            f"{'some' if memories.memories else 'no'} memories of {namespace.user}",
        ),
    ]
    return tuple(told)
