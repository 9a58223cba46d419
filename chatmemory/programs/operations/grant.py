"""``Grant``: the rights of a client, for HTTP and for MCP."""

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

NO_AUDIT: Final = Refusal("ForbiddenError", "only the main token may read the audit trail: [server] token")
NO_PAST_CHATS: Final = Refusal("ForbiddenError", "this token may not read past chats")


def _own(grant: "Grant") -> tuple[Granted, ...]:
    return (Granted(Namespace(grant.user, grant.app)),)


@final
@frozen(kw_only=True)
class Grant:
    """The rights of a client.

    Attributes:
        name: the name of its token in the configuration, shown in the log and in the audit trail; a word in parentheses
            for a client without a named token.
        user: the user whose memories the client sees, and who owns the conversations that it creates.
        app: the app of those memories and conversations; ``""``: all apps of the user.
        conversations: the conversations that the client may use; by default those of *user*.
        roles: the roles of the messages that the client may add.
        past_chats: whether the client may search the chats of other tools.
        is_main: whether the client has the main token, which may read the audit trail and see folders of this machine.
        read_only: whether the client may change nothing.
        ends_at: the instant at which the grant and its event streams end; None: never.
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
        """The principal in whose name the services act for this client."""
        return Principal(
            name=self.name,
            namespace=Namespace(self.user, self.app),
            granted=self.conversations,
            roles=self.roles,
        )

    def namespace(self, app: str | None) -> Effect[Namespace, Refusal]:
        """Return the namespace of the client, limited to *app* if given; a client cannot choose another user.

        Fails with a ``ForbiddenError`` refusal if the grant is for another app.
        """
        if app is None or app == self.app:
            return Effect.succeed(self.principal.namespace)
        if self.app:
            return Effect.fail(Refusal("ForbiddenError", f"this token is for the app {self.app!r} only"))
        return Effect.succeed(Namespace(self.user, app))


def main_grant(settings: ServerSettings, *, name: str) -> Grant:
    """Return the grant of a client with the main token, or of any client if no token is needed.

    It covers all data of the configured user, and conversations without an owner.  The log and the audit trail show
    *name*.
    """
    own = Namespace(settings.user, settings.app)
    return Grant(
        name=name,
        user=settings.user,
        app=settings.app,
        conversations=(Granted(own), Granted(UNOWNED)),
        is_main=True,
    )


def token_grant(name: str, token: TokenSettings, settings: ServerSettings) -> Grant:
    """Return the grant of a client with *token*: the data of its user, and the conversations shared with it.

    Conversations without an owner, which earlier versions wrote, belong to the main user.  A token that is limited to
    ids with a certain prefix may also use those whose id has this prefix.
    """
    most = READ if token.read_only else EVERY_RIGHT
    own = [Namespace(token.user, token.app)]
    if token.user == settings.user or token.conversations:
        own.append(UNOWNED)
    shared = [
        Granted(Namespace(one.user, one.app), one.conversations, most.intersection(one.rights))
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
