"""``Difference``: lets a signature remove known members from a union, so that type checkers keep the others.

``Difference[Effect[A, E | E3, R], E]`` is an effect whose errors are ``E3``, which is already known, and ``E``, which
the type checker has to find.  For pyright ``Effect[A, E | E3, R]`` would be enough.  mypy needs more: where two
errors remain, it joins them to ``object``, because its solver creates no unions.  But it keeps a union that it is
given: ``Subtractable`` gives it a union of two type variables to start with, and mypy erases these at the end,
because nothing determines them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never, Protocol, Self, TypeVar

__all__ = ["Difference", "Subtractable"]

Whole_co = TypeVar("Whole_co", covariant=True)
Rest_co = TypeVar("Rest_co", covariant=True)


class Difference(Protocol[Whole_co, Rest_co]):
    """A ``Whole``, one type parameter of which is ``Rest``: the members that remain."""

    # The name needs underscores at both ends: with another name, the mypy plugin of returns crashes when an effect is
    # passed to `flow`.
    def __difference__(self) -> tuple[Whole_co, Rest_co]:
        """For the type checker only; never called."""
        ...


class Subtractable:
    """A class with type parameters that signatures can subtract from."""

    __slots__ = ()

    if TYPE_CHECKING:

        class _Anything(Any):  # type: ignore[misc]  # fits wherever a function is passed, until it is erased
            ...

        _Free1 = TypeVar("_Free1", bound=_Anything)
        _Free2 = TypeVar("_Free2", bound=_Anything)

        # Of two definitions mypy uses the first, and every other checker the last.
        def __difference__(self) -> tuple[Self, _Free1 | _Free2]: ...  # pyright: ignore[reportRedeclaration]  for mypy
        def __difference__(self) -> tuple[Self, Never]: ...  # noqa: F811  for the other checkers
