"""``token_notices``: warnings about tokens for the operator, printed when a server starts."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from chatmemory.settings.server_settings import AcceptedToken, ServerSettings

SOON: Final = timedelta(days=7)


def token_notices(settings: ServerSettings, now: datetime) -> Iterator[str]:
    """Yield a line for each token that is in plain text in the configuration, has expired at *now*, or will expire soon."""
    if settings.token:
        yield _plain("server.token", "NAME")
    for name, token in settings.tokens.items():
        if token.token is not None:
            yield _plain(f"server.tokens.{name}.token", name)
        current, *previous = token.accepted
        yield from _ending(f"the token of {name}", current, now, f"'chatmemory token {name}' makes another")
        for accepted in previous:
            yield from _ending(f"the previous token of {name}", accepted, now, "its clients need the new one")


def _plain(place: str, name: str) -> str:
    return f"{place} is in plain text in the configuration: replace it by the hash that 'chatmemory token {name}' prints"


def _ending(which: str, accepted: AcceptedToken, now: datetime, cure: str) -> Iterator[str]:
    if accepted.is_expired(now):
        yield f"{which} has expired ({accepted.expires}): {cure}"
    elif accepted.is_expired(now + SOON):
        yield f"{which} expires soon ({accepted.expires}): {cure}"
