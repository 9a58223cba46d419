"""``Container``: what an effect is to the pointfree functions of ``returns``: ``map_``, ``bind``, ``alt`` and ``lash``.

They take whatever has the method; their types need one of their own base classes, and the plugin of mypy that comes
with ``returns``.  No other checker can follow them, and at run time nobody asks: so mypy alone is shown the bases.
"""

# For the definition that is mypy's alone:
# pyright: reportInvalidTypeArguments=false, reportRedeclaration=false

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from typing_extensions import TypeVar

__all__ = ["Container"]

Itself_co = TypeVar("Itself_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)

# Of two definitions mypy takes the first, and every other checker the last.
if TYPE_CHECKING:
    from returns.interfaces.altable import AltableN
    from returns.interfaces.bindable import BindableN
    from returns.interfaces.lashable import LashableN
    from returns.interfaces.mappable import MappableN
    from returns.primitives.hkt import SupportsKindN

    class Container(  # type: ignore[type-var]  # theirs are invariant, but only ever return what they are given
        SupportsKindN[Itself_co, A_co, E_co, R_co],
        MappableN[A_co, E_co, R_co],
        BindableN[A_co, E_co, R_co],
        AltableN[A_co, E_co, R_co],
        LashableN[A_co, E_co, R_co],
        Generic[Itself_co, A_co, E_co, R_co],
    ):
        """What mypy sees."""


class Container(Generic[Itself_co, A_co, E_co, R_co]):  # type: ignore[no-redef]  # what runs
    """The base of ``Effect``; ``Itself`` is ``Effect``, which is not defined yet."""

    __slots__ = ()
