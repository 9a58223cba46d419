"""``Layer``: a recipe for services; its type names what it needs and how it can fail.

Layers are values.  ``shape.py`` defines what they are made of, ``plan.py`` and ``build.py`` how they are built;
``runtime.py`` builds them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Generic, Never, Protocol, final, overload

from typing_extensions import TypeVar

from chatmemory.effect.checks.arguments import require_plain
from chatmemory.effect.checks.mistakes import no_attribute_of_layer, no_function, no_layer, require_tag
from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect, require_effect
from chatmemory.effect.effect_failed import EffectFailed
from chatmemory.effect.key import TagOf, short_name
from chatmemory.effect.layers.fitting import fitting, require_members
from chatmemory.effect.layers.mock import Mock
from chatmemory.effect.layers.shape import (
    Acquire,
    AnyTag,
    Feed,
    Leaf,
    Merge,
    Opens,
    Replace,
    Services,
    Shape,
    Site,
    Suspend,
)
from chatmemory.effect.outcome import Exit, Failure, Outcome, Success
from chatmemory.effect.suspended import shield
from chatmemory.effect.typing.subtraction import Difference, Subtractable

__all__ = ["Layer", "shape_of"]

A = TypeVar("A")
E = TypeVar("E")
E2 = TypeVar("E2")
R = TypeVar("R")
R2 = TypeVar("R2")
S = TypeVar("S")
Id = TypeVar("Id")
In = TypeVar("In")
In2 = TypeVar("In2")
Out = TypeVar("Out")
Out2 = TypeVar("Out2")
S1 = TypeVar("S1")
S2 = TypeVar("S2")
S3 = TypeVar("S3")
S4 = TypeVar("S4")
S5 = TypeVar("S5")
S6 = TypeVar("S6")
D1 = TypeVar("D1")
D2 = TypeVar("D2")
D3 = TypeVar("D3")
D4 = TypeVar("D4")
D5 = TypeVar("D5")
D6 = TypeVar("D6")
Out_co = TypeVar("Out_co", covariant=True)
Out_contra = TypeVar("Out_contra", contravariant=True)
Err_co = TypeVar("Err_co", covariant=True, default=Never)
In_co = TypeVar("In_co", covariant=True, default=Never)


class LayerOf(Protocol[Out_co, Err_co, In_co]):
    """The type of a layer that replaces another one: it gives no service besides ``Out``, but may give fewer."""

    @property
    def shape(self) -> Shape:
        """The shape of the layer."""
        ...

    # Without this Any, mypy would infer the services of a layer that is composed in the argument from the parameter.
    def identity(self, services: Any, /) -> tuple[Out_co, Err_co, In_co]:
        """For the type checker only; never called."""
        ...


@final
class Layer(Subtractable, Generic[Out_contra, Err_co, In_co]):
    """A recipe that gives the services ``Out``, may fail with ``Err``, and needs the services ``In``.

    A layer that occurs twice in a graph is built once.  So make it a module constant: two calls of a function make two
    layers.  Independent layers are acquired in parallel; all are released in reverse order, also after a failure or a
    cancellation.  A graph may have any size and depth.

    ``Out`` is contravariant: a layer that gives more can be used where less is asked for.
    """

    __slots__ = ("shape",)

    def __init__(self, shape: Shape) -> None:
        """Make a layer of *shape*; callers use the constructors below."""
        self.shape = shape

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Raise ``AttributeError`` with a suggestion."""
            raise no_attribute_of_layer(name, dir(Layer))

    def identity(self, services: Out_contra, /) -> tuple[Out_contra, Err_co, In_co]:
        """For the type checker only (see ``LayerOf``); never called."""
        raise NotImplementedError

    # --- constructors ---

    @staticmethod
    def succeed(tag: TagOf[Id, S], service: S) -> Layer[Id]:
        """Return a layer that gives *service*.

        When mypy says only "Cannot infer value of type parameter" for a fake, ``GreeterTag.interface(fake)`` lists the
        members that it lacks.

        Args:
            tag: the tag of the service.
            service: the service.

        Raises:
            TypeError: *service* lacks a member of the Protocol of *tag*.
        """
        require_tag(tag)
        services = {tag.key: fitting(tag, service)}
        return _leaf(tag, lambda _: Effect.succeed(services))

    @staticmethod
    def sync(tag: TagOf[Id, S], make: Callable[[], S]) -> Layer[Id]:
        """Return a layer that gives the service that *make* returns."""
        require_plain(make, "Layer.sync", instead="Layer.effect(Tag, Effect.promise(function))")
        return _leaf(tag, lambda _: Effect.sync(lambda: {tag.key: fitting(tag, make())}))

    @staticmethod
    def fail(tag: TagOf[Id, Any], error: E) -> Layer[Id, E]:
        """Return a layer that fails with *error* instead of giving a service for *tag*."""
        return _leaf(tag, lambda _: Effect.fail(error))

    @staticmethod
    def effect(
        tag: TagOf[Id, S], effect: Effect[S, E, R], *, needs: Sequence[TagOf[R, Any]] | None = None
    ) -> Layer[Id, E, R]:
        """Return a layer that gives the service with which *effect* succeeds.

        Args:
            tag: the tag of the service.
            effect: makes the service.
            needs: the tags that *effect* asks for; None: unknown.  ``>>`` works without them;
                ``replace`` leaves out only layers that certainly no layer asks for.
        """
        require_effect(effect)
        return _leaf(tag, lambda _: effect.map(lambda service: {tag.key: fitting(tag, service)}), needs)

    @overload  # pyright makes a union of type variables Unknown where each of them is Never
    @staticmethod
    def acquire_release(
        tag: TagOf[Id, S], acquire: Effect[S, E], release: Callable[[S, Exit[Any, Any]], Effect[Any]]
    ) -> Layer[Id, E]: ...
    @overload
    @staticmethod
    def acquire_release(
        tag: TagOf[Id, S],
        acquire: Effect[S, E, R],
        release: Callable[[S, Exit[Any, Any]], Effect[Any, Never, R2]],
        *,
        needs: Sequence[TagOf[R | R2, Any]] = (),
    ) -> Layer[Id, E, R | R2]: ...
    @staticmethod
    def acquire_release(
        tag: TagOf[Id, S],
        acquire: Effect[S, E, R],
        release: Callable[[S, Exit[Any, Any]], Effect[Any, Never, R2]],
        *,
        needs: Sequence[TagOf[R | R2, Any]] | None = None,
    ) -> Layer[Id, E, R | R2]:
        """Return a layer that gives what *acquire* succeeds with, and runs *release* when the service is no longer used.

        Args:
            tag: the tag of the service.
            acquire: makes the service; it cannot be interrupted.
            release: makes the effect that releases the service, from the service and how its use ended.
            needs: the tags that the effects ask for, as in ``effect``; None: unknown.
        """
        require_effect(acquire)

        def run(site: Site) -> Effect[Services, E, R | R2]:
            async def keep(context: Context[R | R2]) -> Outcome[Services, E]:
                with shield():  # an interruption in between would leave the service acquired for ever
                    acquired = await acquire.run_in(context)
                    if type(acquired) is not Success:
                        return acquired
                    service = acquired.unwrap()

                    def end(exit_: Exit[Any, Any]) -> Awaitable[Any]:
                        releasing = release(service, exit_)
                        require_effect(releasing, release)
                        return releasing.run_in(context)

                    await site.scope.add(end)
                    return Success({tag.key: fitting(tag, service)})

            return Effect.in_context(keep)

        return _leaf(tag, run, needs)

    @overload
    @staticmethod
    def scoped(tag: TagOf[Id, S], open_: Callable[[], AbstractAsyncContextManager[S]], /) -> Layer[Id]: ...
    @overload
    @staticmethod
    def scoped(
        tag: TagOf[Id, S], open_: Callable[[S1], AbstractAsyncContextManager[S]], d1: TagOf[D1, S1], /
    ) -> Layer[Id, Never, D1]: ...
    @overload
    @staticmethod
    def scoped(
        tag: TagOf[Id, S],
        open_: Callable[[S1, S2], AbstractAsyncContextManager[S]],
        d1: TagOf[D1, S1],
        d2: TagOf[D2, S2],
        /,
    ) -> Layer[Id, Never, D1 | D2]: ...
    @overload
    @staticmethod
    def scoped(
        tag: TagOf[Id, S],
        open_: Callable[[S1, S2, S3], AbstractAsyncContextManager[S]],
        d1: TagOf[D1, S1],
        d2: TagOf[D2, S2],
        d3: TagOf[D3, S3],
        /,
    ) -> Layer[Id, Never, D1 | D2 | D3]: ...
    @overload
    @staticmethod
    def scoped(
        tag: TagOf[Id, S],
        open_: Callable[[S1, S2, S3, S4], AbstractAsyncContextManager[S]],
        d1: TagOf[D1, S1],
        d2: TagOf[D2, S2],
        d3: TagOf[D3, S3],
        d4: TagOf[D4, S4],
        /,
    ) -> Layer[Id, Never, D1 | D2 | D3 | D4]: ...
    @overload
    @staticmethod
    def scoped(
        tag: TagOf[Id, S],
        open_: Callable[[S1, S2, S3, S4, S5], AbstractAsyncContextManager[S]],
        d1: TagOf[D1, S1],
        d2: TagOf[D2, S2],
        d3: TagOf[D3, S3],
        d4: TagOf[D4, S4],
        d5: TagOf[D5, S5],
        /,
    ) -> Layer[Id, Never, D1 | D2 | D3 | D4 | D5]: ...
    @overload
    @staticmethod
    def scoped(
        tag: TagOf[Id, S],
        open_: Callable[[S1, S2, S3, S4, S5, S6], AbstractAsyncContextManager[S]],
        d1: TagOf[D1, S1],
        d2: TagOf[D2, S2],
        d3: TagOf[D3, S3],
        d4: TagOf[D4, S4],
        d5: TagOf[D5, S5],
        d6: TagOf[D6, S6],
        /,
    ) -> Layer[Id, Never, D1 | D2 | D3 | D4 | D5 | D6]: ...
    @staticmethod
    def scoped(
        tag: AnyTag, open_: Callable[..., AbstractAsyncContextManager[Any]], /, *needs: AnyTag
    ) -> Layer[Any, Any, Any]:
        """Return a layer that gives the value of a context manager, and leaves it when the service is no longer used.

        It is entered and left in one task of its own, so it may hold task groups and cancel scopes.  An exception is
        a defect.

        Args:
            tag: the tag of the service.
            open_: called with the services of *needs*; returns the context manager.
            needs: the tags of the services that *open_* takes, in order.
        """
        if not callable(open_) or hasattr(type(open_), "__aenter__"):
            raise no_function(open_, where="Layer.scoped", example="Layer.scoped(Tag, open_service)")
        return _leaf(tag, Opens(open_), needs)

    @staticmethod
    def mock(tag: TagOf[Id, Any], **members: object) -> Layer[Id]:
        """Return a layer whose service has only *members*; calling any other member is a defect (``UnimplementedError``).

        Args:
            tag: the tag of the service.
            members: functions and values by name.

        Raises:
            TypeError: the Protocol of *tag* has no such member, or it is a method and no function is given.
        """
        require_tag(tag)
        require_members(tag, members)
        return _leaf(tag, lambda _: Effect.succeed({tag.key: Mock(short_name(tag.key), members)}))

    @staticmethod
    def suspend(make: Callable[[], Layer[Out, E, In]]) -> Layer[Out, E, In]:
        """Return a layer that is made by *make* when it is first built; *make* is called once."""
        if not callable(make):
            raise no_function(make, where="Layer.suspend", example="Layer.suspend(lambda: layer)")
        name = getattr(make, "__qualname__", repr(make))
        return Layer(Suspend(f"suspend({name})", lambda: shape_of(make())))

    # --- composition ---

    def __or__(self, other: Layer[Out2, E2, In2]) -> Layer[Out_contra | Out2, Err_co | E2, In_co | In2]:
        """Return a layer that gives the services of both; where both give a service, that of *other* is used.

        This applies to the services that the result gives, not to those that the layers on the left side receive: use
        ``replace`` for these.  If a layer of the left side would keep the old service, building raises
        ``ShadowedServiceError``.
        """
        return Layer(Merge(self.shape, shape_of(other)))

    def __rshift__(
        self, consumer: Difference[Layer[Out2, E2, In2 | Out_contra], In2]
    ) -> Layer[Out2, Err_co | E2, In_co | In2]:
        """Feed *consumer* with the services of this layer, and give only the services of *consumer*.

        The dependency is on the left side because only then can a type checker subtract what it gives from what *consumer*
        needs.
        """
        return Layer(Feed(self.shape, shape_of(consumer), keeps=False))

    def feed_keep(
        self, consumer: Difference[Layer[Out2, E2, In2 | Out_contra], In2]
    ) -> Layer[Out_contra | Out2, Err_co | E2, In_co | In2]:
        """Feed *consumer* with the services of this layer, and give the services of both."""
        return Layer(Feed(self.shape, shape_of(consumer), keeps=True))

    @overload
    def replace(
        self, *fakes: LayerOf[Out_contra, E2, Out_contra]
    ) -> Layer[Out_contra, Err_co | E2, In_co]: ...
    @overload
    def replace(
        self, *fakes: LayerOf[Out_contra, E2, In2 | Out_contra]
    ) -> Layer[Out_contra, Err_co | E2, In_co | In2]: ...
    def replace(self, *fakes: LayerOf[Any, Any, Any]) -> Layer[Any, Any, Any]:
        """Replace all layers inside this one, at any depth, that give the same services as *fakes*.

        A fake can use the services that the replaced layer can use.  The replaced layer is not built, and neither are
        layers that fed only it.  A fake that needs the service that it gives (``needs`` says so) wraps the layer
        instead; then the layer is built.  A fake of a reference (``ClockTag``) also replaces its default.

        Args:
            fakes: layers for services that this one has, each for a different service.

        Raises:
            UnknownReplacementError: when this layer is built: no layer inside it gives the service.
            AmbiguousServiceError: when this layer is built: two fakes give the same service.
        """
        return Layer(Replace(self.shape, [shape_of(fake) for fake in fakes]))

    # --- continuing from a failure ---

    def failing_with(self, error: type[E2]) -> Layer[Out_contra, Err_co | E2, In_co]:
        """Turn a raised ``EffectFailed`` with an *error* of this class into a typed failure.

        Any other exception stays a defect.  A context manager can only raise; this gives it a typed failure:
        ``Layer.scoped(DatabaseTag, open_database).failing_with(RepositoryError)``.
        """

        def attempt(site: Site) -> Effect[Services, Any]:
            async def run() -> Outcome[Services, Any]:
                try:
                    return await site.build(self.shape)
                except EffectFailed as failed:
                    if isinstance(failed.error, error):
                        return Failure(failed.error)
                    raise

            return Effect.from_outcome(run)

        name = self.shape.name if isinstance(self.shape, Leaf) else "graph"
        return Layer(
            Leaf(
                f"{name}.failing_with",
                attempt,
                gives=None,
                inner=self.shape,
            )
        )

    def __repr__(self) -> str:
        return f"Layer({self.shape.name if isinstance(self.shape, Leaf | Suspend) else 'graph'})"


def shape_of(layer: object) -> Shape:
    """Return the shape of *layer*.

    Raises:
        TypeError: it is not a layer.
    """
    if not isinstance(layer, Layer):
        raise no_layer(layer)
    return layer.shape


def _leaf(tag: AnyTag, acquire: Acquire | Opens, needs: Sequence[AnyTag] | None = ()) -> Layer[Any, Any, Any]:
    require_tag(tag)
    if needs is not None:
        if isinstance(needs, type):
            raise TypeError(f"needs is a list of tags: write needs=[{needs.__name__}]")
        for needed in needs:
            require_tag(needed)
    return Layer(Leaf(short_name(tag.key), acquire, (tag,), needs))
