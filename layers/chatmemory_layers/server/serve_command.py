"""``serve``: runs the HTTP API and the page on the store of the settings, until Ctrl-C."""

import logging
import socket
from typing import Final

import anyio
import click
from typing_extensions import Unpack

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.effect.services.clock import SystemClock
from chatmemory.programs.http.app import Services, application
from chatmemory.programs.http.operations.description import ServerFactsTag
from chatmemory.settings.memory_settings import Settings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers import stacks
from chatmemory_layers.server.audit_pruning import audit_pruning
from chatmemory_layers.server.facts import place_of, server_facts
from chatmemory_layers.server.http_connection import ConnectionLimits
from chatmemory_layers.server.listening import open_listener, url_of
from chatmemory_layers.server.served_past_chats import served_past_chats
from chatmemory_layers.server.serving import serve as serve_at, suit_many_clients
from chatmemory_layers.server.token_notices import token_notices
from chatmemory_layers.sqlite.prompts.prompt_store import store_path

LINE: Final = "%(asctime)s %(message)s"

log = logging.getLogger("chatmemory.http")


def serve(settings: Settings, *, names_past_chats: bool, is_quiet: bool) -> None:
    """Answer clients until Ctrl-C or SIGTERM; *is_quiet*: the log leaves out requests.

    If the user named an index of past chats (*names_past_chats*) that does not exist, a message says so.

    Raises:
        EffectFailed: the server cannot listen at its address, or the services could not be built.
    """
    logging.basicConfig(format=LINE, level=logging.WARNING)
    log.setLevel(logging.WARNING if is_quiet else logging.INFO)
    server = settings.server
    listener = open_listener(server.host, server.port, needs_token=server.needs_token).unwrap()
    if names_past_chats:
        _warn_of_missing(settings.memory.past_chats)
    for notice in token_notices(server, SystemClock().now()):
        log.warning("%s", notice)
    anyio.run(_answer, settings, listener)


def server_stack(settings: Settings, **parts: Unpack[stacks.Parts]) -> Layer[Services, stacks.StackError]:
    """Return the layer of all services of the HTTP API; the index of past chats is opened at the first request for it."""
    past_chats = served_past_chats(settings.memory.past_chats, settings.memory.embedding)
    facts = Layer.succeed(ServerFactsTag, server_facts(settings))
    pruning = audit_pruning(settings.server.audit_days)
    return stacks.configured(settings, **parts).feed_keep(pruning) | past_chats | facts


def _warn_of_missing(settings: PastChatsSettings) -> None:
    """Say that the index that was named does not exist: its page would be empty, and the user would not know why."""
    if not (path := store_path(settings)).exists():
        click.echo(
            f"chatmemory: --past-chats: there is no {path} yet; pastchats-memory index makes it", err=True
        )


async def _answer(settings: Settings, listener: socket.socket) -> None:
    with listener:
        async with ManagedRuntime(server_stack(settings)) as runtime:
            closing = anyio.Event()
            app = application(runtime, settings.server, closing=closing)
            click.echo(f"chatmemory is at {url_of(listener)} (store: {place_of(settings)}; Ctrl-C ends it)")
            limits = ConnectionLimits(head_seconds=settings.server.header_seconds)
            suit_many_clients()
            await serve_at(app, listener, closing=closing, limits=limits)
