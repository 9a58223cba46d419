"""``MemoryTool``: what an agent can call; its handler's signature is its contract.

A handler is a function from ``Asked`` to an effect of ``Told``.  The types in its signature are the schemas of the tool's
arguments and of its structured answer; its docstring is what a model reads before it calls the tool.

    def forget(asked: Asked[Forgotten]) -> Effect[Told[ForgetReceipt], MemoryReadError, LongTermMemoryService]: ...
"""

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, final, get_args, get_type_hints

from attrs import define, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect
from chatmemory.input.json_value import JsonObject
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import ApiError
from chatmemory.programs.schemas.json_schema import json_schema

A = TypeVar("A")


class HowFar(NamedTuple):
    """How far a call is: *done* of *of*, and the same in words."""

    done: int
    of: int
    text: str


@final
@frozen
class Asked(Generic[A]):
    """A call that has been understood.

    Attributes:
        grant: what the caller may do, by the configuration; nothing in *arguments* can widen it.
        tell: shows a caller that waits how far it is; from any thread.
    """

    grant: Grant
    arguments: A
    tell: Callable[[HowFar], None] = lambda _: None

    @property
    def namespace(self) -> Namespace:
        """In which the caller asks."""
        return Namespace(self.grant.user, self.grant.app)


@final
@frozen
class Told(Generic[A]):
    """An answer: *text* for a model that reads, *value* for one that is given structured answers, and for programs."""

    text: str
    value: A


Handler: TypeAlias = Callable[[Asked[Any]], Effect[Told[Any], ApiError, Any]]


class Signature(NamedTuple):
    """The types of a handler: of the arguments and of the value that it tells."""

    arguments: type[Any]
    value: type[Any]


@final
@define(slots=False, kw_only=True)
class MemoryTool:
    """One tool.

    Attributes:
        title: for people.
        reads_only: whether nothing is changed.
        is_destructive: whether something may be gone afterwards.
        is_idempotent: whether the same call again changes nothing more.
        spares_readers: whether it changes nothing for a caller that may only look.
        needs_past_chats: whether it is for those alone who may see past chats.
    """

    handler: Handler
    title: str
    reads_only: bool = False
    is_destructive: bool = False
    is_idempotent: bool = False
    spares_readers: bool = False
    needs_past_chats: bool = False

    @property
    def name(self) -> str:
        """The name of the handler."""
        return self.handler.__name__

    @property
    def description(self) -> str:
        """What a model reads of it."""
        return (inspect.getdoc(self.handler) or "").replace("``", "`")

    def is_for(self, grant: Grant) -> bool:
        """Tell whether *grant* allows it."""
        may_change = not grant.read_only or self.reads_only or self.spares_readers
        return may_change and (grant.past_chats or not self.needs_past_chats)

    @cached_property
    def signature(self) -> Signature:
        """The types of the handler."""
        asked, effect = get_type_hints(self.handler).values()
        (arguments,), (told, *_) = get_args(asked), get_args(effect)
        (value,) = get_args(told)
        return Signature(arguments, value)

    @cached_property
    def input_schema(self) -> JsonObject:
        """What the arguments have to look like."""
        return _schema(self.signature.arguments)

    @cached_property
    def output_schema(self) -> JsonObject:
        """What the structured answer looks like."""
        return _schema(self.signature.value)


def _schema(kind: type[Any]) -> JsonObject:
    """Describe *kind* without naming the dialect, which the protocol names: some clients look for any other one in vain."""
    return {name: part for name, part in json_schema(kind).items() if name != "$schema"}
