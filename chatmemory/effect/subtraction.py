"""``Difference``: how a signature takes known members out of a union, so that type checkers keep the others.

``Difference[Effect[A, E | E3, R], E]`` is an effect whose errors are ``E3``, which is already known, and ``E``, which
is wanted.  For pyright ``Effect[A, E | E3, R]`` would do.  mypy needs more: where two errors are left, it joins them
to ``object``, because its solver makes no union of its own.  It keeps one that it is given, though, so a
``Subtractable`` gives it a union of two type variables to begin with, and mypy erases these in the end, because
nothing says what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never, Protocol, Self, TypeVar

__all__ = ["Difference", "Subtractable"]

Whole_co = TypeVar("Whole_co", covariant=True)
Rest_co = TypeVar("Rest_co", covariant=True)


class Difference(Protocol[Whole_co, Rest_co]):
    """A ``Whole`` with a type parameter of which ``Rest`` is left."""

    # Underscores at both ends: over another name the mypy plugin of returns breaks down, where flow meets it.
    def __difference__(self) -> tuple[Whole_co, Rest_co]:
        """Exist for the type checker only."""
        ...


class Subtractable:
    """A class with type parameters that signatures can subtract from."""

    __slots__ = ()

    if TYPE_CHECKING:

        class _Anything(Any):  # type: ignore[misc]  # fits wherever a function is passed, until it is erased
            ...

        _Free1 = TypeVar("_Free1", bound=_Anything)
        _Free2 = TypeVar("_Free2", bound=_Anything)

        # Of two definitions mypy takes the first, and every other checker the last.
        def __difference__(self) -> tuple[Self, _Free1 | _Free2]: ...  # pyright: ignore[reportRedeclaration]  for mypy
        def __difference__(self) -> tuple[Self, Never]: ...  # noqa: F811  for the others
