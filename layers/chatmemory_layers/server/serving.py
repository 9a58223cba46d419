"""``serve``: runs an ASGI application at a socket, until a signal ends it; ``suit_many_clients`` prepares the interpreter.

At the first SIGTERM or SIGINT the server accepts no more connections, finishes the requests that it has begun, and returns.
Then the caller can close the services.  A second signal ends the process at once.
"""

import asyncio
import gc
import signal
import socket
import sys
from functools import partial
from types import FrameType
from typing import Final, cast, final

import anyio
import uvicorn
from attrs import evolve
from starlette.types import ASGIApp

from chatmemory_layers.server.http_connection import ConnectionLimits, HttpConnection

SWITCH_SECONDS: Final = 0.0003
"""How long one thread may compute while another waits.  At Python's 5 ms, a busy event loop delays each statement of the
threads that query SQLite: the clients were answered at a quarter of the rate."""

KEEP_ALIVE_SECONDS: Final = 15
DRAIN_SECONDS: Final = 3
CANCEL_SECONDS: Final = 1.0
"""How long requests that still run after ``DRAIN_SECONDS`` may take to end once they are cancelled."""

OTHER_FILES: Final = 200
"""How many files a process holds open besides the sockets of its clients."""


async def serve(
    app: ASGIApp, listener: socket.socket, *, closing: anyio.Event, limits: ConnectionLimits
) -> None:
    """Answer clients at *listener* until a signal comes, then close it.

    *closing* is set when the server begins to close, so that streams end by themselves.  *limits* are those of each
    connection.
    """
    connections = max(1, min(limits.connections, _most_files() - OTHER_FILES))
    connection = partial(HttpConnection, limits=evolve(limits, connections=connections))
    config = uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", connection),  # uvicorn only calls it
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",  # http_connection reports malformed requests
        access_log=False,  # it would log paths
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    server = _Server(config, closing, asyncio.get_running_loop())
    try:
        await server.serve(sockets=[listener])
    finally:
        listener.close()
    if cancelled := server.server_state.tasks:
        await asyncio.wait(cancelled, timeout=CANCEL_SECONDS)


def suit_many_clients() -> None:
    """Adjust the interpreter; call it after all modules are loaded, because the collector then ignores existing objects.

    Measured with 64 clients that read pages at once (``benchmarks/http_load.py``).
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()


@final
class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, closing: anyio.Event, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(config)
        self.closing = closing
        self.loop = loop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  either signal ends it
        # uvicorn raises a signal that it gets here again when it is done; a server that has finished its work ends well.
        for handled in (signal.SIGINT, signal.SIGTERM):
            signal.signal(handled, signal.SIG_DFL)
        self.should_exit = True
        self.loop.call_soon_threadsafe(self.closing.set)


def _most_files() -> int:
    """Raise the limit of open files of this process, at most to its hard limit, and return it."""
    wanted = ConnectionLimits().connections + OTHER_FILES
    try:
        import resource
    except ImportError:
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else soft
