"""``Double``: the object that replaces a service, follows scripts and records the calls.

``Stub`` and ``Spy`` make it; ``step.py`` defines a step.  ``Script`` has the steps of one method, in the order of its calls.
``Contract`` reads the members of a service from the Protocol of its tag.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from functools import partial
from inspect import isawaitable
from typing import Any, Final, Literal, TypeAlias, cast, final, get_origin, get_type_hints

from attrs import frozen

from chatmemory.effect.checks import no_member, require_tag
from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.key import TagOf, interface_of, short_name
from chatmemory.effect.outcome import Failure, Outcome, Success, exit_from_exception
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.effect.suspended import run_without_waiting
from chatmemory.testing.step import Call, Calls, Step, as_step

Kind: TypeAlias = Literal["effect", "stream", "coroutine", "plain", "attribute"]

_KINDS: Final[Mapping[str, Kind]] = {
    "Effect": "effect",
    "AsyncIterator": "stream",
    "AsyncIterable": "stream",
    "AsyncGenerator": "stream",
}


@final
class Double:
    """Replaces a service; *real* runs the steps that pass, and provides every member without a script."""

    def __init__(self, part: Part, real: object, clock: Clock | None = None) -> None:
        self._part = part
        self._real = real
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        """Return the member *name* of the contract, or another attribute of the real part."""
        if name.startswith("__"):  # Python itself looks these up, and AttributeError means that there is none
            raise AttributeError(name)
        if name in self._part.attributes:
            return self._part.attributes[name]
        if name in self._part.scripts:
            return partial(self._call, self._part.members[name])
        return getattr(self._real, name)

    def _call(self, member: Member, /, *arguments: Any, **named: Any) -> Any:
        """Return the result of a call, of the kind that the contract promises: an effect, a stream, a coroutine or a value."""
        recorded = member.bound(arguments, named)

        def run(context: Context[Any]) -> Awaitable[Outcome[Any, Any]]:
            call = Call(self._part.name, member.name, recorded)
            return self._run(call, arguments, named, context)

        running = Effect.in_context(run)
        match member.kind:
            case "effect":
                return running
            case "stream":
                return _stream(running)
            case "coroutine":
                return running.or_raise()
            case _:
                return run_without_waiting(running.or_raise())

    async def _run(
        self, call: Call, arguments: Sequence[Any], named: Mapping[str, Any], context: Context[Any]
    ) -> Outcome[Any, Any]:
        async def work(_: Context[Any]) -> Outcome[Any, Any]:
            made = getattr(self._real, call.method)(*arguments, **named)
            if isinstance(made, Effect):
                effect = cast("Effect[object, object, object]", made)
                return await effect.run_in(context)  # without the clock of the steps
            return Success(await made if isawaitable(made) else made)

        self._part.calls.append(call)
        around = context if self._clock is None or ClockTag in context else context.add(ClockTag, self._clock)
        try:
            step = self._part.scripts[call.method].next(arguments, named)
            call.outcome = await step.function(lambda: Effect.in_context(work)).run_in(around)
        except BaseException as exception:
            call.outcome = exit_from_exception(exception).failure()
            raise
        return call.outcome


async def _stream(begin: Effect[Any, Any]) -> AsyncGenerator[Any]:
    """Yield the items of the stream of a success, or a failure as the only item."""
    match await begin:
        case Success(items) if hasattr(items, "__aiter__"):
            async with aclosing(items) if hasattr(items, "aclose") else nullcontext(items):
                async for item in items:
                    yield item
        case Success(items):
            for item in items:
                yield item
        case Failure() as failure:
            yield failure


@final
@frozen(eq=False)
class Part:
    """The data that all doubles of one ``Stub`` or ``Spy`` share.

    Attributes:
        name: the name of the contract.
        members: the scripted members, by name.
        scripts: the scripts of *members*.
        attributes: the values of the contract's attributes.
        calls: every call so far, in the order in which they began.
    """

    name: str
    members: Mapping[str, Member]
    scripts: Mapping[str, Script]
    attributes: Mapping[str, object]
    calls: Calls

    @staticmethod
    def of(
        tag: TagOf[Any, Any],
        given: Mapping[str, object],
        calls: Calls | None,
        *,
        then: Step | None = None,
    ) -> Part:
        """Read the scripts and attributes of a part.

        Args:
            tag: the tag under which it is provided.
            given: scripts by the names of methods, values by the names of attributes.
            calls: the list to record in, which other parts may share; None: a new list.
            then: what a method without a script, or with a used-up script, does; None: it must not be called.

        Returns:
            the part.

        Raises:
            AttributeError: the contract lacks a member with a given name.
            TypeError: *tag* is not a tag, or what is given for a method is not a script.
        """
        contract = Contract.of(tag)
        contract.require(given)
        methods = {name: member for name, member in contract.members.items() if member.kind != "attribute"}
        scripted = {name: given.get(name, []) for name in methods if name in given or then is not None}
        return Part(
            contract.name,
            {name: methods[name] for name in scripted},
            {name: Script(f"{contract.name}.{name}", script, then=then) for name, script in scripted.items()},
            {name: value for name, value in given.items() if name not in methods},
            Calls() if calls is None else calls,
        )


@final
@frozen
class Contract:
    """The Protocol of a service, with its members by name."""

    name: str
    members: Mapping[str, Member]

    @staticmethod
    def of(tag: TagOf[Any, Any]) -> Contract:
        """Read the contract that *tag* names: ``ChatMemory`` of ``class ChatMemoryService(Tag[ChatMemory])``.

        Raises:
            TypeError: *tag* is not a tag.
        """
        require_tag(tag)
        interface = interface_of(tag)
        if interface is None:
            return Contract(short_name(tag.key), {})
        return Contract(interface.__name__, _members(interface))

    def require(self, names: Iterable[str]) -> None:
        """Check that the contract has all of *names*.

        Raises:
            AttributeError: it lacks one; the message names the first.
        """
        for name in names:
            if name not in self.members:
                raise AttributeError(no_member(self.name, name, self.members))


def _members(interface: type) -> Mapping[str, Member]:
    names = [name for name in dir(interface) if not name.startswith("_")]
    attributes = [name for base in interface.__mro__ for name in inspect.get_annotations(base)]
    members = {name: Member(name, "attribute") for name in attributes if not name.startswith("_")}
    for name in names:
        function = inspect.getattr_static(interface, name)
        if inspect.isfunction(function):
            members[name] = Member(name, _kind(function), inspect.signature(function))
        else:
            members[name] = Member(name, "attribute")
    return members


def _kind(function: Callable[..., Any]) -> Kind:
    if inspect.iscoroutinefunction(function):
        return "coroutine"
    try:
        returned = get_type_hints(function).get("return")
        name = getattr(get_origin(returned) or returned, "__name__", "")
    except NameError:  # a type that is imported for type checkers only
        name = cast("str", function.__annotations__["return"]).partition("[")[0].rpartition(".")[2]
    return _KINDS.get(name, "plain")


@final
@frozen
class Member:
    """A method or an attribute of a contract; *kind* is what a call of it returns."""

    name: str
    kind: Kind
    signature: inspect.Signature | None = None

    def bound(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of a call by name.

        Args:
            arguments: the positional arguments.
            named: the keyword arguments.

        Returns:
            the arguments by name, without ``self``; empty for an attribute.

        Raises:
            TypeError: the method does not accept these arguments.
        """
        if self.signature is None:
            return {}
        try:
            bound = self.signature.bind(None, *arguments, **named).arguments
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}; its contract is {self.name}{self.signature}") from None
        return dict(list(bound.items())[1:])  # without self


@final
class Script:
    """Gives the next step to each call of the method *name*.

    Args:
        name: the name of the method in error texts, such as ``SkillRunner.run``.
        given: a list of steps, outcomes or values, one for each call; or a function of the arguments that returns one.
        then: the step of every call after the end of the list; None: such a call is an error.

    Raises:
        TypeError: *given* is neither, or contains an error instead of a ``Failure`` of it.
    """

    def __init__(self, name: str, given: object, *, then: Step | None = None) -> None:
        self._name = name
        self._then = then
        self._taken = 0
        self._function: Callable[..., object] | None = None
        self._steps: Sequence[Step] = ()
        if isinstance(given, list | tuple):
            self._steps = [as_step(step) for step in cast("Sequence[object]", given)]
            if any(step.repeats for step in self._steps[:-1]):
                raise TypeError(f"the script of {name} goes on after forever(...): put it last")
        elif callable(given):
            self._function = given
        else:
            method = name.rpartition(".")[2]
            msg = f"the script of {name} is a list, one step for each call, or a function of the arguments"
            raise TypeError(f"{msg}: {method}=[{given!r}], or {method}=[forever({given!r})]")

    def next(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> Step:
        """Return the step of the next call.

        Args:
            arguments: the positional arguments of the call.
            named: the keyword arguments of the call.

        Returns:
            the step.

        Raises:
            ScriptUsedUpError: no step is left.
        """
        if self._function is not None:
            return as_step(self._function(*arguments, **named))
        self._taken += 1
        if self._taken <= len(self._steps):
            return self._steps[self._taken - 1]
        if self._steps and self._steps[-1].repeats:
            return self._steps[-1]
        if self._then is not None:
            return self._then
        msg = f"the script of {self._name} is used up: it has {len(self._steps)} steps, and this is call {self._taken}"
        raise ScriptUsedUpError(f"{msg}; add a step, or end it with forever(...)")


class ScriptUsedUpError(AssertionError):
    """A method was called more often than its script has steps."""
