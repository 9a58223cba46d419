"""``Spy``: wraps the real part of any contract, records its calls and changes them by a script."""

from __future__ import annotations

from typing import Generic, Never, cast, final

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.key import TagOf
from chatmemory.effect.layers.layer import Layer
from chatmemory.effect.outcome import Outcome, Success
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.testing.double import Double, Part
from chatmemory.testing.step import Calls, passes

Id = TypeVar("Id")
S = TypeVar("S")


@final
class Spy(Generic[Id, S]):
    """Wraps the real part: records each call, and follows the script of its method, or lets the real part answer.

        messages = Spy(MessageRepositoryTag, append=[passes, loses_answer(), hangs])  # the second and third call fail
        stack = stacks.testing().replace(messages.layer)

    The layer needs the service that it provides: ``replace`` wraps that part of a whole stack at any depth, and
    ``my_repository >> messages.layer`` wraps one layer.

    Attributes:
        calls: every call so far, in the order in which they began.
        layer: provides the wrapped part; steps wait on the ``Clock`` that is provided where the layer is built.
    """

    calls: Calls
    layer: Layer[Id, Never, Id]

    def __init__(self, tag: TagOf[Id, S], calls: Calls | None = None, /, **scripts: object) -> None:
        """Record the calls of the service of *tag*.

        Args:
            tag: the tag of the contract.
            calls: the list to record in, which other parts may share; None: a new list.
            scripts: scripts by the names of methods, as for ``Stub``; the real part answers the calls after the end of a
                script.  A value under the name of an attribute of the contract replaces the attribute of the real part.

        Raises:
            AttributeError: the contract lacks a member of such a name.
            TypeError: *tag* is not a tag, or the value for a method is not a script.
        """
        self._part = Part.of(tag, scripts, calls, then=passes)

        async def make(context: Context[Id]) -> Outcome[S, Never]:
            return Success(self.around(context.get(tag), clock=context.get(ClockTag)))

        self.calls = self._part.calls
        self.layer = Layer.effect(tag, Effect.in_context(make), needs=[tag])

    async def called(self, times: int = 1) -> None:
        """Wait until *times* calls have begun; after 10 s of real time, ``TimeoutError`` says which have."""
        await self.calls.called(times)

    def around(self, service: S, *, clock: Clock | None = None) -> S:
        """Return *service*, wrapped, for tests without layers.

        Args:
            service: the real part.
            clock: the clock on which steps wait; None: the clock of the effect that calls the service.

        Returns:
            an object with every member of the service.
        """
        # A type checker cannot see that a double has these members.
        return cast("S", Double(self._part, service, clock))
