"""``ServerSettings``: settings of ``server``, the HTTP API and the page; ``new_token``, ``token_hash``: make its tokens."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Final, final

from attrs import Attribute, field, frozen, validators

from chatmemory.access.principal import Right
from chatmemory.effect import Tag
from chatmemory.input.choices import Role
from chatmemory.input.rules import text_problem
from chatmemory.settings.setting_rules import POSITIVE, SOME_TIME, Matching

PREFIX: Final = "cm_"
"""The prefix by which people and scanners of secrets recognize a token of chatmemory."""

RANDOM_BYTES: Final = 32

HASH: Final = "sha256:[0-9a-f]{64}"
"""A regular expression for the result of ``token_hash``."""

HIGHEST_PORT: Final = 65_535
SHORTEST_TOKEN: Final = 16  # characters: a shorter token can be guessed
LONGEST_AUDIT_DAYS: Final = 36_500
SENDABLE: Final = re.compile(r"[!-~]([ -~]*[!-~])?")
"""Characters that a header transports unchanged."""


def storable(_settings: object, attribute: "Attribute[str]", value: str) -> None:
    """Raise ``ValueError`` for a text that no store can keep."""
    if (problem := text_problem(value)) is not None:
        msg = f"{attribute.name}: {problem}"
        raise ValueError(msg)


A_NAME: Final = validators.and_(validators.min_len(1), storable)
A_HASH: Final = validators.optional(
    Matching(HASH, "'sha256:' and 64 hexadecimal digits, as 'chatmemory token NAME' prints them")
)


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


@final
@frozen(kw_only=True)
class SharedSettings:
    """``server.tokens.NAME.shared``: conversations of another user that the client may use, too.

    Attributes:
        user: the owner of the conversations.
        app: the app of the conversations; empty: any app.
        conversations: the prefix of their ids; empty: all conversations.
        rights: what the client may do with them: ``read``, ``write`` (add to them), ``delete`` (clear them).
    """

    user: str = field(validator=A_NAME)
    app: str = field(default="", validator=storable)
    conversations: str = field(default="", validator=storable)
    rights: tuple[Right, ...] = ("read",)


@final
@frozen(kw_only=True)
class TokenSettings:
    """``server.tokens.NAME``: what a client with this token may do.

    Attributes:
        hash: the hash of the token, which the client sends as ``Authorization: Bearer TOKEN``; ``chatmemory token
            NAME`` makes both.
        expires: the last day of the token, in UTC, or the instant at which it ends.
        previous_hash: the hash of the token that *hash* replaces, which is also valid.
        previous_expires: when the previous token ends.
        token: the token itself, instead of *hash*, as earlier versions stored it; at least 16 ASCII characters.
        user: the client sees the memories and the conversations of this user, and owns the conversations that it creates.
        app: the client sees only those of this app; empty: those of all apps.
        conversations: the client sees conversations whose ids begin with this text; empty: all conversations of the user.
        rights: what the client may do with these conversations: ``read``, ``write`` (add to them), ``delete`` (clear
            them).
        roles: the roles of the messages that the client may add; ``system`` only when it is listed here.
        shared: conversations of other users that the client may use, too.
        past_chats: whether the client may search the histories of other tools.
        read_only: whether the client may only read.
    """

    hash: str | None = field(default=None, repr=False, validator=A_HASH)
    expires: date | None = None
    previous_hash: str | None = field(default=None, repr=False, validator=A_HASH)
    previous_expires: date | None = None
    token: str | None = field(
        default=None, repr=False, validator=validators.optional(validators.min_len(SHORTEST_TOKEN))
    )
    user: str = field(validator=A_NAME)
    app: str = field(default="", validator=storable)
    conversations: str = field(default="", validator=storable)
    rights: tuple[Right, ...] = ("read", "write", "delete")
    roles: tuple[Role, ...] = ("user", "assistant", "tool")
    shared: tuple[SharedSettings, ...] = ()
    past_chats: bool = False
    read_only: bool = False

    def __attrs_post_init__(self) -> None:
        if (self.hash is None) == (self.token is None):
            msg = "hash: one is needed, and no token beside it: 'chatmemory token NAME' makes it"
            raise ValueError(msg)
        if self.token is not None:
            _check_sendable(self.token)
        if self.previous_expires is not None and self.previous_hash is None:
            msg = "previousExpires: there is no previousHash"
            raise ValueError(msg)
        for expires in (self.expires, self.previous_expires):
            _check_zone(expires)

    @property
    def accepted(self) -> tuple[AcceptedToken, ...]:
        """The token, and the previous one if there is one."""
        current = token_hash(self.token) if self.token is not None else self.hash or ""
        if self.previous_hash is None:
            return (AcceptedToken(current, self.expires),)
        return AcceptedToken(current, self.expires), AcceptedToken(self.previous_hash, self.previous_expires)


@final
@frozen(kw_only=True)
class ServerSettings:
    """``server``: where ``chatmemory serve`` listens, and which clients it answers.

    Attributes:
        host: the address to listen on; a token is required unless it is an address of this machine only.
        port: 0: any free port.
        hosts: other host names under which clients reach the server, such as that of a reverse proxy, separated by commas.
        user: a client that needs no token, or sends *token*, sees the memories and conversations of this user.
            Conversations without an owner, which a program stored without ``acting_as``, belong to this user.
        app: the app of such a client; empty: all apps.
        token: the token of that user, as it is sent; empty: programs and browsers of this machine need no token.
            Prefer a table in *tokens*, which stores only the hash.
        tokens: further tokens by name, each with a user of its own; the log shows the name.
        max_requests: how many requests are answered at the same time; more are asked to try again later.  Requests that
            call models are counted separately.
        max_body_bytes: the largest size of a request body.
        header_seconds: how long the head of a request may take to arrive.
        body_seconds: how long the body of a request may take to arrive.
        audit_days: how many days the log of events is kept; 0: forever.
    """

    host: str = field(default="127.0.0.1", validator=validators.min_len(1))
    port: int = field(default=8642, validator=[validators.ge(0), validators.le(HIGHEST_PORT)])
    hosts: str = ""
    user: str = field(default="default", validator=A_NAME)
    app: str = field(default="", validator=storable)
    token: str = field(default="", repr=False)
    tokens: Mapping[str, TokenSettings] = field(factory=dict[str, TokenSettings])
    max_requests: int = field(default=64, validator=POSITIVE)
    max_body_bytes: int = field(default=1_000_000, validator=POSITIVE)
    header_seconds: float = field(default=3.0, validator=SOME_TIME)
    body_seconds: float = field(default=10.0, validator=SOME_TIME)
    audit_days: int = field(default=90, validator=[validators.ge(0), validators.le(LONGEST_AUDIT_DAYS)])

    def __attrs_post_init__(self) -> None:
        if self.token:
            _check_sendable(self.token)
            if len(self.token) < SHORTEST_TOKEN:
                msg = f"token must have {SHORTEST_TOKEN} characters or more, or be empty"
                raise ValueError(msg)
        for name in self.tokens:
            check_token_name(name)
        every = [accepted.hash for token in self.tokens.values() for accepted in token.accepted]
        if self.token:
            every.append(token_hash(self.token))
        if len(set(every)) < len(every):
            msg = "two tokens are the same: nobody could tell whose it is"
            raise ValueError(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """The host names under which clients reach the server, besides those of the loopback interface."""
        return (self.host, *filter(None, map(str.strip, self.hosts.split(","))))

    @property
    def needs_token(self) -> bool:
        """Whether a client needs a token."""
        return bool(self.token or self.tokens)


class ServerSettingsTag(Tag[ServerSettings]):
    """The tag under which layers provide ``ServerSettings``."""


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


def check_token_name(name: str) -> None:
    """Raise ``ValueError`` unless a log can show *name* as it is."""
    if not name.strip() or not name.isprintable() or name.startswith("("):
        msg = f"tokens.{name!r}: the log shows this name: write letters, digits and signs, and no '(' at its beginning"
        raise ValueError(msg)


def _check_sendable(token: str) -> None:
    # A text of our own: a validator of attrs would show the secret that it refuses.
    if not SENDABLE.fullmatch(token):
        msg = "the token must be of letters, digits and signs of ASCII, without spaces around it: no client could send it"
        raise ValueError(msg)


def _check_zone(expires: date | None) -> None:
    if isinstance(expires, datetime) and expires.tzinfo is None:
        msg = (
            f"no time zone in {expires.isoformat()}: write a date, or an instant such as 2027-01-01T12:00:00Z"
        )
        raise ValueError(msg)
