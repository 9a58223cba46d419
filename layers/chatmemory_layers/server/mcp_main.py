"""``pastchats-memory mcp``: ``serve_stdio`` runs the MCP server over standard input and output, ``serve_http`` over HTTP."""

import asyncio
import logging
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import anyio
from mcp.server.stdio import stdio_server
from typing_extensions import Unpack

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.effect.lazy import LazyModule
from chatmemory.effect.services.clock import SystemClock
from chatmemory.programs.mcp.server import Services, memory_server
from chatmemory.programs.operations.grant import main_grant
from chatmemory.programs.shell.exit_codes import discard_unwritten
from chatmemory.settings.memory_settings import Settings
from chatmemory_layers import stacks
from chatmemory_layers.server.audit_pruning import audit_pruning
from chatmemory_layers.server.listening import open_listener, url_of
from chatmemory_layers.server.served_index import served_index
from chatmemory_layers.server.served_past_chats import served_past_chats
from chatmemory_layers.server.token_notices import token_notices

if TYPE_CHECKING:
    from chatmemory.programs.mcp import http_app
    from chatmemory_layers.server import http_connection, serving
else:  # what a server over standard input does not need
    http_app = LazyModule("chatmemory.programs.mcp.http_app")
    http_connection = LazyModule("chatmemory_layers.server.http_connection")
    serving = LazyModule("chatmemory_layers.server.serving")

LINE: Final = "%(asctime)s %(name)s %(message)s"
DEFAULT_PORT: Final = 8643
"""A port beside that of ``chatmemory serve``."""
STDIO: Final = "(stdio)"
"""The name of the client in the log: over standard input it needs no token."""
LAST_SECONDS: Final = 4.0
"""How long a server may take to end if the client does not read what it still writes."""

BLOCK_BYTES: Final = 1 << 16  # of standard input, read at once
MOST_WAITING: Final = 64
"""How many lines are read in advance; then the sender has to wait."""

# A backslash that is escaped itself, a pair of surrogates, or one half of a pair.
_ESCAPED: Final = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)

log = logging.getLogger("chatmemory.mcp")


def serve_stdio(settings: Settings, folders: Sequence[str]) -> None:
    """Read requests from standard input and answer on standard output, until the input ends or a signal comes.

    Raises:
        EffectFailed: the services could not be built.
    """
    _log_to_stderr()
    _warn_of_missing(folders)
    anyio.run(_stdio, settings, folders)


def serve_http(settings: Settings, folders: Sequence[str], *, port: int | None) -> None:
    """Answer over streamable HTTP until a signal comes; None for *port*: ``DEFAULT_PORT``.

    Raises:
        EffectFailed: the server cannot listen at its address, or the services could not be built.
    """
    _log_to_stderr()
    _warn_of_missing(folders)
    server = settings.server
    chosen = DEFAULT_PORT if port is None else port
    listener = open_listener(server.host, chosen, needs_token=server.needs_token).unwrap()
    for notice in token_notices(server, SystemClock().now()):
        log.warning("%s", notice)
    anyio.run(_http, settings, folders, listener)


def mcp_stack(
    settings: Settings, *, folders: Sequence[str] = (), **parts: Unpack[stacks.Parts]
) -> Layer[Services, stacks.StackError]:
    """Return the layer of all services of the MCP server; *parts* replace parts of the memory, as in ``stacks.configured``.

    Histories may be read from *folders*, besides the folders of the known tools.
    """
    memory = settings.memory
    past_chats = served_past_chats(memory.past_chats, memory.embedding)
    index = served_index(memory.past_chats, memory.embedding, folders=folders)
    pruning = audit_pruning(settings.server.audit_days)
    return stacks.configured(settings, **parts).feed_keep(pruning) | past_chats | index


def _warn_of_missing(folders: Sequence[str]) -> None:
    """Log which folders do not exist: index_paths would refuse the right ones, and the user would not know why."""
    for folder in folders:
        if not Path(os.path.expanduser(folder)).exists():  # noqa: PTH111  an unknown user is not an error
            log.warning("--allow-index %s: there is nothing of this name yet", folder)


async def _stdio(settings: Settings, folders: Sequence[str]) -> None:
    grant = main_grant(settings.server, name=STDIO)
    async with ManagedRuntime(mcp_stack(settings, folders=folders)) as runtime:
        server = memory_server(runtime, lambda _: grant)
        with anyio.CancelScope() as serving:
            _end_at_a_signal(serving)
            # The transport needs nothing from it except lines.
            lines = cast("anyio.AsyncFile[str]", stdin_lines(_private_stdin()))
            try:
                async with stdio_server(stdin=lines) as (incoming, outgoing):
                    await server.run(incoming, outgoing, server.create_initialization_options())
                    serving.cancel()
            except* BrokenPipeError:  # the client closed the output before all its requests were read
                log.info("the client has left without its answers")
                discard_unwritten()


async def _http(settings: Settings, folders: Sequence[str], listener: socket.socket) -> None:
    server = settings.server
    with listener:
        async with (
            ManagedRuntime(mcp_stack(settings, folders=folders)) as runtime,
            http_app.mcp_application(runtime, server) as app,
        ):
            address = f"{url_of(listener).rstrip('/')}{http_app.PATH}"
            print(f"chatmemory is at {address} (Ctrl-C ends it)", flush=True)  # noqa: T201  a person reads it
            limits = http_connection.ConnectionLimits(head_seconds=server.header_seconds)
            serving.suit_many_clients()
            await serving.serve(app, listener, closing=anyio.Event(), limits=limits)


def _end_at_a_signal(serving: anyio.CancelScope) -> None:
    def end() -> None:
        serving.cancel()
        last = threading.Timer(LAST_SECONDS, os._exit, [1])
        last.daemon = True
        last.start()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # on Windows, where a signal ends the process anyway
            loop.add_signal_handler(number, end)


def _private_stdin() -> int:
    """Return a private descriptor of standard input: any other code that reads standard input finds it empty."""
    private = os.dup(sys.stdin.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    return private


def _log_to_stderr() -> None:
    logging.basicConfig(format=LINE, level=logging.WARNING, stream=sys.stderr)
    for name in ("chatmemory.mcp", "chatmemory.http"):
        logging.getLogger(name).setLevel(logging.INFO)
    # What it logs about a message that it cannot read may contain parts of the message.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)


def _without_half(escaped: re.Match[str]) -> str:
    return r"\ufffd" if escaped["half"] else escaped[0]


async def stdin_lines(descriptor: int) -> AsyncIterator[str]:
    """Yield each line of JSON of a file *descriptor* as it arrives; the last one may lack a line end.

    What no store can keep becomes U+FFFD: bytes that are not UTF-8, and half a pair of surrogates, which is left of a
    character that a client has cut.  The transport would give a line with such a half no answer.

    A thread that waits in ``readline`` keeps a program from ending, and its lock the interpreter; so it waits in ``os.read``.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_WAITING)
    threading.Thread(target=_read, args=(descriptor, loop, lines), name="stdin", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield _ESCAPED.sub(_without_half, line.decode("utf-8", "replace"))


def _read(descriptor: int, loop: asyncio.AbstractEventLoop, lines: "asyncio.Queue[bytes | None]") -> None:
    def give(line: bytes | None) -> None:
        asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    rest = bytearray()
    try:
        while block := os.read(descriptor, BLOCK_BYTES):
            *whole, last = block.split(b"\n")
            for line in whole:
                give(bytes(rest) + line)
                rest.clear()
            rest += last
        if rest:
            give(bytes(rest))
        give(None)
    except RuntimeError:  # the loop has ended
        return
