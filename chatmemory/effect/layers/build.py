"""Building: carries out a plan, with a crew (``crew.py``) if there is an event loop, otherwise step by step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, final

from typing_extensions import TypeVar

from chatmemory.effect.checks.mistakes import no_manager
from chatmemory.effect.effect import Effect
from chatmemory.effect.key import MissingServiceError
from chatmemory.effect.layers.fitting import fitting
from chatmemory.effect.layers.memo import Entry
from chatmemory.effect.layers.place import Place, Step
from chatmemory.effect.layers.plan import make_plan
from chatmemory.effect.layers.shape import Leaf, Opens, Services, Shape
from chatmemory.effect.outcome import Cause, Exit, Fail, Failure, Outcome, Success, exit_from_exception
from chatmemory.effect.scope import Scope
from chatmemory.effect.suspended import has_event_loop

if TYPE_CHECKING:
    from chatmemory.effect.layers.hosting import Stay

__all__ = ["LayerFailed", "build", "exit_of_layer"]

A = TypeVar("A")


class LayerFailed(Exception):  # noqa: N818  private: how a typed failure travels through a build
    """Carries the typed failure of a layer to the code that catches or reports it."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.error = error


def exit_of_layer(exception: BaseException) -> Exit[Any, Any]:
    """Return *exception* as an ``Exit``: a typed failure, a defect or an interruption."""
    if isinstance(exception, LayerFailed):
        return Failure(Cause((Fail(exception.error),)))
    return exit_from_exception(exception)


async def build(shape: Shape, place: Place, scope: Scope) -> Services:
    """Build *shape* and return its services, which live until *scope* is closed.

    If it fails or is cancelled, all that it has acquired is released before the exception goes on.

    Args:
        shape: what to build.
        place: the services that are available, and the layers that are built already.
        scope: receives the finalizers.

    Raises:
        MissingServiceError: no layer gives a service that a leaf needs; nothing was acquired.
        LayerCycleError: *shape* needs itself.
        ShadowedServiceError, UnknownReplacementError: the wiring would ignore a layer; nothing was acquired.
        LayerFailed: a leaf failed with a typed error.
    """
    plan = make_plan(shape, place)
    own_scope = scope.fork()
    try:
        if has_event_loop():
            # Imported here for the reason that suspended.py gives.
            from chatmemory.effect.layers.crew import Crew
            from chatmemory.effect.layers.hosting import host

            await Crew(plan, _Builder(own_scope, enter=host)).work_through()
        else:  # without tasks, in the order of the plan
            builder = _Builder(own_scope, enter=_enter)
            for point in plan.points:
                if isinstance(point, Step):
                    await builder.carry_out(point)
    except BaseException as exception:
        await own_scope.close(exit_of_layer(exception))
        raise
    return {key: step.made[key] for key, step in plan.gives.items()}


async def _enter(manager: AbstractAsyncContextManager[Any], scope: Scope) -> Any:
    return await scope.enter(manager)


@final
class _Builder:
    """Builds the steps of one plan."""

    __slots__ = ("_enter", "_scope")

    def __init__(
        self,
        scope: Scope,
        *,
        enter: Callable[[AbstractAsyncContextManager[Any], Scope], Awaitable[Any]],
    ) -> None:
        self._scope = scope
        self._enter = enter

    async def carry_out(self, step: Step) -> None:
        """Build the leaf of *step*, or wait for the task that builds it."""
        leaf = step.leaf

        async def acquire(own_scope: Scope) -> Services:
            if isinstance(leaf.acquire, Opens):
                manager = _manager(leaf.acquire, step)
                return _given(leaf, await self._enter(manager, own_scope))
            site = _Site(step.place, own_scope)
            outcome = await leaf.acquire(site).run_in(site.context)
            if type(outcome) is Success:
                return outcome.unwrap()
            raise LayerFailed(outcome.failure())

        entry = await step.memo.observe(leaf, self._scope)
        try:
            step.services = await entry.services(acquire)
        except MissingServiceError as missing:
            _name_consumer(missing, leaf)
            raise

    def claim(self, step: Step) -> Claim | None:
        """Return the right to open the resource of *step*; None if the step opens no resource, or it is built already."""
        opens = step.leaf.acquire
        if not isinstance(opens, Opens):
            return None
        entry = step.memo.claim(step.leaf, self._scope)
        return None if entry is None else Claim(step, entry, opens)


@final
class Claim:
    """The right and the duty to open the resource of one step."""

    __slots__ = ("_entry", "_opens", "step")

    def __init__(self, step: Step, entry: Entry, opens: Opens) -> None:
        self.step = step
        self._entry = entry
        self._opens = opens

    def open(self) -> AbstractAsyncContextManager[Any]:
        """Return the context manager of the resource."""
        return _manager(self._opens, self.step)

    def keep(self, stay: Stay) -> None:
        """Keep the resource if it was entered; otherwise raise the reason."""
        if stay.is_entered:
            self._entry.stay = stay  # the stay ends the resource, even when the service does not fit the tag
            try:
                self.step.services = _given(self.step.leaf, stay.value)
            except TypeError as misfit:
                self._entry.settle(failure=misfit)
                raise
            self._entry.settle(self.step.services)
            return
        reason = stay.reason()
        if isinstance(reason, MissingServiceError):
            _name_consumer(reason, self.step.leaf)
        self._entry.settle(failure=reason)
        raise reason

    def give_up(self) -> None:
        """Let another task that waits for the leaf build it."""
        self._entry.settle()


def _manager(opens: Opens, step: Step) -> AbstractAsyncContextManager[Any]:
    services = step.place.context()
    manager = opens.make(*map(services.get, step.leaf.needs or ()))
    if not hasattr(manager, "__aenter__"):
        raise no_manager(manager, layer=step.leaf.name)
    return manager


def _given(leaf: Leaf, service: Any) -> Services:
    return {tag.key: fitting(tag, service) for tag in leaf.gives or ()}


def _name_consumer(missing: MissingServiceError, leaf: Leaf) -> None:
    is_its_own = leaf.needs is None and any(tag.key == missing.key for tag in leaf.gives or ())
    cure = ", which goes around another one if it says so by needs=[...]" if is_its_own else ""
    missing.name_consumer(f"layer {leaf.name}{cure}")


@final
class _Site:
    """The ``Site`` of a leaf at its place in the graph."""

    __slots__ = ("_place", "context", "scope")

    def __init__(self, place: Place, scope: Scope) -> None:
        self.context = place.context()
        self.scope = scope
        self._place = place

    def build(self, shape: Shape) -> Effect[Services, Any]:
        """Return the effect that builds another shape at the place of the leaf."""

        async def run() -> Outcome[Services, Any]:
            try:
                return Success(await build(shape, self._place.settled(), self.scope))
            except LayerFailed as failed:
                return Failure(failed.error)

        return Effect.from_outcome(run)
