"""``pastchats-memory``, wired: where settings come from, and what a command's effect runs on."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, final

from chatmemory.programs.pastchats.host import Host
from chatmemory_layers.terminal import prepared_arguments

if TYPE_CHECKING:
    from chatmemory.effect import Effect, Layer, Outcome
    from chatmemory.errors import ConfigError, PastChatsError, RepositoryError
    from chatmemory.pastchats.contract import PastChats, PastChatsIndex
    from chatmemory.programs.pastchats.host import McpServing
    from chatmemory.settings.memory_settings import Settings
    from chatmemory.settings.past_chats_settings import PastChatsSettings
    from chatmemory_layers.past_chats_configuration import PastChatsPart

A = TypeVar("A")

DB: Final = "PASTCHATS_DB"
CONFIG: Final = "CHATMEMORY_CONFIG"


@final
class CommandHost(Host):
    """Builds a stack for one effect, runs it, and closes the stack; see ``programs.pastchats.host``."""

    def __init__(self) -> None:
        """Be ready; nothing is read or opened yet."""
        self.db: str | None = None
        self.config: str | None = None
        self.longest_wait_seconds: float | None = None
        self._read_settings: PastChatsPart | None = None

    def read(self, ask: Callable[[PastChats], Effect[A, PastChatsError]], /) -> A:
        from chatmemory.pastchats.contract import PastChatsService
        from chatmemory_layers.stacks.past_chats import finding

        return self._run(finding(*self._settings()), PastChatsService.use(ask))

    def write(self, ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]], /) -> A:
        from chatmemory.pastchats.contract import PastChatsIndexService
        from chatmemory_layers.stacks.past_chats import indexing

        gc.enable()
        return self._run(indexing(*self._settings()), PastChatsIndexService.use(ask))

    def dry_run(self, ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]], /) -> A:
        from chatmemory.pastchats.contract import PastChatsIndexService
        from chatmemory_layers.stacks.past_chats import dry_run

        return self._run(dry_run(*self._settings()), PastChatsIndexService.use(ask))

    def serve_mcp(self, serving: McpServing, /) -> None:
        from importlib.util import find_spec

        if find_spec("mcp") is None:
            import click

            from chatmemory.extra import needed

            raise click.ClickException(needed("mcp", extra="mcp"))
        from chatmemory_layers.server.mcp_main import serve_http, serve_stdio

        gc.enable()
        settings = self._all_settings(serving)
        if serving.is_http:
            _value(serve_http(settings, serving.folders, port=serving.port))
        else:
            _value(serve_stdio(settings, serving.folders))

    def _all_settings(self, serving: McpServing) -> Settings:
        from attrs import evolve

        from chatmemory_layers.configuration import read_settings

        given = {
            "server": {"host": serving.address, "user": serving.user, "app": serving.app},
            "memory": {"store": {"sqlite": {"path": serving.store}}},
        }
        read = _value(read_settings(self.config or os.environ.get(CONFIG) or None, given=given))
        return evolve(read, memory=evolve(read.memory, past_chats=self._settings().past_chats))

    def settings(self) -> PastChatsSettings:
        return self._settings().past_chats

    def path(self) -> str:
        from chatmemory_layers.sqlite.prompts.prompt_store import store_path

        return os.fspath(store_path(self.settings()))

    def now(self) -> datetime:
        return datetime.now().astimezone()

    def _settings(self) -> PastChatsPart:
        if self._read_settings is None:
            self._read_settings = self._settings_now()
        return self._read_settings

    def _settings_now(self) -> PastChatsPart:
        from attrs import evolve

        from chatmemory_layers.past_chats_configuration import (
            read_past_chats_settings,
        )

        read = _value(read_past_chats_settings(self.config or os.environ.get(CONFIG) or None))
        past_chats, embedding = read
        if db := self.db or os.environ.get(DB):
            past_chats = evolve(past_chats, path=db)
        if (longest := self.longest_wait_seconds) is not None:
            wait_seconds = min(longest, past_chats.busy_timeout_seconds)
            past_chats = evolve(past_chats, busy_timeout_seconds=wait_seconds)
            timeout_seconds = min(longest, embedding.timeout_seconds)
            embedding = evolve(embedding, timeout_seconds=timeout_seconds, max_retries=0)
        return read._replace(past_chats=past_chats, embedding=embedding)

    def _run(self, stack: Layer[Any, Any], effect: Effect[A, PastChatsError, Any]) -> A:
        from chatmemory.effect import EffectFailed, ManagedRuntime
        from chatmemory.programs.shell.exit_codes import CommandError
        from chatmemory_layers.stacks.past_chats import waits

        async def in_a_loop() -> Outcome[A, PastChatsError]:
            async with ManagedRuntime(stack) as runtime:
                return await runtime.run(effect)

        try:
            if waits(self._settings().embedding):
                import anyio

                return _value(anyio.run(in_a_loop))
            with ManagedRuntime(stack) as runtime:
                return _value(runtime.run_sync(effect))
        except EffectFailed as failed:  # the stack could not be built
            from chatmemory.errors import memory_error

            error = cast("RepositoryError | ConfigError", failed.error)
            raise CommandError(memory_error(error)) from failed


def _value(outcome: Outcome[A, PastChatsError | ConfigError]) -> A:
    from chatmemory.effect.outcome import Failure, Success
    from chatmemory.programs.shell.exit_codes import CommandError

    match outcome:
        case Success(value):
            return value
        case Failure(error):
            raise CommandError(error)


def main() -> None:
    """Be the command ``pastchats-memory``."""
    # A recall makes few reference cycles.  Disabled this early, because loading modules takes most of its time.
    gc.disable()
    from chatmemory.programs.pastchats.quick_commands import run_quickly

    arguments = prepared_arguments()
    code = run_quickly(CommandHost(), arguments)
    if code is None:
        from chatmemory.programs.pastchats.program import run

        code = run(CommandHost(), arguments, is_colourful=not os.environ.get("NO_COLOR"))
    sys.exit(code)
