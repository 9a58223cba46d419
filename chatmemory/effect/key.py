"""``Key``: what names a service, and ``Reference``, the key of a service that has a default.

Where services are kept is defined in ``context.py``; ``tag.py`` adds to a key the effects that ask for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Generic, Never, Protocol, Self, cast

from typing_extensions import TypeVar

__all__ = ["Key", "MissingServiceError", "Reference", "TagOf", "short_name"]

S = TypeVar("S")
Id_co = TypeVar("Id_co", covariant=True)


class TagOf(Protocol[Id_co, S]):
    """What a tag *class* looks like to a function: its nominal identity ``Id_co`` and its interface ``S``.

    ``type[S]`` could not name a Protocol as ``S`` (mypy: type-abstract), and would lose the identity.
    """

    key: str
    has_default: bool

    def identity(self) -> Id_co:
        """Exist for the type checker only."""
        ...

    def interface(self, service: S, /) -> S:
        """Return *service*, checked against the interface."""
        ...

    def fallback(self) -> S:
        """Return the service to use where none is given; only if ``has_default``."""
        ...


class MissingServiceError(LookupError):
    """A service was asked for that nobody provides: a defect of the wiring, never a typed failure."""

    def __init__(self, key: str, *, needed_by: str | None = None, available: Iterable[str] = ()) -> None:
        super().__init__(key)
        self.key = key
        self.needed_by = needed_by
        self.available = tuple(available)

    def name_consumer(self, consumer: str) -> None:
        """Say who needs the service, unless somebody nearer to it has said so."""
        self.needed_by = self.needed_by or consumer

    def __str__(self) -> str:
        consumer = f", needed by {self.needed_by}" if self.needed_by else ""
        offer = ", ".join(map(short_name, self.available)) or "nothing"
        return f"Service not found: {short_name(self.key)}{consumer} (available: {offer})"


def short_name(key: str) -> str:
    """Return the class name at the end of a key."""
    return key.rpartition(".")[2]


class Key(Generic[S]):
    """The name of a service whose interface is ``S``.

    The class itself is the key and is never instantiated.  Two interfaces of one shape stay apart, because the key is
    nominal; a module imported under two names still means one service, because the key compares as a string.  It is
    the class's qualified name unless ``class ClockTag(Reference[Clock], key="...")`` says otherwise.
    """

    key: ClassVar[str]
    has_default: ClassVar[bool] = False

    def __init_subclass__(cls, *, key: str | None = None) -> None:
        super().__init_subclass__()
        cls.key = key or f"{cls.__module__}.{cls.__qualname__}"

    @classmethod
    def identity(cls) -> Self:
        """Exist for the type checker only (see ``TagOf``)."""
        raise NotImplementedError

    @classmethod
    def interface(cls, service: S, /) -> S:
        """Return *service*, checked against the interface."""
        return service

    @classmethod
    def fallback(cls) -> S:
        """Raise: an ordinary service has no default."""
        raise MissingServiceError(cls.key)


class Reference(Key[S]):
    """The key of a service with a default, so that nobody has to provide it: ``ClockTag``, ``IdsTag``, ``RandomTag``.

    A subclass defines ``default``.  A reference is no part of ``R``; providing one replaces the default.  Effects ask
    for it by ``Effect.service(ClockTag)`` or ``do.service(ClockTag)``.
    """

    has_default: ClassVar[bool] = True

    @classmethod
    def default(cls) -> S:
        """Return the service to use where none is provided; called at most once, on first use."""
        raise NotImplementedError

    @classmethod
    def identity(cls) -> Never:
        """Exist for the type checker only: nothing is required."""
        raise NotImplementedError

    @classmethod
    def fallback(cls) -> S:
        """Return the default, made once per class."""
        if cls.key not in _DEFAULTS:
            _DEFAULTS[cls.key] = cls.default()
        return cast("S", _DEFAULTS[cls.key])


_DEFAULTS: dict[str, object] = {}
