"""``under_key``: binds an ``Idempotency-Key`` to one request, and refuses another request with the same key.

The key is stored before the write begins.  If the answer was lost, the client can always send the write again, because
the ids of what it stores are derived from the key (``input/made_id.py``).  So nothing is lost if the server ends between
storing the key and the write.
"""

import json
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final

from chatmemory.access.principal import ANYBODY, acting_as
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import GenericMemoryError
from chatmemory.input.made_id import made_id
from chatmemory.input.structure import unstructure
from chatmemory.items.item_repository import (
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepository,
    ItemRepositoryTag,
    Labels,
)
from chatmemory.programs.http.operation import Call
from chatmemory.programs.operations.refusal import ApiError, Refusal

LIFETIME: Final = timedelta(days=7)
"""How long a different request is refused; a repeated request is recognized for as long as its messages are stored."""

LABELS: Final[Labels] = ("idempotency-key",)
SWEPT_BY: Final = "00"
"""A request whose name begins so, one of 256, also removes expired keys; so no timer is needed."""

REUSED: Final = Refusal(
    "IdempotencyKeyReusedError",
    "this Idempotency-Key was already used for another request: repeat that request, or send this one with a new key",
)


@Effect.gen
async def under_key(
    do: Do[ApiError, Any], operation: str, call: Call[Any, Any], write: Effect[Any, ApiError, Any]
) -> Any:
    """Run *write* if the key of *call* is new or was used for the same request; otherwise fail with a refusal.

    Args:
        do: runs a step.
        operation: the name of the operation.
        call: the request, with a key.
        write: the effect of the request; if it fails because of the request itself, the key can be used again.
    """
    items: ItemRepository = do.service(ItemRepositoryTag)
    now = do.service(ClockTag).now()
    grant = call.grant
    name = ItemName(LABELS, made_id(grant.user, grant.app, operation, *call.path.values(), call.key or ""))
    request = _digest(call)
    with acting_as(ANYBODY):  # these items belong to the server, not to a user
        if await do(items.change(lambda: _bound(name, request), now=now).alt(GenericMemoryError)) != request:
            do.fail(REUSED)
        if name.key.startswith(SWEPT_BY):
            await do(items.sweep(now=now).alt(GenericMemoryError))

    @Effect.gen
    async def freed(do: Do[ApiError], error: ApiError) -> Any:
        if not isinstance(error, GenericMemoryError):  # after such an error the write may have happened
            with acting_as(ANYBODY):
                await do(items.write((ItemPut(name, None),), now=now).alt(GenericMemoryError))
        do.fail(error)

    return await do(write.lash(freed))


def _bound(name: ItemName, request: str) -> ItemChange[str]:
    """Return the change that stores the request under the key, unless an earlier request has it."""
    (before,) = yield (name,)
    if before is not None:
        return (), before.value
    return (ItemPut(name, request, lifetime=LIFETIME),), request


def _digest(call: Call[Any, Any]) -> str:
    """Return a digest that is equal for equal requests; the order of names in a body does not matter."""
    asked = [unstructure(call.query), unstructure(call.body)]
    return json.dumps(sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest())
