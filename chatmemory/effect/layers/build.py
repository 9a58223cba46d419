"""Building: carries out a plan, step by step, or by a crew (``crew.py``) where there is an event loop to work in."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, final

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.key import MissingServiceError
from chatmemory.effect.layers.place import Place, Step
from chatmemory.effect.layers.plan import make_plan
from chatmemory.effect.layers.shape import AnyTag, Leaf, Services, Shape
from chatmemory.effect.layers.wiring_errors import LayerCycleError
from chatmemory.effect.outcome import Cause, Exit, Fail, Failure, Outcome, Success, exit_from_exception
from chatmemory.effect.scope import Scope
from chatmemory.effect.suspended import has_event_loop

__all__ = ["LayerFailed", "build", "exit_of_layer"]

A = TypeVar("A")


class LayerFailed(Exception):  # noqa: N818  private: how a typed failure travels through a build
    """Carries the typed failure of a layer to whoever catches or reports it."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.error = error


def exit_of_layer(exception: BaseException) -> Exit[Any, Any]:
    """Tell a typed failure from a defect and an interruption."""
    if isinstance(exception, LayerFailed):
        return Failure(Cause((Fail(exception.error),)))
    return exit_from_exception(exception)


@final
class _Site:
    """A ``Site`` of the place where the leaf stands."""

    __slots__ = ("_path", "_place", "scope")

    def __init__(self, place: Place, scope: Scope, path: tuple[Leaf, ...]) -> None:
        self.scope = scope
        self._place = place
        self._path = path

    def service(self, tag: AnyTag) -> Any:
        """Return a service that the leaf declared as needed."""
        return self._place.service(tag)

    @property
    def context(self) -> Context[Any]:
        """All services that the leaf can see."""
        return self._place.context()

    async def enter(self, manager: AbstractAsyncContextManager[A]) -> A:
        """Enter *manager* until the leaf is released."""
        if not has_event_loop():
            return await self.scope.enter(manager)
        from chatmemory.effect.layers.hosting import host  # noqa: PLC0415  see suspended.py

        return await host(manager, self.scope)

    def build(self, shape: Shape) -> Effect[Services, Any]:
        """Return the effect that builds another shape in the leaf's place."""

        async def run() -> Outcome[Services, Any]:
            try:
                return Success(await build(shape, self._place.settled(), self.scope, self._path))
            except LayerFailed as failed:
                return Failure(failed.error)

        return Effect.from_outcome(run)


async def build(shape: Shape, place: Place, scope: Scope, path: tuple[Leaf, ...] = ()) -> Services:
    """Build *shape* and return its services, which live until *scope* is closed.

    If it fails or is cancelled, all that it has acquired is released before the exception goes on.

    Args:
        shape: what to build.
        place: the services at hand, and what is built already.
        scope: where the finalizers go.
        path: the leaves that are being built and asked for this.

    Raises:
        MissingServiceError: nobody gives what a leaf is known to need; nothing was acquired.
        LayerCycleError: *shape* needs itself.
        ShadowedServiceError, UnknownReplacementError: it is wired so that a layer is ignored; nothing was acquired.
        LayerFailed: a leaf failed with a typed error.
    """
    plan = make_plan(shape, place)
    own_scope = scope.fork()
    try:
        if has_event_loop():
            from chatmemory.effect.layers.crew import Crew  # noqa: PLC0415  see suspended.py

            await Crew(plan, lambda step: _build_step(step, own_scope, path)).work_through()
        else:  # without tasks, in an order that works
            for point in plan.points:
                if isinstance(point, Step):
                    await _build_step(point, own_scope, path)
    except BaseException as exception:
        await own_scope.close(exit_of_layer(exception))
        raise
    return {key: step.made[key] for key, step in plan.gives.items()}


async def _build_step(step: Step, scope: Scope, path: tuple[Leaf, ...]) -> None:
    leaf = step.leaf
    if leaf in path:
        raise LayerCycleError([known.name for known in (*path[path.index(leaf) :], leaf)])

    async def acquire(own_scope: Scope) -> Services:
        site = _Site(step.place, own_scope, (*path, leaf))
        outcome = await leaf.acquire(site).run_in(site.context)
        if type(outcome) is Success:
            return outcome.unwrap()
        raise LayerFailed(outcome.failure())

    entry = await step.memo.observe(leaf, scope)
    try:
        step.services = await entry.services(acquire)
    except MissingServiceError as missing:
        is_its_own = leaf.needs is None and any(tag.key == missing.key for tag in leaf.gives or ())
        cure = ", which goes around another one if it says so by needs=[...]" if is_its_own else ""
        missing.name_consumer(f"layer {leaf.name}{cure}")
        raise
