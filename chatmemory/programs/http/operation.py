"""``Operation``: what can be asked of the API; its handler's signature is its contract.

A handler is a function from a ``Call`` to an effect.  The types in its signature say what a request must look like, what
it answers and how it can fail; requests are read by them, and the OpenAPI document is written from them.

    def get_memory(call: Call[InApp, None]) -> Effect[Memory, MemoryReadError | Refusal, LongTermMemoryService]: ...
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
    get_type_hints,
)

import anyio
from attrs import define, field, frozen

from chatmemory.effect import Effect
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
    """Which memories are meant.

    Attributes:
        app: the app; not given: that of the token, or all of them.
    """

    app: str | None = None


@final
@frozen(kw_only=True)
class Empty:
    """A body that says nothing: `{}`, or no body at all."""


@final
@frozen(kw_only=True, slots=False)
class Call(Generic[Q, B]):
    """A request that has been understood.

    Attributes:
        grant: what the client may do.
        path: the parameters in the path, by name.
        expected_version: of ``If-Match``.
        key: of ``Idempotency-Key``.
        last_event: of ``Last-Event-ID``.
        closing: set when the server is about to end, for answers that have no end of their own.
    """

    grant: Grant
    path: Mapping[str, str]
    query: Q
    body: B
    expected_version: int | None
    key: str | None
    last_event: int | None
    closing: anyio.Event


@final
@frozen
class EventStream:
    """An answer that goes on: server-sent events."""

    events: AsyncIterator[str]


Handler: TypeAlias = Callable[[Call[Any, Any]], Effect[Any, Any, Any]]


class Signature(NamedTuple):
    """The types of a handler: of parameters and body, of the answer, and of every way to fail."""

    query: type[Any]
    body: type[Any]
    answer: Any
    errors: tuple[type[Any], ...]


@final
@define(slots=False)
class Operation:
    """One line of the API.

    Attributes:
        path: with the names of its parameters in braces; each is one segment, percent-encoded.
        status: of the answer.
        takes_version: whether ``If-Match`` is heard.
        reads_only: whether nothing is changed, though the method is not GET.
        is_open: whether it is answered without a token.
        asks_models: whether an embedder or a skill may have to answer first.
        refusals: the tags of those of its refusals that belong to it alone.
        example: what a client may send: its body under ``body``, and parameters of path and query by their names.
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
    example: JsonObject = field(factory=dict[str, Json])

    @property
    def name(self) -> str:
        """The name of the handler."""
        return self.handler.__name__

    # What each request asks for is found out once.

    @cached_property
    def changes(self) -> bool:
        """Whether a grant that only reads may not have it."""
        return self.method != "GET" and not self.reads_only

    @cached_property
    def takes_key(self) -> bool:
        """Whether ``Idempotency-Key`` is heard: by every write but those that HTTP lets a client repeat as they are."""
        return self.changes and self.method in {"POST", "PATCH"}

    @cached_property
    def is_stream(self) -> bool:
        """Whether the answer has no end of its own."""
        return self.signature.answer is EventStream

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """The names in the path, in order."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @cached_property
    def signature(self) -> Signature:
        """The types of the handler."""
        call, effect = get_type_hints(self.handler).values()
        query, body = get_args(call)
        answer, errors, *_ = get_args(effect)
        return Signature(query, body, answer, cast("tuple[type[Any], ...]", get_args(errors) or (errors,)))
