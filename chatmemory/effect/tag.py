"""Tags: the nominal keys under which services are asked for and provided.

Where the services live is said in ``context.py``; how they are made, in ``layer.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Generic, Never, Self, cast

from typing_extensions import TypeVar

from chatmemory.effect.context import MissingServiceError, TagOf
from chatmemory.effect.effect import Effect

__all__ = ["Reference", "Tag", "TagOf"]

S = TypeVar("S")
B = TypeVar("B")
E = TypeVar("E")
R = TypeVar("R")


class Tag(Generic[S]):
    """The key of a service whose interface is ``S``: ``class ClockTag(Tag[Clock]): ...``.

    The class itself is the key and is never instantiated.  Two interfaces of one shape stay apart, because the key is
    nominal; a module imported under two names still means one service, because the key compares as a string.  It is
    the class's qualified name unless ``class ClockTag(Tag[Clock], key="...")`` says otherwise.
    """

    key: ClassVar[str]
    has_default: ClassVar[bool] = False

    def __init_subclass__(cls, *, key: str | None = None) -> None:
        super().__init_subclass__()
        cls.key = key or f"{cls.__module__}.{cls.__qualname__}"

    @classmethod
    def get(cls) -> Effect[S, Never, Self]:
        """Return the effect that succeeds with the service."""
        # A class that asks for itself: the checkers see the protocol in `type[Db]`, and not in `type[Self]`.
        return Effect.service(cast("TagOf[Self, S]", cls))

    @classmethod
    def use(cls, function: Callable[[S], Effect[B, E, R]]) -> Effect[B, E, R | Self]:
        """Return the effect that asks for the service and goes on with what *function* makes of it."""
        return cls.get().bind(function)

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


class Reference(Tag[S]):
    """A tag with a default, so that nobody has to provide it: ``Clock``, ``Ids``, ``Random``.

    A subclass defines ``default``.  A reference is no part of ``R``; providing one replaces the default.
    """

    has_default: ClassVar[bool] = True

    @classmethod
    def default(cls) -> S:
        """Make the service to use where none is provided; called at most once, on first use."""
        raise NotImplementedError

    @classmethod
    def get(cls) -> Effect[S]:
        """Return the effect that succeeds with the service or its default."""
        return Effect.service(cls)

    @classmethod
    def use(cls, function: Callable[[S], Effect[B, E, R]]) -> Effect[B, E, R]:
        """Return the effect that goes on with what *function* makes of the service."""
        return cls.get().bind(function)

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
