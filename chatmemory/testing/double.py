"""``Double``: the object that replaces a service, follows scripts and records the calls.

``Stub`` and ``Spy`` make it; ``step.py`` defines a step.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from functools import partial
from inspect import isawaitable
from typing import Any, cast, final

from attrs import frozen

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.key import TagOf
from chatmemory.effect.outcome import Failure, Outcome, Success, exit_from_exception
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.effect.suspended import run_without_waiting
from chatmemory.testing.call import Call, Calls
from chatmemory.testing.members import Contract, Member
from chatmemory.testing.script import Script
from chatmemory.testing.step import Step


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
