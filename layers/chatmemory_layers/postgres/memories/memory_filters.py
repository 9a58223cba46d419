"""Conditions that statements about memories share; each is SQL for a WHERE clause over ``atomic_memory`` or its view ``memory_record``.

The parameters have one place in every statement: ``$1`` the user, ``$2`` the app, ``$3`` the instant.
"""

from datetime import datetime
from typing import Final

from chatmemory.longterm.memories import Namespace
from chatmemory_layers.sql.columns import to_us

# A key that is looked up once, instead of a join: what follows comes out of an index of the user in its order.
OWNED: Final = "user_key = (SELECT user_key FROM memory_user WHERE user_id = $1)"
# See Namespace.sees.
SEEN: Final = f"{OWNED} AND ($2 = '' OR app_type IN ('', $2))"
# Now, unless there is an instant.
TRUE: Final = """
($3::bigint IS NULL OR created_at_us <= $3) AND (superseded_at_us IS NULL OR superseded_at_us > $3)
"""


def seen_by(namespace: Namespace) -> tuple[str, str]:
    """Return the parameters of ``SEEN``."""
    return namespace.user, namespace.app


def true_at(namespace: Namespace, as_of: datetime | None) -> tuple[str, str, int | None]:
    """Return the parameters of ``SEEN`` and ``TRUE``."""
    return namespace.user, namespace.app, None if as_of is None else to_us(as_of)
