"""The conversations that a principal may read: the check of one, the parameters of lists, and branches with their parents."""

import json
from collections.abc import Iterable, Sequence

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import NO_PRINCIPAL, Granted, Principal, principal
from chatmemory.conversation.messages import Conversation


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


def parents_of(conversations: Iterable[Conversation]) -> list[str]:
    """Return the ids of the conversations from which *conversations* were forked."""
    return [*{one.forked_from.conversation_id for one in conversations if one.forked_from is not None}]


def with_seen_parents(
    conversations: Iterable[Conversation], owners: Iterable[tuple[str, str, str]]
) -> tuple[Conversation, ...]:
    """Remove from each branch the id of a parent that the current principal may not see; *owners*: id, user and app of each parent."""
    seen = {id_ for id_, user, app in owners if may_read(id_, user, app)}
    return tuple(
        one
        if one.forked_from is None or one.forked_from.conversation_id in seen
        else evolve(one, forked_from=None)
        for one in conversations
    )
