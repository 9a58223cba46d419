"""``Layer``: a recipe for services; its type names what it needs and how it can fail.

Layers are values.  The first part of this module defines the shapes that they are made of; ``build.py`` opens them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import cache
from typing import Any, Generic, Never, Protocol, TypeAlias, cast, final, overload

from typing_extensions import TypeVar

from chatmemory.effect.checks import (
    fitting,
    no_function,
    no_layer,
    no_manager,
    require_members,
    require_plain,
    require_tag,
)
from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect, require_effect
from chatmemory.effect.for_type_checkers import Difference, Subtractable
from chatmemory.effect.key import TagOf, short_name
from chatmemory.effect.outcome import Outcome, Success

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


# --- Shapes: a layer without the types of its services, which ``Layer`` has checked.  They compare by identity: a leaf that
# occurs twice in a graph is opened once.  They are plain classes, because attrs would take 0.5 ms to make each of them.

AnyTag: TypeAlias = TagOf[Any, Any]
Opens: TypeAlias = Callable[[Context[Any], AsyncExitStack], Awaitable[Outcome[Any, Any]]]
"""Opens a service with the services that its layer sees; the stack closes it."""


@final
class Leaf:
    """A layer that gives one service.

    Attributes:
        tag: the tag of the service.
        open: opens the service; None: *service* is there already.
        needs: the tags that it asks for; None: unknown, so it may ask for any service that it sees.
        service: the service of a layer that opens nothing.
    """

    __slots__ = ("needs", "open", "service", "tag")

    def __init__(
        self, tag: AnyTag, open_: Opens | None, needs: Sequence[AnyTag] | None = (), service: Any = None
    ) -> None:
        self.tag = tag
        self.open = open_
        self.needs = needs
        self.service = service

    @property
    def name(self) -> str:
        """Its name in messages."""
        return short_name(self.tag.key)


@final
class Merge:
    """Two layers side by side; where both give the same service, the service of the right one is used."""

    __slots__ = ("left", "right")

    def __init__(self, left: Shape, right: Shape) -> None:
        self.left = left
        self.right = right


@final
class Feed:
    """A *consumer* that receives the services of *dependency*; with *keeps* those are given as well."""

    __slots__ = ("consumer", "dependency", "keeps")

    def __init__(self, dependency: Shape, consumer: Shape, *, keeps: bool) -> None:
        self.dependency = dependency
        self.consumer = consumer
        self.keeps = keeps


@final
class Suspend:
    """The layer that *make* returns; *make* is called once, when a plan first reaches it."""

    __slots__ = ("make", "name")

    def __init__(self, name: str, make: Callable[[], Shape]) -> None:
        self.name = name
        self.make = cache(make)


@final
class Replace:
    """The layer *inner*, in which *fakes* replace the leaves that give the same services."""

    __slots__ = ("fakes", "inner")

    def __init__(self, inner: Shape, fakes: Sequence[Shape]) -> None:
        self.inner = inner
        self.fakes = fakes


Shape: TypeAlias = Leaf | Merge | Feed | Suspend | Replace


def sides(shape: Shape) -> Iterator[Shape]:
    """Yield the sides of ``a | b | c`` from left to right."""
    found: list[Shape] = []
    while isinstance(shape, Merge):
        found.append(shape.right)
        shape = shape.left
    found.append(shape)
    return reversed(found)


# --- Layers ---


class LayerOf(Protocol[Out_co, Err_co, In_co]):
    """The type of a layer that replaces another one: all its services belong to ``Out``; it may give fewer."""

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

    A layer that occurs twice in a graph is opened once.  So make it a module constant: two calls of a function make two
    layers.  Layers are opened in order, each after those that feed it, and closed in reverse order, also after a failure
    or a cancellation.

    ``Out`` is contravariant: a layer that gives more can be used where less is asked for.
    """

    __slots__ = ("shape",)

    def __init__(self, shape: Shape) -> None:
        """Make a layer of *shape*; callers use the constructors below."""
        self.shape = shape

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
        return Layer(Leaf(tag, None, (), fitting(tag, service)))

    @staticmethod
    def sync(tag: TagOf[Id, S], make: Callable[[], S]) -> Layer[Id]:
        """Return a layer that gives the service that *make* returns."""
        require_plain(make, "Layer.sync", instead="Layer.effect(Tag, Effect.promise(function))")
        return Layer.effect(tag, Effect.sync(make), needs=())

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
        return _leaf(tag, lambda context, _: effect.run_in(context), needs)

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

        One task enters and leaves all context managers of a runtime, so they may hold task groups and cancel scopes.  An
        exception is a defect.

        Args:
            tag: the tag of the service.
            open_: called with the services of *needs*; returns the context manager.
            needs: the tags of the services that *open_* takes, in order.
        """
        if not callable(open_) or hasattr(type(open_), "__aenter__"):
            raise no_function(open_, where="Layer.scoped", example="Layer.scoped(Tag, open_service)")

        async def enter(context: Context[Any], stack: AsyncExitStack) -> Outcome[Any, Any]:
            manager = open_(*map(context.get, needs))
            if not hasattr(manager, "__aenter__"):
                raise no_manager(manager, layer=short_name(tag.key))
            service = await manager.__aenter__()

            async def leave(_: object, failure: BaseException | None, __: object) -> None:
                # As usual: the failure of another layer is not a failure of this one.
                try:
                    await manager.__aexit__(None, None, None)
                except BaseException as own:
                    own.__context__ = own.__context__ or failure
                    raise

            stack.push_async_exit(leave)
            return Success(service)

        return _leaf(tag, enter, needs)

    @staticmethod
    def mock(tag: TagOf[Id, Any], **members: object) -> Layer[Id]:
        """Return a layer whose service has only *members*; calling any other member is a defect (``UnimplementedError``).

        Args:
            tag: the tag of the service.
            members: functions and values by name.

        Raises:
            TypeError: the Protocol of *tag* lacks the member, or it is a method and no function is given.
        """
        require_tag(tag)
        require_members(tag, members)
        return Layer(Leaf(tag, None, (), Mock(short_name(tag.key), members)))

    @staticmethod
    def suspend(make: Callable[[], Layer[Out, E, In]]) -> Layer[Out, E, In]:
        """Return a layer that is made by *make* when it is first built; *make* is called once."""
        if not callable(make):
            raise no_function(make, where="Layer.suspend", example="Layer.suspend(lambda: layer)")
        name = getattr(make, "__qualname__", repr(make))
        return Layer(Suspend(f"suspend({name})", lambda: shape_of(make())))

    # --- composition ---

    def __or__(self, other: Layer[Out2, E2, In2]) -> Layer[Out_contra | Out2, Err_co | E2, In_co | In2]:
        """Return a layer that gives the services of both; where both give a service, the service of *other* is used.

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

    def failing_with(self, error: type[E2]) -> Layer[Out_contra, Err_co | E2, In_co]:
        """Return this layer with *error* among the failures of its type.

        A context manager can only raise; when it raises ``EffectFailed`` with such an error, that is a typed failure:
        ``Layer.scoped(DatabaseTag, open_database).failing_with(RepositoryError)``.
        """
        del error  # only the type checker needs it
        return cast("Layer[Out_contra, Err_co | E2, In_co]", self)

    def __repr__(self) -> str:
        return f"Layer({self.shape.name if isinstance(self.shape, Leaf | Suspend) else 'graph'})"


class Delegating(Generic[S]):
    """Wraps a service: what the class does not define itself is a member of ``inner``.

        class Printing(Delegating[MessageRepository]):
            def append(self, batch: Append, /) -> Effect[Appended, AppendError]:
                print(batch.conversation_id)
                return self.inner.append(batch)

        stack = stacks.embedded("agent.db").replace(Printing.around(MessageRepositoryTag))

    Attributes:
        inner: the wrapped service.
    """

    inner: S

    def __init__(self, inner: S) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # it is looked for before it is set, as by copy
            raise AttributeError(name)
        return getattr(self.inner, name)

    @classmethod
    def around(cls, tag: TagOf[Id, S]) -> Layer[Id, Never, Id]:
        """Return a layer that wraps the service of *tag*, for ``stack.replace``."""
        # It has every member of the service, but a type checker cannot see that.
        return Layer.effect(tag, Effect.service(tag).map(lambda inner: cast("S", cls(inner))), needs=[tag])


def shape_of(layer: object) -> Shape:
    """Return the shape of *layer*.

    Raises:
        TypeError: it is not a layer.
    """
    if not isinstance(layer, Layer):
        raise no_layer(layer)
    return layer.shape


def _leaf(tag: AnyTag, open_: Opens, needs: Sequence[AnyTag] | None) -> Layer[Any, Any, Any]:
    require_tag(tag)
    if needs is not None:
        if isinstance(needs, type):
            raise TypeError(f"needs is a list of tags: write needs=[{needs.__name__}]")
        for needed in needs:
            require_tag(needed)
    return Layer(Leaf(tag, open_, needs))


class UnimplementedError(NotImplementedError):
    """A test called a member that the mock does not have: a defect of the test."""


@final
class Mock:
    """A service that has only *members*; calling another one raises ``UnimplementedError``."""

    def __init__(self, name: str, members: Mapping[str, object]) -> None:
        self._name = name
        self.__dict__.update(members)

    def __getattr__(self, member: str) -> Callable[..., Never]:
        if member.startswith("__"):  # Python looks these up, and expects AttributeError for a missing one
            raise AttributeError(member)

        def unimplemented(*_: object, **__: object) -> Never:
            raise UnimplementedError(f"{self._name}.{member} is not implemented: give it to Layer.mock")

        return unimplemented
