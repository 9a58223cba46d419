"""``open_listener``: the socket of a server; only this machine can reach it, unless clients need a token.

A name is resolved once, so the address that is checked is the address that is bound.
"""

import errno
import os
import socket
from ipaddress import ip_address
from typing import Any, Final

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import ConfigError, InvalidValue

HOST: Final = "server.host"
PORT: Final = "server.port"

WAITING_CONNECTIONS: Final = 2048  # not yet accepted; the system may allow fewer

UNGUARDED: Final = (
    "other machines reach this address, so clients need a token: set server.tokens.NAME to what"
    " 'chatmemory token NAME' prints, or listen at 127.0.0.1"
)


def open_listener(host: str, port: int, *, needs_token: bool) -> Outcome[socket.socket, ConfigError]:
    """Listen at an address, or return why that is not possible; the port 0 is a free one.

    An address that other machines reach is refused before a socket is open, unless clients need a token.
    """
    if not host:
        return _refused(HOST, "name an address: 127.0.0.1, or 0.0.0.0 for all of them")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return _refused(HOST, f"no address {host!r}: {error}")
    addresses = [(family, address) for family, *_, address in found]
    if not needs_token and not all(_is_loopback(address) for _, address in addresses):
        return _refused(HOST, UNGUARDED)
    return _listen(*addresses[0])


def url_of(listener: socket.socket) -> str:
    """Return the address of *listener* as a URL for a browser."""
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _is_loopback(address: tuple[Any, ...]) -> bool:
    return ip_address(str(address[0]).partition("%")[0]).is_loopback


def _listen(family: int, address: tuple[Any, ...]) -> Outcome[socket.socket, ConfigError]:
    # With the protocol given, asyncio turns off Nagle's algorithm, which would delay the end of each answer by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # on Windows it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(WAITING_CONNECTIONS)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        host, port, *_ = address
        match error.errno:
            case errno.EADDRINUSE:
                return _refused(
                    PORT, f"{port} of {host} is taken: stop the other server, or choose another port"
                )
            case errno.EACCES:
                return _refused(PORT, f"this user may not listen at port {port}: choose one above 1023")
            case _:
                return _refused(HOST, f"cannot listen at {host} port {port}: {error.strerror}")
    return Success(listener)


def _refused(setting: str, message: str) -> Outcome[socket.socket, ConfigError]:
    return Failure(ConfigError((InvalidValue(setting, message),)))
