"""``WrongTokens``: delays the answers to wrong tokens of one address, more each time, up to two seconds.

A valid token never waits.  Clients may share an address, for example behind a proxy, so none is refused because of others.
"""

from ipaddress import ip_address, ip_network
from typing import Final, final

from chatmemory.effect.services.clock import Clock

FIRST_SECONDS: Final = 0.02
"""The delay for the second wrong token; the first may be a mistake.  Each further one waits twice as long."""
LONGEST_SECONDS: Final = 2.0
"""The longest delay: shorter than the time that a server has to finish its requests when it shuts down."""
DOUBLINGS: Final = 20
"""The most doublings to compute; the longest delay is reached before."""

REMEMBERED_SECONDS: Final = 600.0
"""An address is forgotten this long after its last wrong token."""
MOST_ADDRESSES: Final = 1_000
"""The most addresses to count for; if there are more, the one that was quiet for longest is forgotten."""
MOST_WAITING: Final = 100
"""The most delayed answers at once, because each keeps a connection open; further ones are not delayed."""

IPV6_CLIENT_BITS: Final = 64
"""All IPv6 addresses that begin with the same bits belong to one client."""


@final
class WrongTokens:
    """Counts wrong tokens by address, and delays their answers."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, float]] = {}  # the address that was quiet for longest is first
        self._waiting = 0

    def count(self, address: str, now: float) -> int:
        """Count a wrong token, and return how many came from this address without a long pause.

        Args:
            address: the address of the client.
            now: the current time in seconds.
        """
        client = _client(address)
        before, last = self._counts.pop(client, (0, now))
        count = before + 1 if now - last < REMEMBERED_SECONDS else 1
        self._counts[client] = (count, now)
        if len(self._counts) > MOST_ADDRESSES:
            del self._counts[next(iter(self._counts))]
        return count

    async def wait(self, count: int, clock: Clock) -> None:
        """Sleep for the delay of wrong token number *count*."""
        if count == 1 or self._waiting >= MOST_WAITING:
            return
        self._waiting += 1
        try:
            await clock.sleep(min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** min(count - 2, DOUBLINGS)))
        finally:
            self._waiting -= 1


def _client(address: str) -> str:
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:  # a name, or a socket without an address
        return address
    if known.version == 4 or known.ipv4_mapped:  # noqa: PLR2004  of the protocol
        return address
    return str(ip_network((known, IPV6_CLIENT_BITS), strict=False))
