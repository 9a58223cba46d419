"""``Principal``: somebody who acts; ``acting_as``: for whom the present code runs.

It is no argument of each method, so that nobody on the way to the store can forget to hand it on, or hand on another.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Literal, TypeAlias, final, get_args

from attrs import frozen

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.errors import AccessDeniedError
from chatmemory.input.choices import Role

Right: TypeAlias = Literal["read", "write", "delete"]
"""``read``: see it.  ``write``: add to it.  ``delete``: clear it, or take its newest message away."""

READ: Final[frozenset[Right]] = frozenset({"read"})
EVERY_RIGHT: Final[frozenset[Right]] = frozenset(get_args(Right))
EVERY_ROLE: Final[frozenset[Role]] = frozenset(get_args(Role))


@final
@frozen
class Granted:
    """Conversations that a principal may use.

    Attributes:
        owner: whose they are; with an app, also those that the user has in no app.
        prefix: how their ids begin; ``""``: all of them.
        rights: what may be done with them.
    """

    owner: Namespace
    prefix: str = ""
    rights: frozenset[Right] = EVERY_RIGHT

    def covers(self, right: Right, owner: Namespace, conversation_id: str) -> bool:
        """Return whether this allows *right* on a conversation."""
        return right in self.rights and self.owner.sees(owner) and conversation_id.startswith(self.prefix)


@final
@frozen(kw_only=True)
class Principal:
    """Somebody who acts: what they begin is theirs, and what they may do is written down.

    Attributes:
        name: of the client, for the audit trail, never a secret; without a name nothing goes on record.
        namespace: the owner of the conversations that they begin.
        granted: the conversations that they may use; None: all.
        roles: of the messages that they may write.
    """

    name: str
    namespace: Namespace
    granted: tuple[Granted, ...] | None = ()
    roles: frozenset[Role] = EVERY_ROLE

    def may(self, right: Right, owner: Namespace, conversation_id: str) -> bool:
        """Return whether they may do this with a conversation of *owner*."""
        return self.granted is None or any(one.covers(right, owner, conversation_id) for one in self.granted)

    def refusal(self, right: Right, owner: Namespace, conversation_id: str) -> AccessDeniedError | None:
        """Return the error that keeps them from it, if one does."""
        return None if self.may(right, owner, conversation_id) else AccessDeniedError(right, conversation_id)

    def refusal_to_add(
        self, roles: Iterable[Role], owner: Namespace, conversation_id: str
    ) -> AccessDeniedError | None:
        """Return the error that keeps them from adding messages in these *roles*, if one does."""
        for role in roles:
            if role not in self.roles:
                return AccessDeniedError(f"write {role} messages", conversation_id)
        return self.refusal("write", owner, conversation_id)


ANYBODY: Final = Principal(name="", namespace=UNOWNED, granted=None)
"""Who acts when nobody is named: a program that has the store to itself, and may do everything."""

_acting: ContextVar[Principal] = ContextVar("chatmemory.principal", default=ANYBODY)


@contextmanager
def acting_as(principal: Principal) -> Generator[None]:
    """Run the block for *principal*: stores show them what they may see and do what they may do, and nothing else.

    It holds for the effects that are awaited inside, for tasks and fibers that start inside, and for a ``ThreadRuntime``
    that is asked inside.

        with acting_as(Principal(name="phone", namespace=ada, granted=(Granted(ada),))):
            await memory.get_messages("trip")
    """
    token = _acting.set(principal)
    try:
        yield
    finally:
        _acting.reset(token)


principal: Final[Callable[[], Principal]] = _acting.get
"""Returns for whom the present code runs; ``ANYBODY`` outside of every ``acting_as``."""
