"""The conversations that a principal may read, as parameters of the statements that list conversations."""

import json
from collections.abc import Sequence

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import NO_PRINCIPAL, Granted, Principal, principal


def may_read(conversation_id: str, owner_user: str, owner_app: str) -> bool:
    """Return whether the current principal may read a conversation of this owner."""
    who = principal()
    if who is NO_PRINCIPAL:  # for nearly every read of a program with one user
        return not owner_user
    return who.may("read", Namespace(owner_user, owner_app), conversation_id)


def readable_grants(principal: Principal) -> Sequence[Granted] | None:
    """Return the grants by which *principal* may read conversations; None: they may read everything."""
    if principal.granted is None:
        return None
    return [one for one in principal.granted if "read" in one.rights]


def granted_as_json(principal: Principal) -> str | None:
    """Return a JSON array of objects with ``user``, ``app`` and ``prefix``; None: *principal* may read everything."""
    readable = readable_grants(principal)
    if readable is None:
        return None
    return json.dumps(
        [{"user": one.owner.user, "app": one.owner.app, "prefix": one.prefix} for one in readable]
    )
