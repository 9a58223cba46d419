"""``answered_once``: does a request with an idempotency key once, and gives each repetition of it the first answer."""

from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakValueDictionary

import anyio
import anyio.lowlevel

from chatmemory.effect import Do, Effect, Success
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import GenericMemoryError
from chatmemory.input.first_answers import FirstAnswersTag, RequestKey, digest, under
from chatmemory.input.json_value import Json
from chatmemory.input.made_id import made_id
from chatmemory.input.structure import read_json, write_json
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import ApiError, Refusal
from chatmemory.text.long_work import long_or_short

REUSED: Final = Refusal(
    "IdempotencyKeyReusedError",
    "this key was already used for another request: repeat that request, or send this one with a new key",
)

_turns: Final = WeakValueDictionary[object, anyio.Lock]()


@Effect.gen
async def answered_once(
    do: Do[ApiError, Any],
    grant: Grant,
    key: Sequence[str],
    asked: Json,
    write: Effect[Any, ApiError, Any],
    *,
    kind: Any = None,
    memory_id: str | None = None,
) -> str:
    """Run *write* unless it was done before; a second request waits while the first one runs.

    A failure is not stored: the request can be sent again, or another one with the same key.

    Args:
        do: runs a step.
        grant: the client; other clients may use the same key for something else.
        key: the operation, its place, and the key that the client gave.
        asked: the request; another request with the same key fails.
        write: does the request.
        kind: the type of its answer, if that may be the outcome of a write as it is; None: the answer is made of the
            outcomes, so a request that was cut off runs again, and each of its writes returns its first outcome.
        memory_id: the memory that the request is about, if its answer may have words of it.

    Returns:
        the first answer as JSON.
    """
    answers, now = do.service(FirstAnswersTag), do.service(ClockTag).now()
    # A token must not get an answer that only another one may see; the main token has no name that stays.
    client = () if grant.is_main else (grant.name,)
    name = made_id(grant.user, grant.app, *client, *key)
    request = RequestKey(user=grant.user, name=name, request=digest(asked), memory_id=memory_id, now=now)
    async with _turns.setdefault((anyio.lowlevel.current_token(), grant.user, name), anyio.Lock()):
        found = await do(answers.read(request).alt(GenericMemoryError))
        if found is not None and found.request != request.request:
            do.fail(REUSED)
        if found is not None and (found.is_answer or _is_of(kind, found.value)):
            return found.value
        with under(request):
            answer = await do(write)
        words = [getattr(answer, name, None) for name in ("content", "value")]
        text = await long_or_short(do, words, lambda: write_json(answer))
        kept = await do(answers.keep(request, text).alt(GenericMemoryError))
        return kept.value if kept.request == request.request else do.fail(REUSED)


def _is_of(kind: Any, value: str) -> bool:
    return kind is not None and isinstance(read_json(value, kind), Success)
