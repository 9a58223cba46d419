"""``MemoryTool``: a tool that an agent can call, defined by the signature of its handler.

A handler is a coroutine from ``ToolCall`` to ``ToolResult``.  The type of its arguments becomes the schema that a model sees,
and its docstring becomes the description that a model reads.

    @Effect.gen
    async def forget(
        do: Do[MemoryReadError, LongTermMemoryService], call: ToolCall[ToForget]
    ) -> ToolResult[ForgetReceipt]: ...
"""

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar, cast, final, get_args, get_type_hints

from attrs import define, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect
from chatmemory.input.json_value import JsonObject
from chatmemory.programs.json_schema import json_schema
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import ApiError

A = TypeVar("A")


class Progress(NamedTuple):
    """The progress of a call: *done* of *of* units, and the same in words."""

    done: int
    of: int
    text: str


@final
@frozen
class ToolCall(Generic[A]):
    """A call whose arguments were read and checked.

    Attributes:
        grant: what the configuration allows the caller; nothing in *arguments* can extend it.
        report: reports progress to the waiting caller; any thread may call it.
    """

    grant: Grant
    arguments: A
    report: Callable[[Progress], None] = lambda _: None

    @property
    def namespace(self) -> Namespace:
        """The namespace of the caller."""
        return self.grant.principal.namespace


@final
@frozen
class ToolResult(Generic[A]):
    """An answer: *text* for models, and *value* for programs and for hosts that show structured answers."""

    text: str
    value: A


LEFT_OUT: Final = {"$schema", "title", "description", "properties", "additionalProperties"}

Handler: TypeAlias = Callable[[ToolCall[Any]], Effect[ToolResult[Any], ApiError, Any]]


@final
@define(slots=False, kw_only=True)
class MemoryTool:
    """A tool.

    Attributes:
        title: the name that people see.
        reads_only: whether it changes nothing.
        is_destructive: whether it may delete something.
        is_idempotent: whether a repeated call changes nothing more.
        obeys_read_only: whether it changes nothing when the caller may only read.
        needs_past_chats: whether the caller must have access to past chats.
    """

    handler: Handler
    title: str
    reads_only: bool = False
    is_destructive: bool = False
    is_idempotent: bool = False
    obeys_read_only: bool = False
    needs_past_chats: bool = False

    @property
    def name(self) -> str:
        """The name of the handler."""
        return self.handler.__name__

    @property
    def description(self) -> str:
        """The description that a model reads."""
        return (inspect.getdoc(self.handler) or "").replace("``", "`")

    def is_for(self, grant: Grant) -> bool:
        """Return whether *grant* allows this tool."""
        may_change = not grant.read_only or self.reads_only or self.obeys_read_only
        return may_change and (grant.past_chats or not self.needs_past_chats)

    @cached_property
    def arguments(self) -> type[Any]:
        """The type of the arguments."""
        _, call, _ = get_type_hints(self.handler).values()
        (arguments,) = get_args(call)
        return cast("type[Any]", arguments)

    @cached_property
    def input_schema(self) -> JsonObject:
        """The JSON Schema of the arguments."""
        return _shortest(json_schema(self.arguments))


def _shortest(schema: JsonObject) -> JsonObject:
    """Return the schema of arguments without what a model need not read: class names, and null as a default.

    ``$schema`` is left out because the protocol names the dialect and some clients know no other, ``additionalProperties``
    because a call with an unknown argument fails with the list of the known ones.
    """
    properties = cast("JsonObject", schema["properties"])
    short = {name: _short(cast("JsonObject", part)) for name, part in properties.items()}
    kept = {name: part for name, part in schema.items() if name not in LEFT_OUT}
    return {**kept, "properties": short}


def _short(argument: JsonObject) -> JsonObject:
    kept = {name: part for name, part in argument.items() if name != "anyOf"}
    if kept.get("default", 0) in (None, []):
        del kept["default"]
    match argument.get("anyOf"):
        case [dict(kind), {"type": "null"}] if isinstance(named := kind.get("type"), str):
            return {**kept, **kind, "type": [named, "null"]}
        case [{"enum": list(choices)}, {"type": "null"}]:
            return {**kept, "enum": [*choices, None]}
        case None:
            return kept
        case _:
            return argument
