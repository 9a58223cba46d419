"""``WrongTokens``: every further wrong token of one address is answered later, up to two seconds; a right one never waits.

Many clients may share an address, behind a proxy for example, so nobody is refused for what others of it have sent.
"""

from ipaddress import ip_address, ip_network
from typing import Final, final

from chatmemory.effect.services.clock import Clock

FIRST_SECONDS: Final = 0.02
"""Of the second wrong token; the first may be a slip, and each further one waits twice as long."""
LONGEST_SECONDS: Final = 2.0
"""Less than a server that ends gives to what it has begun."""
DOUBLINGS: Final = 20
"""More are never needed."""

REMEMBERED_SECONDS: Final = 600.0
"""After the last wrong token of an address."""
MOST_ADDRESSES: Final = 1_000
"""Of which the server knows how many wrong tokens came; beyond it the one that was quiet for longest is forgotten."""
MOST_WAITING: Final = 100
"""Answers that are held back at once, each with its connection; beyond it they are given at once."""

IPV6_CLIENT_BITS: Final = 64
"""A client of IPv6 has all addresses that begin with the same bits."""


@final
class WrongTokens:
    """Counts wrong tokens by address, and holds their answers back."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, float]] = {}  # the address that was quiet for longest comes first
        self._waiting = 0

    def count(self, address: str, now: float) -> int:
        """Count a wrong token of *address* at *now* (seconds), and return how many came without a long pause."""
        client = _client(address)
        before, last = self._counts.pop(client, (0, now))
        count = before + 1 if now - last < REMEMBERED_SECONDS else 1
        self._counts[client] = (count, now)
        if len(self._counts) > MOST_ADDRESSES:
            del self._counts[next(iter(self._counts))]
        return count

    async def wait(self, count: int, clock: Clock) -> None:
        """Sleep for as long as the answer to wrong token number *count* is held back."""
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
