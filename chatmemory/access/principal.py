"""``Principal``: a user or client with rights; ``acting_as``: runs a block with the rights of a principal.

The principal is not an argument of the methods, so no code between the caller and the store can omit or replace it.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Literal, TypeAlias, final, get_args

from attrs import frozen

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.errors import AccessDeniedError
from chatmemory.input.choices import Role
from chatmemory.input.rules import text_problem

Right: TypeAlias = Literal["read", "write", "delete"]
"""``read``: read a conversation.  ``write``: add messages to it.  ``delete``: clear it, or remove its newest message."""

READ: Final[frozenset[Right]] = frozenset({"read"})
EVERY_RIGHT: Final[frozenset[Right]] = frozenset(get_args(Right))
EVERY_ROLE: Final[frozenset[Role]] = frozenset(get_args(Role))


def _check(**texts: str) -> None:
    for name, text in texts.items():
        if (problem := text_problem(text)) is not None:
            msg = f"{name}: {problem}"
            raise ValueError(msg)


@final
@frozen
class Granted:
    """Conversations that a principal may use.

    Attributes:
        owner: their owner; an owner with an app also covers the conversations that the user has in no app.
        prefix: the prefix of their ids; ``""``: all ids.
        rights: the rights on them.

    Raises:
        ValueError: the owner or the prefix has a NUL or a lone surrogate.
    """

    owner: Namespace
    prefix: str = ""
    rights: frozenset[Right] = EVERY_RIGHT

    def __attrs_post_init__(self) -> None:
        """Check the texts."""
        _check(user=self.owner.user, app=self.owner.app, prefix=self.prefix)

    def covers(self, right: Right, owner: Namespace, conversation_id: str) -> bool:
        """Return whether this allows *right* on a conversation.

        Args:
            right: the right to check.
            owner: the owner of the conversation.
            conversation_id: the id of the conversation.

        Returns:
            True when the right is granted for this owner and id.
        """
        return right in self.rights and self.owner.sees(owner) and conversation_id.startswith(self.prefix)


@final
@frozen(kw_only=True)
class Principal:
    """A user or client with rights; the conversations that it creates belong to it.

    Attributes:
        name: the name of the client in the audit trail, never a secret; the trail leaves out a principal without a name.
        namespace: the owner of the conversations that it creates.  With row security, PostgreSQL shows and changes only
            the memories of its user.
        granted: the conversations that it may use; None: all.
        roles: the roles of the messages that it may write.

    Raises:
        ValueError: the name or the namespace has a NUL or a lone surrogate.
    """

    name: str
    namespace: Namespace
    granted: tuple[Granted, ...] | None = ()
    roles: frozenset[Role] = EVERY_ROLE

    def __attrs_post_init__(self) -> None:
        """Check the texts."""
        _check(name=self.name, user=self.namespace.user, app=self.namespace.app)

    def may(self, right: Right, owner: Namespace, conversation_id: str) -> bool:
        """Return whether the principal has *right* on a conversation.

        Args:
            right: the right to check.
            owner: the owner of the conversation.
            conversation_id: the id of the conversation.

        Returns:
            True when a grant covers it, or when the principal needs no grants.
        """
        return self.granted is None or any(one.covers(right, owner, conversation_id) for one in self.granted)

    def refusal(self, right: Right, owner: Namespace, conversation_id: str) -> AccessDeniedError | None:
        """Return the error for a right that the principal lacks on a conversation.

        Args:
            right: the right to check.
            owner: the owner of the conversation.
            conversation_id: the id of the conversation.

        Returns:
            the error; None when the principal has the right.
        """
        return None if self.may(right, owner, conversation_id) else AccessDeniedError(right, conversation_id)

    def refusal_to_add(
        self, roles: Iterable[Role], owner: Namespace, conversation_id: str
    ) -> AccessDeniedError | None:
        """Return the error for adding messages that the principal may not add.

        Args:
            roles: the roles of the messages.
            owner: the owner of the conversation.
            conversation_id: the id of the conversation.

        Returns:
            the error; None when the principal may write to the conversation in all of *roles*.
        """
        for role in roles:
            if role not in self.roles:
                return AccessDeniedError(f"write {role} messages", conversation_id)
        return self.refusal("write", owner, conversation_id)


EVERYBODY: Final = Principal(name="", namespace=UNOWNED, granted=None)
"""The principal with every right, for a program that works on the conversations of all users."""

NO_PRINCIPAL: Final = Principal(name="", namespace=UNOWNED, granted=(Granted(UNOWNED),))
"""The principal outside of every ``acting_as``: it may use the conversations without an owner, and the conversations that it
creates have none."""

_acting: ContextVar[Principal] = ContextVar("chatmemory.principal", default=NO_PRINCIPAL)


@contextmanager
def acting_as(principal: Principal) -> Generator[None]:
    """Run the block with the rights of *principal*: stores show and change only the conversations that these rights allow.

    A call on memories names its user; only PostgreSQL with row security compares it with the principal.  The principal
    applies to the effects that are awaited in the block, to the tasks that start in it, and to a
    ``ThreadRuntime`` that is called in it.  A thread that a pool starts does not inherit it: call ``acting_as`` there.

        with acting_as(Principal(name="phone", namespace=ada, granted=(Granted(ada),))):
            await memory.get_messages("trip")
    """
    token = _acting.set(principal)
    try:
        yield
    finally:
        _acting.reset(token)


principal: Final[Callable[[], Principal]] = _acting.get
"""Returns the principal of the running code; ``NO_PRINCIPAL`` outside of every ``acting_as``."""
