"""Functions that make and hash a token, and ``AcceptedToken``, which knows until when a token is accepted."""

from datetime import UTC, date, datetime, time
from typing import Final, final

from attrs import field, frozen

PREFIX: Final = "cm_"
"""The prefix by which people and scanners of secrets recognize a token of chatmemory."""
RANDOM_BYTES: Final = 32

HASH: Final = "sha256:[0-9a-f]{64}"
"""A regular expression for the result of ``token_hash``."""


def new_token() -> str:
    """Return a random token of 256 bits, which cannot be guessed."""
    import secrets

    return PREFIX + secrets.token_urlsafe(RANDOM_BYTES)


def token_hash(token: str) -> str:
    """Return the hash of *token*, as the configuration stores it.

    Plain SHA-256 is sufficient for 256 random bits, which cannot be guessed by trying.  Passwords of people need a
    slow function; here it would only let an attacker keep the server busy.
    """
    # Imported here: the import takes long, and only configurations with tokens need it.
    from hashlib import sha256

    return f"sha256:{sha256(token.encode()).hexdigest()}"


@final
@frozen
class AcceptedToken:
    """A token that a server accepts.

    Attributes:
        hash: the hash of the token; see ``token_hash``.
        expires: the last day, in UTC, or the instant from which it is refused; None: it does not expire.
    """

    hash: str = field(repr=False)
    expires: date | None = None

    @property
    def ends_at(self) -> datetime | None:
        """The instant from which the token is refused; None: never."""
        if self.expires is None or isinstance(self.expires, datetime):
            return self.expires
        return datetime.combine(self.expires, time.max, UTC)

    def is_expired(self, now: datetime) -> bool:
        """Return whether the token is refused at *now*."""
        return self.ends_at is not None and now >= self.ends_at
