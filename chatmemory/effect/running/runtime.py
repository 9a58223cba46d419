"""``ManagedRuntime``: builds a layer, runs effects with its services, and releases it; ``Runner``: what it promises."""

# ruff: noqa: SLF001  a child uses private members of its parent

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final, Generic, Never, Protocol, Self, cast, final

from typing_extensions import TypeVar

from chatmemory.effect.checks import no_effect
from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.key import MissingServiceError, TagOf
from chatmemory.effect.layers.build import Built, Plan, make_plan
from chatmemory.effect.layers.layer import Layer, shape_of
from chatmemory.effect.lazy import anyio
from chatmemory.effect.outcome import EffectInterrupted, Outcome
from chatmemory.effect.suspended import has_event_loop, run_without_waiting, shield

if TYPE_CHECKING:
    from chatmemory.effect.layers.host import Host

A = TypeVar("A")
E = TypeVar("E")
S = TypeVar("S")
R2 = TypeVar("R2")
R_contra = TypeVar("R_contra", contravariant=True)


class Runner(Protocol[R_contra]):
    """Runs effects; adapters accept any runner.

    ``ManagedRuntime`` runs them in the event loop that opened it, ``ThreadRuntime`` for callers in any event loop.
    """

    async def run(self, effect: Effect[A, E, R_contra], /) -> Outcome[A, E]:
        """Run *effect* and return its outcome.

        Raises:
            EffectInterrupted: the runtime is closed, or was closed while the effect ran.
        """
        ...


NOT_OPENED: Final = (
    "nobody has opened the runtime: async with ManagedRuntime(layer) as runtime, or a plain with"
)

CLOSED: Final = (
    "the runtime of this effect was closed: run it inside of `async with`, or enter the runtime again"
)

ALREADY_OPEN: Final = (
    "this runtime is open already: use what its first `async with` gave, "
    "or make one for each use by ManagedRuntime(layer)"
)


@final
class ManagedRuntime(Generic[R_contra]):
    """Keeps the services of a layer open and runs effects with them: ``async with ManagedRuntime(layer) as runtime: ...``.

    Entering builds the layer; leaving cancels the effects that are running and then releases the layer.  A plain ``with``
    needs no event loop; then neither the layer nor the effects may wait for anything.

    Entering raises what the build raises.  ``MissingServiceError`` and ``LayerCycleError`` come before anything is acquired.
    A typed failure of a layer raises ``EffectFailed``, or the failure itself if it is an exception.  A defect is raised as it
    is.  A runtime that was left can be entered again, and builds again; entering one that is open raises an error.
    """

    __slots__ = (
        "_built",
        "_children",
        "_context",
        "_host",
        "_idle",
        "_is_closed",
        "_is_entered",
        "_layer",
        "_parent",
        "_running",
        "_stack",
    )

    def __init__(self, layer: Layer[R_contra, Any, Never]) -> None:
        shape_of(layer)
        self._layer = layer
        self._built: Built = {}
        self._parent: ManagedRuntime[Any] | None = None  # provides services to a child, and closes it
        self._children: dict[ManagedRuntime[Any], None] = {}  # in the order in which they were opened
        self._host: Host[Context[Any]] | None = (
            None  # opens and closes the layer, where there is an event loop
        )
        self._stack = AsyncExitStack()  # closes the layer, where there is none
        self._is_entered = False
        self._context: Context[R_contra] | None = None
        self._is_closed = False
        self._running: set[anyio.CancelScope] = set()
        self._idle: anyio.Event | None = None

    async def run(self, effect: Effect[A, E, R_contra]) -> Outcome[A, E]:
        """Run *effect* with the services and return its outcome.

        Raises:
            EffectInterrupted: the runtime is not open, or was closed while the effect ran.
        """
        context = self._services()
        try:
            running = effect.run_in(context)  # only makes the coroutine
        except AttributeError:
            raise no_effect(effect) from None
        with anyio.CancelScope() as cancel_scope:
            self._running.add(cancel_scope)
            try:
                return await running
            except MissingServiceError as missing:
                raise self._explained(missing) from None
            finally:
                self._running.discard(cancel_scope)
                if self._idle is not None and not self._running:
                    self._idle.set()
        raise EffectInterrupted

    def run_sync(self, effect: Effect[A, E, R_contra]) -> Outcome[A, E]:
        """Run *effect* with the services and without an event loop, and return its outcome.

        Raises:
            EffectInterrupted: the runtime is not open.
            SuspendedError: *effect* has to wait for something.
        """
        return run_without_waiting(effect.run_in(self._services()))

    async def service(self, tag: TagOf[R_contra, S]) -> S:
        """Return the service of *tag*."""
        context = self._services()
        try:
            return context.get(tag)
        except MissingServiceError as missing:
            raise self._explained(missing) from None

    def _explained(self, missing: MissingServiceError) -> MissingServiceError:
        missing.is_fed_only = any(leaf.tag.key == missing.key for leaf, _ in self._built)
        return missing

    def child(self, layer: Layer[R2, Any, R_contra]) -> ManagedRuntime[R_contra | R2]:
        """Return a runtime for one request: ``async with runtime.child(request_layer) as request: ...``.

        It runs effects with the services of this runtime and the services of *layer*.  Layers that this runtime has built
        are shared.  What *layer* adds is built for the child alone.  It is released when the child is left, or when this
        runtime is closed, before its own layers are released.

        Raises:
            EffectInterrupted: this runtime is not open.
        """
        child: ManagedRuntime[Any] = ManagedRuntime(cast("Layer[Any, Any, Never]", layer))
        self._services()
        child._parent = self
        return child

    def _services(self) -> Context[R_contra]:
        if self._context is None:
            raise EffectInterrupted(CLOSED if self._is_closed else NOT_OPENED)
        return self._context

    async def _open(self) -> None:
        if self._is_entered:
            raise RuntimeError(ALREADY_OPEN)
        self._is_entered = True
        try:
            await self._build()
        except BaseException:
            self._is_entered = False
            raise

    async def _build(self) -> None:
        parent = self._parent
        given: Context[Any] = Context.empty() if parent is None else parent._services()
        plan = make_plan(self._layer.shape, given, {} if parent is None else parent._built)
        if parent is not None:
            parent._children[self] = None  # before it opens anything: the parent may be closed meanwhile
        try:
            context = await self._open_all(plan)
        except BaseException:
            if parent is not None:
                parent._children.pop(self, None)
            raise
        if parent is not None:
            parent._services()  # raises when it was closed, and has closed this one
        self._built = plan.built if parent is None else {**parent._built, **plan.built}
        self._idle = None
        self._context = context

    async def _open_all(self, plan: Plan) -> Context[Any]:
        if has_event_loop():
            from chatmemory.effect.layers.host import Host

            async def open_all(host: Host[Context[Any]]) -> Context[Any]:
                return await plan.open(host.guard)

            self._host = Host(open_all)
            return await self._host.open()
        self._host = None
        self._stack = stack = AsyncExitStack()
        try:
            return await plan.open(lambda open_one: open_one(stack))
        except BaseException:
            await stack.aclose()
            raise

    async def _close(self, body: BaseException | None = None) -> None:
        """Close the children and the layers; what they raise has *body*, the exception of the caller, as its context."""
        try:
            with shield():
                async with AsyncExitStack() as ending:  # the last one first, whatever the others raise
                    ending.push_async_callback(self._stack.aclose if self._host is None else self._host.close)
                    ending.push_async_callback(self._interrupt)
                    for child in self._children:
                        ending.push_async_callback(child._close)
        except BaseException as problem:
            first = problem
            while first is not body and first.__context__ is not None:
                first = first.__context__
            if first is not body:
                first.__context__ = body
            raise
        finally:
            self._children.clear()
            if self._parent is not None:
                self._parent._children.pop(self, None)
            self._is_entered = False

    async def _interrupt(self) -> None:
        self._context, self._is_closed = None, True
        if not self._running:
            return
        self._idle = anyio.Event()
        for cancel_scope in self._running:
            cancel_scope.cancel()
        await self._idle.wait()

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(self, _: object, exception: BaseException | None, __: object, /) -> None:
        await self._close(exception)

    def __enter__(self) -> Self:
        run_without_waiting(self._open())
        return self

    def __exit__(self, _: object, exception: BaseException | None, __: object, /) -> None:
        run_without_waiting(self._close(exception))
