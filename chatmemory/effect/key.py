"""``Key``: names a service; ``Reference``: the key of a service that has a default.

``context.py`` stores services; ``tag.py`` adds the effects that ask for them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, Protocol, Self, cast, get_args

from typing_extensions import TypeVar

from chatmemory.effect.likeness import did_you_mean

S = TypeVar("S")
Id_co = TypeVar("Id_co", covariant=True)


class TagOf(Protocol[Id_co, S]):
    """The type of a tag *class* as a parameter: its nominal identity ``Id_co`` and its interface ``S``.

    ``type[S]`` could not name a Protocol as ``S`` (mypy: type-abstract), and would lose the identity.
    """

    key: str
    has_default: bool

    def identity(self) -> Id_co:
        """For the type checker only; never called."""
        ...

    def interface(self, service: S, /) -> S:
        """Return *service*; the type checker checks it against the interface."""
        ...

    def fallback(self) -> S:
        """Return the service to use when none is provided; call it only if ``has_default``."""
        ...


class MissingServiceError(LookupError):
    """A service was asked for that is not provided: a defect of the wiring, never a typed failure.

    Attributes:
        is_fed_only: whether a layer gives it to layers that it feeds with ``>>``, and to nothing else.
    """

    def __init__(self, key: str, *, needed_by: str | None = None, available: Iterable[str] = ()) -> None:
        super().__init__(key)
        self.key = key
        self.needed_by = needed_by
        self.available = tuple(available)
        self.is_fed_only = False

    def name_consumer(self, consumer: str) -> None:
        """Add the name of the consumer that needs the service, unless a more precise name is already set."""
        self.needed_by = self.needed_by or consumer

    def __str__(self) -> str:
        name = short_name(self.key)
        consumer = f", needed by {self.needed_by}" if self.needed_by else ""
        public = [short_name(key) for key in self.available if _is_public(key)]
        others = len(self.available) - len(public)
        offer = ", ".join(public) + (f"{' and ' * bool(public)}{others} internal" if others else "")
        like = (
            "" if self.is_fed_only else did_you_mean(name, map(short_name, self.available)).removeprefix(":")
        )
        return (
            f"Service not found: {name}{consumer} (available: {offer or 'nothing'});{like} {self._cure(name)}"
        )

    def _cure(self, name: str) -> str:
        if self.is_fed_only:
            return "`layer >> consumer` gives it to the consumer alone: write layer.feed_keep(consumer) to keep it"
        ready = next((tag.given_by for tag in _tags(Key) if tag.key == self.key and tag.given_by), None)
        layer = ready or f"Layer.succeed({name}, service)"
        if self.needed_by:
            return f"feed it, {layer} >> the layer"
        if self.available:
            return f"add a layer that gives it: stack | {layer}"
        return f"run the effect in a runtime whose layer gives it: ManagedRuntime({layer})"


def short_name(key: str) -> str:
    """Return the class name at the end of *key*."""
    return key.rpartition(".")[2]


def _is_public(key: str) -> bool:
    """Return whether the package of a tag exports its name; a package without ``__all__`` exports all names."""
    package = sys.modules.get(key.partition(".")[0])
    names: Iterable[str] | None = getattr(package, "__all__", None)
    return names is None or short_name(key) in names


class Key(Generic[S]):
    """The name of a service with the interface ``S``.

    The class itself is the key; it is never instantiated.  Two interfaces with the same members stay apart, because the key
    is nominal.  A module imported under two names still means one service, because keys are compared as strings.  The key
    is the qualified name of the class, unless ``class ClockTag(Reference[Clock], key="...")`` sets another.  *given_by*
    names the ready-made layer in the error for a missing service:
    ``class GreeterTag(Tag[Greeter], given_by="greeter_layer")``.
    """

    key: ClassVar[str]
    has_default: ClassVar[bool] = False
    given_by: ClassVar[str | None] = None

    def __init_subclass__(cls, *, key: str | None = None, given_by: str | None = None) -> None:
        super().__init_subclass__()
        cls.key = key or f"{cls.__module__}.{cls.__qualname__}"
        cls.given_by = given_by

    if not TYPE_CHECKING:

        def __new__(cls, *_, **__):
            """Raise ``TypeError`` with what to write instead: a tag is never instantiated."""
            name = cls.__name__
            raise TypeError(
                f"{name} is a tag, which is never instantiated: Layer.succeed({name}, service) gives its service, "
                f"Effect.service({name}) asks for it"
            )

    @classmethod
    def identity(cls) -> Self:
        """For the type checker only (see ``TagOf``); never called."""
        raise NotImplementedError

    @classmethod
    def interface(cls, service: S, /) -> S:
        """Return *service*; the type checker checks it against the interface."""
        return service

    @classmethod
    def fallback(cls) -> S:
        """Raise an error, because only a ``Reference`` has a default."""
        raise MissingServiceError(cls.key)


class Reference(Key[S]):
    """The key of a service with a default, which need not be provided: ``ClockTag``, ``IdsTag``, ``RandomTag``.

    A subclass defines ``default``.  A reference is not part of ``R``; providing one replaces the default.  Effects ask
    for it with ``Effect.service(ClockTag)`` or ``do.service(ClockTag)``.
    """

    has_default: ClassVar[bool] = True

    @classmethod
    def default(cls) -> S:
        """Return the service to use when none is provided; called at most once, on first use."""
        raise NotImplementedError

    @classmethod
    def identity(cls) -> Never:
        """For the type checker only: nothing is required."""
        raise NotImplementedError

    @classmethod
    def fallback(cls) -> S:
        """Return the default, which is made once per class."""
        if cls.key not in _DEFAULTS:
            _DEFAULTS[cls.key] = cls.default()
        return cast("S", _DEFAULTS[cls.key])


_DEFAULTS: dict[str, object] = {}


def interface_of(tag: object) -> type | None:
    """Return the interface of a tag, ``Greeter`` of ``class GreeterTag(Tag[Greeter])``; None if it names none."""
    for base in getattr(tag, "__mro__", ()):
        for generic in base.__dict__.get("__orig_bases__", ()):
            if get_args(generic) and isinstance(interface := get_args(generic)[0], type):
                return interface
    return None


def tags_of(interface: type) -> list[type[Key[Any]]]:
    """Return the tags that are defined for *interface*, or for a class that it inherits from."""
    return [tag for tag in _tags(Key) if interface_of(tag) in interface.__mro__[:-1]]


def _tags(base: type[Key[Any]]) -> Iterator[type[Key[Any]]]:
    for tag in type.__subclasses__(base):
        yield tag
        yield from _tags(tag)
