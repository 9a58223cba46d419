"""What only type checkers read: bases and protocols that let them follow effects.

``Container`` makes an effect acceptable to ``map_``, ``bind``, ``alt`` and ``lash`` of ``returns``, for mypy.  At run time
these functions accept every object that has the method; their types require a base class of ``returns`` and the mypy plugin
that comes with ``returns``.  Other type checkers do not understand these bases, so only mypy sees them.

``Difference`` lets a signature remove known members from a union, so that type checkers keep the others.
``Difference[Effect[A, E | E3, R], E]`` is an effect whose errors are ``E3``, which is already known, and ``E``, which
the type checker has to find.  For pyright ``Effect[A, E | E3, R]`` would be enough.  mypy needs more: where two
errors remain, it joins them to ``object``, because its solver creates no unions.  But it keeps a union that it is
given: ``Subtractable`` gives it a union of two type variables to start with, and mypy erases these at the end,
because nothing determines them.

``Runs`` is the type of an effect for the modules that ``effect.py`` imports.
"""

# For the definition that only mypy sees:
# pyright: reportInvalidTypeArguments=false, reportRedeclaration=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Never, Protocol, Self

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.outcome import Outcome

Itself_co = TypeVar("Itself_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)
Whole_co = TypeVar("Whole_co", covariant=True)
Rest_co = TypeVar("Rest_co", covariant=True)

# Of two definitions mypy uses the first, and every other checker the last.
if TYPE_CHECKING:
    from returns.interfaces.altable import AltableN
    from returns.interfaces.bindable import BindableN
    from returns.interfaces.lashable import LashableN
    from returns.interfaces.mappable import MappableN
    from returns.primitives.hkt import SupportsKindN

    class Container(  # type: ignore[type-var]  # invariant in returns, whose methods only return what they get
        SupportsKindN[Itself_co, A_co, E_co, R_co],
        MappableN[A_co, E_co, R_co],
        BindableN[A_co, E_co, R_co],
        AltableN[A_co, E_co, R_co],
        LashableN[A_co, E_co, R_co],
        Generic[Itself_co, A_co, E_co, R_co],
    ):
        """The definition for mypy."""


class Container(Generic[Itself_co, A_co, E_co, R_co]):  # type: ignore[no-redef]  # the definition at run time
    """The base of ``Effect``; ``Itself`` is ``Effect``, which is not defined yet."""

    __slots__ = ()


class Difference(Protocol[Whole_co, Rest_co]):
    """A ``Whole`` with ``Rest`` as one of its type parameters: the members that remain."""

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


class Runs(Protocol[A_co, E_co, R_co]):
    """Work that runs with services; ``Effect`` is the only implementation."""

    async def run_in(self, context: Context[R_co], /) -> Outcome[A_co, E_co]:
        """Run with the services of *context*."""
        ...
