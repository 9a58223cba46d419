"""``ManagedRuntime``: builds a layer, runs effects with its services, and releases it."""

# ruff: noqa: SLF001  a child uses private members of its parent

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Generic, Never, Self, cast, final

from typing_extensions import TypeVar

from chatmemory.effect.checks.mistakes import no_effect
from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.key import TagOf
from chatmemory.effect.layers.build import LayerFailed, build
from chatmemory.effect.layers.layer import Layer, shape_of
from chatmemory.effect.layers.memo import MemoMap
from chatmemory.effect.layers.place import Place
from chatmemory.effect.outcome import (
    EffectInterrupted,
    Outcome,
    Success,
    exception_of,
    exit_from_exception,
)
from chatmemory.effect.scope import Scope
from chatmemory.effect.suspended import run_without_waiting, shield

if TYPE_CHECKING:
    import anyio

__all__ = ["ManagedRuntime"]

A = TypeVar("A")
E = TypeVar("E")
S = TypeVar("S")
R2 = TypeVar("R2")
R_contra = TypeVar("R_contra", contravariant=True)

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

    Entering raises what the build raises: ``MissingServiceError`` and ``LayerCycleError`` before anything is acquired,
    ``EffectFailed`` for a typed failure of a layer (or that failure itself if it is an exception), or a defect.  A
    runtime that was left can be entered again, and builds again; entering one that is open raises an error.
    """

    __slots__ = (
        "_context",
        "_idle",
        "_is_closed",
        "_is_entered",
        "_layer",
        "_memo",
        "_parent",
        "_running",
        "_scope",
    )

    def __init__(self, layer: Layer[R_contra, Any, Never], memo: MemoMap | None = None) -> None:
        """Share the services in *memo* with other runtimes; without it, share nothing."""
        shape_of(layer)
        self._layer = layer
        self._memo = memo or MemoMap()
        self._scope = Scope()
        self._parent: ManagedRuntime[Any] | None = None  # provides services to a child, and closes it
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
        import anyio

        context = self._services()
        try:
            running = effect.run_in(context)  # only makes the coroutine
        except AttributeError:
            raise no_effect(effect) from None
        with anyio.CancelScope() as cancel_scope:
            self._running.add(cancel_scope)
            try:
                return await running
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
        return self._services().get(tag)

    def child(self, layer: Layer[R2, Any, R_contra]) -> ManagedRuntime[R_contra | R2]:
        """Return a runtime for one request: ``async with runtime.child(request_layer) as request: ...``.

        It runs effects with the services of this runtime and those of *layer*.  Layers that this runtime has built are
        shared.  What *layer* adds is built for the child alone, and released when the child is left or when this runtime is
        closed, before its own layers are released.

        Raises:
            EffectInterrupted: this runtime is not open.
        """
        child: ManagedRuntime[Any] = ManagedRuntime(cast("Layer[Any, Any, Never]", layer), self._memo.fork())
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
        given: Context[Any] = Context.empty() if self._parent is None else self._parent._services()
        self._scope = Scope() if self._parent is None else self._parent._scope.fork()
        try:
            services = await build(self._layer.shape, Place(given, self._memo), self._scope)
        except BaseException as exception:
            if self._parent is not None:
                self._parent._scope.forget(self._scope)
            if not isinstance(exception, LayerFailed):
                raise
            failed = exception_of(exception.error)
            raise failed from failed.__cause__
        self._idle = None
        self._context = given.merge(Context[Any](services))
        # Last in, first out: the effects end before the services, also when the parent is closed first.
        await self._scope.add(self._interrupt)

    async def _close(self, exception: BaseException | None) -> None:
        try:
            await self._scope.close(Success(None) if exception is None else exit_from_exception(exception))
        finally:
            self._is_entered = False

    async def _interrupt(self, _: object) -> None:
        self._context, self._is_closed = None, True
        if not self._running:
            return
        import anyio

        self._idle = anyio.Event()
        for cancel_scope in self._running:
            cancel_scope.cancel()
        with shield():
            await self._idle.wait()

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close(exception)

    def __enter__(self) -> Self:
        run_without_waiting(self._open())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        run_without_waiting(self._close(exception))
