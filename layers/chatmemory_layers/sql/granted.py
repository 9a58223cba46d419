"""``granted_as_json``: the conversations that somebody may read, as a statement takes them."""

import json

from chatmemory.access.principal import Principal


def granted_as_json(principal: Principal) -> str | None:
    """Return a JSON array of objects with ``user``, ``app`` and ``prefix``; None: *principal* may read everything."""
    if principal.granted is None:
        return None
    readable = [one for one in principal.granted if "read" in one.rights]
    return json.dumps(
        [{"user": one.owner.user, "app": one.owner.app, "prefix": one.prefix} for one in readable]
    )
