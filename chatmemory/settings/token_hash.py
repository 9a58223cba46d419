"""How a token is made, what the configuration keeps of it, and until when it is accepted."""

from datetime import UTC, date, datetime, time
from typing import Final, final

from attrs import field, frozen

PREFIX: Final = "cm_"
"""By which people and scanners of secrets recognize a token of ours."""
RANDOM_BYTES: Final = 32

HASH: Final = "sha256:[0-9a-f]{64}"
"""A regular expression: what ``token_hash`` returns."""


def new_token() -> str:
    """Return a token that nobody can guess: 256 random bits."""
    import secrets

    return PREFIX + secrets.token_urlsafe(RANDOM_BYTES)


def token_hash(token: str) -> str:
    """Return the hash of *token*, as the configuration keeps it.

    Plain SHA-256 is right for 256 random bits: nobody tries them all, however fast one try is.  A slow function, which
    passwords of people need, would only let strangers keep the server busy.
    """
    from hashlib import sha256  # by whoever has tokens: it takes long to import

    return f"sha256:{sha256(token.encode()).hexdigest()}"


@final
@frozen
class AcceptedToken:
    """A token that a server accepts.

    Attributes:
        hash: of the token; see ``token_hash``.
        expires: the last day, in UTC, or the instant from which on it is refused; None: it does not expire.
    """

    hash: str = field(repr=False)
    expires: date | None = None

    @property
    def ends_at(self) -> datetime | None:
        """The instant from which on it is refused."""
        if self.expires is None or isinstance(self.expires, datetime):
            return self.expires
        return datetime.combine(self.expires, time.max, UTC)

    def is_expired(self, now: datetime) -> bool:
        """Tell whether the token is refused at *now*."""
        return self.ends_at is not None and now >= self.ends_at
