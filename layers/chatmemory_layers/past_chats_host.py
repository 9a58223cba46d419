"""``PastChatsHost``: runs the effects of the ``pastchats-memory`` commands.

It is loaded for each recall, so it imports late what a recall does not need.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from datetime import datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from attrs import evolve

from chatmemory import errors
from chatmemory.effect import EffectFailed, ManagedRuntime
from chatmemory.effect.lazy import anyio
from chatmemory.extra import needed
from chatmemory.pastchats.contract import PastChatsIndexService, PastChatsService
from chatmemory.programs.pastchats.host import Host
from chatmemory.programs.shell.exit_codes import CommandError, command_error, value_of
from chatmemory_layers.past_chats_configuration import PastChatsPart, read_past_chats_settings
from chatmemory_layers.setting_names import CONFIG
from chatmemory_layers.sqlite.prompts.prompt_store import OPENING, store_path
from chatmemory_layers.stacks.past_chats import dry_run, finding, indexing, waits

if TYPE_CHECKING:
    from chatmemory.effect import Effect, Layer, Outcome
    from chatmemory.errors import PastChatsError
    from chatmemory.pastchats.contract import PastChats, PastChatsIndex
    from chatmemory.programs.pastchats.host import McpServing
    from chatmemory.settings.memory_settings import Settings
    from chatmemory.settings.past_chats_settings import PastChatsSettings

A = TypeVar("A")

DB: Final = "PASTCHATS_DB"


@final
class PastChatsHost(Host):
    """Builds a stack for one effect, runs it, and closes the stack; see ``programs.pastchats.host``."""

    def __init__(self, *, db: str | None = None, config: str | None = None) -> None:
        self.db = db
        self.config = config
        self.longest_wait_seconds: float | None = None
        self._read_settings: PastChatsPart | None = None

    def read(self, ask: Callable[[PastChats], Effect[A, PastChatsError]], /) -> A:
        return self._run(finding(*self._settings()), PastChatsService.use(ask))

    def write(self, ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]], /) -> A:
        gc.enable()
        return self._run(indexing(*self._settings()), PastChatsIndexService.use(ask))

    def dry_run(self, ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]], /) -> A:
        return self._run(dry_run(*self._settings()), PastChatsIndexService.use(ask))

    def serve_mcp(self, serving: McpServing, /) -> None:
        if find_spec("mcp") is None:
            import click

            raise click.ClickException(needed("mcp", extra="mcp"))
        from chatmemory_layers.server.mcp_main import serve_http, serve_stdio

        gc.enable()
        settings = self._all_settings(serving)
        try:
            if serving.is_http:
                serve_http(settings, serving.folders, port=serving.port)
            else:
                serve_stdio(settings, serving.folders)
        except EffectFailed as failed:
            raise command_error(failed) from failed

    def settings(self) -> PastChatsSettings:
        return self._settings().past_chats

    def path(self) -> str:
        return os.fspath(store_path(self.settings()))

    def now(self) -> datetime:
        return datetime.now().astimezone()

    def _all_settings(self, serving: McpServing) -> Settings:
        from chatmemory_layers.configuration import read_settings

        given = {
            "server": {"host": serving.address, "user": serving.user, "app": serving.app},
            "memory": {"store": {"sqlite": {"path": serving.store}}},
        }
        read = value_of(read_settings(self.config or os.environ.get(CONFIG) or None, given=given))
        return evolve(read, memory=evolve(read.memory, past_chats=self._settings().past_chats))

    def _settings(self) -> PastChatsPart:
        if self._read_settings is None:
            self._read_settings = self._settings_now()
        return self._read_settings

    def _settings_now(self) -> PastChatsPart:
        read = value_of(read_past_chats_settings(self.config or os.environ.get(CONFIG) or None))
        past_chats, embedding = read
        if self.db == "":
            detail = "--db names no file: is a shell variable unset?"
            raise CommandError(errors.memory_error(errors.RepositoryError(OPENING, "unavailable", detail)))
        if db := self.db or os.environ.get(DB):
            past_chats = evolve(past_chats, path=db)
        if (longest := self.longest_wait_seconds) is not None:
            wait_seconds = min(longest, past_chats.busy_timeout_seconds)
            past_chats = evolve(past_chats, busy_timeout_seconds=wait_seconds)
            timeout_seconds = min(longest, embedding.timeout_seconds)
            embedding = evolve(embedding, timeout_seconds=timeout_seconds, max_retries=0)
        return read._replace(past_chats=past_chats, embedding=embedding)

    def _run(self, stack: Layer[Any, Any], effect: Effect[A, PastChatsError, Any]) -> A:
        async def in_a_loop() -> Outcome[A, PastChatsError]:
            async with ManagedRuntime(stack) as runtime:
                return await runtime.run(effect)

        try:
            if waits(self._settings().embedding):
                return value_of(anyio.run(in_a_loop))
            with ManagedRuntime(stack) as runtime:
                return value_of(runtime.run_sync(effect))
        except EffectFailed as failed:  # the stack could not be built
            raise command_error(failed) from failed
