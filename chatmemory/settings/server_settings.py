"""``server``: the HTTP API and the page; see ``settings.py``."""

import re
from collections.abc import Mapping
from typing import Final, final

from attrs import field, frozen, validators

from chatmemory.effect import Tag
from chatmemory.settings.setting_rules import POSITIVE, SOME_TIME

HIGHEST_PORT: Final = 65_535
SHORTEST_TOKEN: Final = 16  # characters: less can be guessed
SENDABLE: Final = re.compile(r"[!-~]([ -~]*[!-~])?")
"""What a header brings to the other side as it was."""


def _check_sendable(token: str) -> None:
    # In words of our own: a validator of attrs would show the secret that it refuses.
    if not SENDABLE.fullmatch(token):
        msg = "the token must be of letters, digits and signs of ASCII, without spaces around it: no client could send it"
        raise ValueError(msg)


@final
@frozen(kw_only=True)
class TokenSettings:
    """``server.tokens.NAME``: what a client may do that sends this token.

    Attributes:
        token: sent as ``Authorization: Bearer TOKEN``; 16 characters or more, of ASCII.
        user: whose memories it sees.
        app: in which app; empty: in all of them.
        conversations: it sees those whose ids begin so; empty: all of them.
        past_chats: whether it may search the histories of other tools.
        read_only: whether it may only look.
    """

    token: str = field(repr=False, validator=validators.min_len(SHORTEST_TOKEN))
    user: str = field(validator=validators.min_len(1))
    app: str = ""
    conversations: str = ""
    past_chats: bool = False
    read_only: bool = False

    def __attrs_post_init__(self) -> None:
        _check_sendable(self.token)


@final
@frozen(kw_only=True)
class ServerSettings:
    """``server``: where ``chatmemory serve`` listens, and whom it answers.

    Attributes:
        host: the address to listen at; any that is not of this machine alone needs a token.
        port: 0: one that is free.
        hosts: further names by which clients may call it, parted by commas, such as that of a reverse proxy.
        user: whose memories a client sees that needs no token, or has *token*.
        app: in which app; empty: in all of them.
        token: empty: programs and browsers of this machine need none.
        tokens: further tokens by name, each with a user of its own.
        max_requests: answered at once; more are told to come again.  Those that ask models are counted by themselves.
        max_body_bytes: of a request.
        header_seconds: how long the head of a request may take to arrive.
        body_seconds: how long its body may take.
    """

    host: str = field(default="127.0.0.1", validator=validators.min_len(1))
    port: int = field(default=8642, validator=[validators.ge(0), validators.le(HIGHEST_PORT)])
    hosts: str = ""
    user: str = field(default="default", validator=validators.min_len(1))
    app: str = ""
    token: str = field(default="", repr=False)
    tokens: Mapping[str, TokenSettings] = field(factory=dict[str, TokenSettings])
    max_requests: int = field(default=64, validator=POSITIVE)
    max_body_bytes: int = field(default=1_000_000, validator=POSITIVE)
    header_seconds: float = field(default=3.0, validator=SOME_TIME)
    body_seconds: float = field(default=10.0, validator=SOME_TIME)

    def __attrs_post_init__(self) -> None:
        if self.token:
            _check_sendable(self.token)
            if len(self.token) < SHORTEST_TOKEN:
                msg = f"token must have {SHORTEST_TOKEN} characters or more, or be empty"
                raise ValueError(msg)
        every = [*filter(None, [self.token]), *(client.token for client in self.tokens.values())]
        if len(set(every)) < len(every):
            msg = "two tokens are the same: nobody could tell whose it is"
            raise ValueError(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """By which clients may call it, beside those of this machine's loopback."""
        return (self.host, *filter(None, map(str.strip, self.hosts.split(","))))

    @property
    def needs_token(self) -> bool:
        """Tell whether a client needs a token."""
        return bool(self.token or self.tokens)


class ServerSettingsTag(Tag[ServerSettings]):
    """Where layers provide ``ServerSettings``."""
