"""``Grant``: what a client may do, whichever door it comes through."""

from datetime import datetime
from functools import cached_property
from typing import Final, final

from attrs import Factory, field, frozen

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.access.principal import EVERY_RIGHT, EVERY_ROLE, READ, Granted, Principal
from chatmemory.effect import Effect
from chatmemory.input.choices import Role
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.settings.server_settings import ServerSettings, TokenSettings

NO_AUDIT: Final = Refusal("ForbiddenError", "the audit trail is for the main token: [server] token")
NO_PAST_CHATS: Final = Refusal("ForbiddenError", "this token is not for past chats")


def _own(grant: "Grant") -> tuple[Granted, ...]:
    return (Granted(Namespace(grant.user, grant.app)),)


@final
@frozen(kw_only=True)
class Grant:
    """What a client may do.

    Attributes:
        name: of its token in the configuration, in the log and the audit trail; in parentheses where there is no such name.
        user: whose memories it sees, and who owns the conversations that it begins.
        app: the app of these; ``""``: all of the user's.
        conversations: that it may use; not given: those of its user.
        roles: of the messages that it may add.
        past_chats: whether it may search the histories of other tools.
        is_main: whether it is whoever runs the server: it may read who did what, and sees the folders of the machine.
        read_only: whether it may only look.
        ends_at: the instant from which on it allows nothing, for answers that have no end of their own; None: it does not end.
    """

    name: str
    user: str
    app: str = ""
    conversations: tuple[Granted, ...] = field(default=Factory(_own, takes_self=True))
    roles: frozenset[Role] = EVERY_ROLE
    past_chats: bool = True
    is_main: bool = False
    read_only: bool = False
    ends_at: datetime | None = None

    @cached_property
    def principal(self) -> Principal:
        """Who acts when this client asks."""
        return Principal(
            name=self.name,
            namespace=Namespace(self.user, self.app),
            granted=self.conversations,
            roles=self.roles,
        )

    def namespace(self, app: str | None) -> Effect[Namespace, Refusal]:
        """Return the namespace in which the client asks, narrowed to *app*; its user is never the client's to choose."""
        if app is None or app == self.app:
            return Effect.succeed(Namespace(self.user, self.app))
        if self.app:
            return Effect.fail(Refusal("ForbiddenError", f"this token is for the app {self.app!r} only"))
        return Effect.succeed(Namespace(self.user, app))


def main_grant(settings: ServerSettings, *, name: str) -> Grant:
    """Return the grant of whoever needs no token or has the main one: all that is the user's, and what is nobody's."""
    own = Namespace(settings.user, settings.app)
    return Grant(
        name=name,
        user=settings.user,
        app=settings.app,
        conversations=(Granted(own), Granted(UNOWNED)),
        is_main=True,
    )


def token_grant(name: str, token: TokenSettings, settings: ServerSettings) -> Grant:
    """Return the grant of a client with *token*: what is its user's, and what is shared with it.

    What is nobody's, of earlier versions for example, is the main user's, and that of tokens for ids of a certain beginning.
    """
    most = READ if token.read_only else EVERY_RIGHT
    own = [Namespace(token.user, token.app)]
    if token.user == settings.user or token.conversations:
        own.append(UNOWNED)
    shared = [
        Granted(
            Namespace(one.user, one.app),
            one.conversations,
            most.intersection(one.rights),
        )
        for one in token.shared
    ]
    return Grant(
        name=name,
        user=token.user,
        app=token.app,
        conversations=(
            *(Granted(owner, token.conversations, most.intersection(token.rights)) for owner in own),
            *shared,
        ),
        roles=frozenset(token.roles),
        past_chats=token.past_chats,
        read_only=token.read_only,
    )
