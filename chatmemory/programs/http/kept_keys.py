"""``under_key``: an ``Idempotency-Key`` belongs to one request, and another request under it is refused.

The key is kept before the write begins.  A write whose answer was lost can be sent again whatever has happened, since the
ids of what it stores are made of the key (``input/made_id.py``), within the write's own transaction; so a server that ends
between the two loses nothing.
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
"""Of the refusal; the ids that are made of a key are known for as long as what they name is stored."""

LABELS: Final[Labels] = ("idempotency-key",)
SWEPT_BY: Final = "00"
"""How a name begins whose request sweeps out what is over: one of 256, and no timer."""

REUSED: Final = Refusal(
    "IdempotencyKeyReusedError",
    "this Idempotency-Key came with another request before: send that request again, or this one with a key of its own",
)


@Effect.gen
async def under_key(
    do: Do[ApiError, Any], operation: str, call: Call[Any, Any], write: Effect[Any, ApiError, Any]
) -> Any:
    """Run *write* if the key of *call* belongs to this request.

    Args:
        do: runs a step.
        operation: the name of the operation.
        call: the request, with a key.
        write: what the request asks for; when it fails because of the request, the key is free again.
    """
    items: ItemRepository = do.service(ItemRepositoryTag)
    now = do.service(ClockTag).now()
    grant = call.grant
    name = ItemName(LABELS, made_id(grant.user, grant.app, operation, *call.path.values(), call.key or ""))
    request = _digest(call)
    with acting_as(ANYBODY):  # items are the service's own
        if await do(items.change(lambda: _bound(name, request), now=now).alt(GenericMemoryError)) != request:
            do.fail(REUSED)
        if name.key.startswith(SWEPT_BY):
            await do(items.sweep(now=now).alt(GenericMemoryError))

    @Effect.gen
    async def freed(do: Do[ApiError], error: ApiError) -> Any:
        if not isinstance(error, GenericMemoryError):  # after which it may have happened
            with acting_as(ANYBODY):
                await do(items.write((ItemPut(name, None),), now=now).alt(GenericMemoryError))
        do.fail(error)

    return await do(write.lash(freed))


def _bound(name: ItemName, request: str) -> ItemChange[str]:
    """Return the request that has the key: the one before, or else this one."""
    (before,) = yield (name,)
    if before is not None:
        return (), before.value
    return (ItemPut(name, request, lifetime=LIFETIME),), request


def _digest(call: Call[Any, Any]) -> str:
    """Return what two requests that ask for the same have in common, as JSON; the order of names in a body means nothing."""
    asked = [unstructure(call.query), unstructure(call.body)]
    return json.dumps(sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest())
