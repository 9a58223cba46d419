"""``Operation``: an operation of the HTTP API, defined by the signature of its handler.

A handler is a function from a ``Call`` to an effect.  The types in its signature define the request, the answer and the
possible failures: requests are parsed by these types, and the OpenAPI document is generated from them.

    def get_memory(call: Call[InApp, None]) -> Effect[Memory, MemoryReadError | Refusal, LongTermMemoryService]: ...

A handler of several steps is a coroutine, whose errors are those of its ``Do``.

``of_memory`` and ``of_conversation`` give the service, and what the call names, to handlers that take them as parameters.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cached_property
from typing import (
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    cast,
    final,
    get_args,
    get_origin,
    get_type_hints,
)

import anyio
from attrs import define, field, frozen

from chatmemory.effect import Do, Effect
from chatmemory.input.json_value import Json, JsonObject
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import RefusalTag

Q = TypeVar("Q")
B = TypeVar("B")

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@final
@frozen(kw_only=True)
class NoParameters:
    """An operation without parameters."""


@final
@frozen(kw_only=True)
class InApp:
    """Selects the app whose memories the operation uses.

    Attributes:
        app: the app; when it is missing, the app of the token, or all apps if the token has none.
    """

    app: str | None = None


@final
@frozen(kw_only=True)
class Empty:
    """An empty body: `{}`, or no body at all."""


@final
@frozen(kw_only=True, slots=False)
class Call(Generic[Q, B]):
    """A request whose parameters and body were read and checked.

    Attributes:
        grant: what the client may do.
        path: the parameters in the path, by name.
        expected_version: the value of ``If-Match``; None without one.
        key: the value of ``Idempotency-Key``; None without one.
        last_event: the value of ``Last-Event-ID``; None without one.
        closing: set when the server shuts down, so that event streams end.
    """

    grant: Grant
    path: Mapping[str, str]
    query: Q
    body: B
    expected_version: int | None
    key: str | None
    last_event: str | None
    closing: anyio.Event


@final
@frozen
class EventStream:
    """An answer that stays open and sends server-sent events."""

    events: AsyncIterator[str]


@final
@frozen
class Stream:
    """Describes the events of an ``EventStream`` for the OpenAPI document.

    Attributes:
        ids: the regular expression of an event id, which a client sends back in ``Last-Event-ID``.
        events: the names of the events; only the first one carries data.
        data: the type of that data.
        format: the OpenAPI format of an id; None when *ids* alone describes it.
    """

    ids: str
    events: tuple[str, ...]
    data: type[Any]
    format: str | None = None


Handler: TypeAlias = Callable[[Call[Any, Any]], Effect[Any, Any, Any]]


class Signature(NamedTuple):
    """The types of a handler: its parameters, its body, its answer and its errors."""

    query: type[Any]
    body: type[Any]
    answer: Any
    errors: tuple[type[Any], ...]


@final
@define(slots=False)
class Operation:
    """One operation of the API: a method, a path and the handler that answers.

    Attributes:
        path: the path, with the names of its parameters in braces; each parameter is one percent-encoded segment.
        status: the HTTP status of a successful answer.
        takes_version: whether the operation obeys ``If-Match``.
        reads_only: whether the operation changes nothing although its method is not GET.
        is_open: whether a client without a token is answered.
        asks_models: whether the answer may wait for an embedder or a skill.
        stream: describes the events when the answer is an ``EventStream``; None for any other answer.
        refusals: the tags of the refusals that no other operation has.
        example: an example request: the body under ``body``, path and query parameters under their names.
    """

    method: Method
    path: str
    handler: Handler
    status: int = 200
    takes_version: bool = False
    reads_only: bool = False
    is_open: bool = False
    asks_models: bool = False
    refusals: tuple[RefusalTag, ...] = ()
    stream: Stream | None = None
    example: JsonObject = field(factory=dict[str, Json])

    @property
    def name(self) -> str:
        """The name of the handler."""
        return self.handler.__name__

    # Each request needs these, so they are computed once.

    @cached_property
    def changes(self) -> bool:
        """Whether the operation needs a grant that may write, and obeys ``Idempotency-Key``."""
        return self.method != "GET" and not self.reads_only

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """The names in the path, in order."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @cached_property
    def signature(self) -> Signature:
        """The types of the handler."""
        first, *more = get_type_hints(self.handler).values()
        if get_origin(first) is Do:  # of a coroutine
            (errors, *_), (call, answer) = get_args(first), more
        else:
            call, (answer, errors, *_) = first, get_args(more[-1])
        query, body = get_args(call)
        return Signature(query, body, answer, cast("tuple[type[Any], ...]", get_args(errors) or (errors,)))
