"""``Stub``: a service of any contract that answers by a script."""

from __future__ import annotations

from typing import Any, Generic, Never, cast, final

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.key import TagOf
from chatmemory.effect.layers.layer import Layer, UnimplementedError
from chatmemory.effect.outcome import Outcome, Success
from chatmemory.effect.services.clock import ClockTag
from chatmemory.testing.double import Double, Part
from chatmemory.testing.step import Calls

Id = TypeVar("Id")
S = TypeVar("S")


@final
class Stub(Generic[Id, S]):
    """Answers each call with the next step of its method's script, and records the call.

    >>> from chatmemory import Failure, SkillExecutionError, SkillRequest, SkillRunnerTag
    >>> skills = Stub(SkillRunnerTag, run=["a summary", Failure(SkillExecutionError("s", "timeout"))])
    >>> run = skills.service.run("s", SkillRequest((), 100))
    >>> run.run_sync().unwrap(), run.run_sync().failure().problem
    ('a summary', 'timeout')
    >>> [call.arguments["skill_id"] for call in skills.calls]
    ['s', 's']

    A script is a list of steps, outcomes and values, one for each run of the call, or a function of the arguments
    that returns one: ``count=lambda message: len(message.content)``.  A method without a script raises
    ``UnimplementedError``; a method whose script is used up raises ``ScriptUsedUpError``.

    Attributes:
        calls: every call so far, in the order in which they began.
        layer: provides the service; steps wait on the ``Clock`` that is provided where the layer is built.
        service: the service itself, for tests without layers; steps wait on the ``Clock`` of the effect that calls it.
    """

    calls: Calls
    layer: Layer[Id]
    service: S

    def __init__(self, tag: TagOf[Id, S], calls: Calls | None = None, /, **scripts: object) -> None:
        """Make a service of *tag*.

        Args:
            tag: the tag of the contract.
            calls: the list to record in, which other parts may share; None: a new list.
            scripts: scripts by the names of methods, and values by the names of attributes of the contract.

        Raises:
            AttributeError: the contract lacks a member of such a name.
            TypeError: *tag* is not a tag, or the value for a method is not a script.
        """
        part = Part.of(tag, scripts, calls)
        unscripted = _Unscripted(part.name)

        async def make(context: Context[Any]) -> Outcome[S, Never]:
            return Success(cast("S", Double(part, unscripted, context.get(ClockTag))))

        self.calls = part.calls
        # A double has every member of the contract, but a type checker cannot see that.
        self.service = cast("S", Double(part, unscripted))
        self.layer = Layer.effect(tag, Effect.in_context(make), needs=())

    async def called(self, times: int = 1) -> None:
        """Wait until *times* calls have begun; after 10 s of real time, ``TimeoutError`` says which have."""
        await self.calls.called(times)


@final
class _Unscripted:
    """The service behind a stub; each of its attributes raises ``UnimplementedError``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, member: str) -> Never:
        msg = f"{self._name}.{member} has nothing real behind it: give the stub a script, {member}=[...], of outcomes"
        raise UnimplementedError(msg)
