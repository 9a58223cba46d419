"""``Container``: makes an effect acceptable to ``map_``, ``bind``, ``alt`` and ``lash`` of ``returns``, for mypy.

At run time these functions accept every object that has the method; their types require a base class of ``returns``
and the mypy plugin that comes with ``returns``.  Other type checkers do not understand these bases, and they are not
needed at run time, so only mypy sees them.
"""

# For the definition that only mypy sees:
# pyright: reportInvalidTypeArguments=false, reportRedeclaration=false

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from typing_extensions import TypeVar

__all__ = ["Container"]

Itself_co = TypeVar("Itself_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)

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
