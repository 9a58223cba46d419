"""``Double``: the object that replaces a service, does what scripts say and records the calls.

``Stub`` and ``Spy`` make it; ``step.py`` defines what a step is.
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
from chatmemory.effect.outcome import Die, Failure, Interrupt, Outcome, Success, exit_from_exception
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.effect.suspended import run_without_waiting
from chatmemory.testing.call import Call, Calls
from chatmemory.testing.members import Contract, Member
from chatmemory.testing.script import Script
from chatmemory.testing.step import Step

__all__ = ["Double", "Part"]


@final
@frozen(eq=False)
class Part:
    """What all doubles of one ``Stub`` or ``Spy`` share.

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
            calls: the list to record in, which other parts may share; None: a list of its own.
            then: what a method does that has no script, or whose script is used up; None: it must not be called.

        Raises:
            AttributeError: the contract has no member with a given name.
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
    """Replaces a service; *real* does the work of the steps that pass, and has every member that is not scripted."""

    def __init__(self, part: Part, real: object, clock: Clock | None = None) -> None:
        self._part = part
        self._real = real
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        """Return what the contract calls *name*, or what the real part has besides."""
        if name.startswith("__"):  # Python itself asks for these, and takes AttributeError for a no
            raise AttributeError(name)
        if name in self._part.attributes:
            return self._part.attributes[name]
        if name in self._part.scripts:
            return partial(self._call, self._part.members[name])
        return getattr(self._real, name)

    def _call(self, member: Member, /, *arguments: Any, **named: Any) -> Any:
        """Return what the contract promises of a call: an effect, a stream, a coroutine or a value."""
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
                return await effect.run_in(context)  # as it came, without the clock of the steps
            return Success(await made if isawaitable(made) else made)

        self._part.calls.append(call)
        around = context if self._clock is None or ClockTag in context else context.add(ClockTag, self._clock)
        try:
            step = self._part.scripts[call.method].next(arguments, named)
            call.outcome = await step.function(lambda: Effect.in_context(work)).run_in(around)
        except BaseException as exception:
            (reason,) = exit_from_exception(exception).failure().reasons
            call.outcome = cast("Die | Interrupt", reason)  # an exception is no typed failure
            raise
        return call.outcome


async def _stream(begin: Effect[Any, Any]) -> AsyncGenerator[Any]:
    """Yield what the stream of a success yields; a failure is the only item."""
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
