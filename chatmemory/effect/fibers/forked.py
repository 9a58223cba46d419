"""``Forked``: an effect that runs in a task of its own, and the two ways to start one.

Users see it as ``Fiber`` in ``effect.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, Never, final

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.defects import defect_of
from chatmemory.effect.fibers.tasks import start_task
from chatmemory.effect.outcome import (
    Cause,
    Die,
    Exit,
    Failure,
    Interrupt,
    Outcome,
    exit_from_exception,
    exit_from_outcome,
    outcome_from_exit,
)
from chatmemory.effect.runs import Runs
from chatmemory.effect.scope import Scope
from chatmemory.effect.suspended import (
    SuspendedError,
    has_event_loop,
    new_event,
    run_without_waiting,
    shield,
)

if TYPE_CHECKING:
    import anyio

__all__ = ["Forked", "fork", "fork_in"]

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")

INTERRUPTED: Final[Failure[Cause[Never]]] = Failure(Cause((Interrupt(),)))


@final
class Forked(Generic[A, E]):
    """One forked effect, from its start to its end; the effects that it forks end with it."""

    __slots__ = ("_cancel_scope", "_is_observed", "_leave", "_over", "_task", "exit")

    def __init__(self, leave: Callable[[Forked[A, E]], object]) -> None:
        """Make a fiber for ``begin`` to start; *leave* is called at its end, and removes it from its family or scope."""
        self.exit: Exit[A, E] | None = None
        self._leave = leave
        self._is_observed = False
        self._over: anyio.Event | None = None  # made by the first waiter
        self._cancel_scope: anyio.CancelScope | None = None
        self._task: object = None

    def begin(self, effect: Runs[A, E, R], context: Context[R]) -> None:
        """Start *effect*; without an event loop, run it to its end now.

        Args:
            effect: the effect.
            context: its services.

        Raises:
            SuspendedError: it has to wait, and there is no event loop.
        """
        if has_event_loop():
            import anyio

            cancel_scope = self._cancel_scope = anyio.CancelScope()
            self._task = start_task(lambda: self._run(effect, context, cancel_scope))
            return
        try:
            self._end(exit_from_outcome(run_without_waiting(effect.run_supervised(context))))
        except SuspendedError:
            raise
        except Exception as defect:  # noqa: BLE001  raised in the effect that joins
            self._end(exit_from_exception(defect))

    async def _run(self, effect: Runs[A, E, R], context: Context[R], cancel_scope: anyio.CancelScope) -> None:
        exit_: Exit[A, E] = INTERRUPTED
        try:
            with cancel_scope:
                if not cancel_scope.cancel_called:  # not interrupted before it began
                    exit_ = exit_from_outcome(await effect.run_supervised(context))
        except BaseException as exception:
            if defect_of(exception) is None:
                raise
            exit_ = exit_from_exception(exception)  # raised in the effect that joins
        finally:
            self._end(exit_)

    def _end(self, exit_: Exit[A, E]) -> None:
        self.exit = exit_
        if self._defect() is None:  # with a defect, it stays registered until a caller has seen the defect
            self._leave(self)
        if self._over is not None:
            self._over.set()

    def _defect(self) -> Exception | None:
        reasons = self.exit.failure().reasons if isinstance(self.exit, Failure) else ()
        return next((reason.defect for reason in reasons if isinstance(reason, Die)), None)

    async def _until_over(self) -> Exit[A, E]:
        while (exit_ := self.exit) is None:
            self._over = self._over or new_event()
            await self._over.wait()
        return exit_

    async def ended(self) -> Exit[A, E]:
        """Wait until the fiber has ended, and return its exit."""
        exit_ = await self._until_over()
        if not self._is_observed:
            self._is_observed = True
            self._leave(self)
        return exit_

    async def outcome(self) -> Outcome[A, E]:
        """Wait until the fiber has ended, and return its outcome; a defect is raised.

        Raises:
            EffectInterrupted: it was interrupted.
        """
        return outcome_from_exit(await self.ended())

    def cancel(self) -> None:
        """Cancel it without waiting for its end."""
        if self.exit is None and self._cancel_scope is not None:
            self._cancel_scope.cancel()

    async def interrupt(self) -> Exit[A, E]:
        """Cancel it, wait for its finalizers, and return its exit."""
        self.cancel()
        return await self.ended()

    async def settle(self) -> None:
        """Cancel it, wait for its finalizers, and log its defect if no caller has seen it."""
        self.cancel()
        interruption: BaseException | None = None
        with shield():
            while self.exit is None:
                try:
                    await self._until_over()
                except GeneratorExit:  # the event loop is closed, so nothing can end any more
                    raise
                except BaseException as exception:  # noqa: BLE001  asyncio's native cancel: no fiber may be left running
                    interruption = exception
        defect = self._defect()
        if defect is not None and not self._is_observed:
            import logging

            logging.getLogger(__name__).error("a forked effect died and nobody joined it", exc_info=defect)
        if interruption is not None:
            raise interruption


async def fork(effect: Runs[A, E, R], context: Context[R]) -> Forked[A, E]:
    """Start *effect* as a child of the effect that is running.

    Args:
        effect: the effect.
        context: its services.
    """
    family = context.family
    if family is None:
        raise AssertionError("every effect runs with a family: run_in sees to it")
    forked: Forked[A, E] = Forked(family.remove)
    forked.begin(effect, context)
    family.add(forked)
    return forked


async def fork_in(effect: Runs[A, E, R], scope: Scope, context: Context[R]) -> Forked[A, E]:
    """Start *effect*, and interrupt it when *scope* is closed; if the scope is already closed, interrupt it at once.

    Args:
        effect: the effect.
        scope: ends the effect.
        context: its services.
    """
    # A scope of its own, so that a fiber that has ended is not kept until the whole scope is closed.
    home = scope.fork()
    forked: Forked[A, E] = Forked(lambda _: scope.forget(home))
    forked.begin(effect, context)
    await home.add(lambda _: forked.settle())
    return forked
