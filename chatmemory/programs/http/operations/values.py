"""Values by key over HTTP: the user-scoped key-value data of spec 003."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, final

from attrs import field, frozen, validators

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect
from chatmemory.errors import RecallError, RememberError
from chatmemory.input.json_value import Json, JsonObject
from chatmemory.longterm.contract import LongTermMemory
from chatmemory.longterm.memories import Duplicate, Memory, MemoryPage, Stored
from chatmemory.programs.http.large_answers import bounded
from chatmemory.programs.http.operation import Call, InApp, Operation
from chatmemory.programs.http.operations.memories import MOST_LISTED, of_memory
from chatmemory.programs.operations.refusal import Refusal

NO_VALUE: Final = Refusal(
    "ValueNotFoundError", "the key has no value at this time: GET /values lists the keys that have one"
)


@final
@frozen(kw_only=True)
class ValueList:
    """A list of values.

    Attributes:
        prefix: only keys that begin with this text.
        after: the `next` of the previous page.
        as_of: the values at this time; now if not given.
        app: the app; if not given, that of the token, or no app.
    """

    prefix: str = ""
    limit: int = field(default=100, validator=[validators.ge(0), validators.le(MOST_LISTED)])
    after: str | None = None
    as_of: datetime | None = None
    app: str | None = None


@final
@frozen(kw_only=True)
class ValueAt:
    """Which value of a key.

    Attributes:
        as_of: the value at this time; now if not given.
        app: the app; if not given, that of the token, or no app.
    """

    as_of: datetime | None = None
    app: str | None = None


@final
@frozen(kw_only=True)
class NewValue:
    """A value for a key.

    Attributes:
        value: any JSON.
        content: the text that a model reads; null to make it from the key and the value.
    """

    value: Json
    content: str | None = None


@final
@frozen
class DeletedValue:
    """Whether there was a value to delete."""

    deleted: bool


@of_memory
def list_values(
    call: Call[ValueList, None], memory: LongTermMemory, namespace: Namespace
) -> Effect[MemoryPage, RecallError | Refusal]:
    """List the memories that hold the values of keys, newest first; a page with large values ends earlier."""
    asked = call.query

    def page(limit: int) -> Effect[MemoryPage, RecallError]:
        return memory.list_values(
            namespace, prefix=asked.prefix, limit=limit, after=asked.after, as_of=asked.as_of
        )

    return page(asked.limit).bind(lambda whole: bounded(whole, again=page))


@of_memory
def get_value(
    call: Call[ValueAt, None], memory: LongTermMemory, namespace: Namespace
) -> Effect[Memory, RecallError | Refusal]:
    """Return the memory that holds the value of a key."""
    return memory.get_value(namespace, call.path["key"], as_of=call.query.as_of).bind(
        lambda found: Effect.fail(NO_VALUE) if found is None else Effect.succeed(found)
    )


@of_memory
def put_value(
    call: Call[InApp, NewValue], memory: LongTermMemory, namespace: Namespace
) -> Effect[Stored | Duplicate, RememberError | Refusal]:
    """Set the value of a key; the previous one stays readable with `asOf`."""
    return memory.put_value(namespace, call.path["key"], call.body.value, content=call.body.content)


@of_memory
def delete_value(
    call: Call[InApp, None], memory: LongTermMemory, namespace: Namespace
) -> Effect[DeletedValue, RecallError | Refusal]:
    """Delete the current value of a key; it stays readable with `asOf` until it is forgotten."""
    return memory.delete_value(namespace, call.path["key"]).map(DeletedValue)


_EXAMPLE: Final[JsonObject] = {"key": "tea"}

VALUES: Final[Sequence[Operation]] = (
    Operation("GET", "/values", list_values, example={"prefix": "tea", "limit": 20}),
    Operation("GET", "/values/{key}", get_value, refusals=("ValueNotFoundError",), example=_EXAMPLE),
    Operation(
        "PUT",
        "/values/{key}",
        put_value,
        asks_models=True,
        example={**_EXAMPLE, "body": {"value": "gyokuro"}},
    ),
    Operation("DELETE", "/values/{key}", delete_value, example=_EXAMPLE),
)
