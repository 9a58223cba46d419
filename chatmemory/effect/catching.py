"""Recovering from one class of errors, so that the type checker takes it out of the union.

A class and not a function, because only a type variable that is already fixed can be subtracted: in
``catch(NotFound, handler)(effect)`` the first call fixes ``NotFound``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast, final

from chatmemory.effect.checks import no_effect, no_function
from chatmemory.effect.effect import Effect
from chatmemory.effect.for_type_checkers import Difference

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")
E2 = TypeVar("E2")
E3 = TypeVar("E3")
R = TypeVar("R")
R2 = TypeVar("R2")


@final
class catch(Generic[E3, B, E2, R2]):  # noqa: N801  read as a verb: effect.pipe(catch(NotFound, handler))
    """``catch(NotFound, handler)(effect)``, or ``effect.pipe(catch(NotFound, handler))``."""

    __slots__ = ("_error", "_handler")

    def __init__(self, error: type[E3], handler: Callable[[E3], Effect[B, E2, R2]]) -> None:
        _check(error, handler)
        self._error = error
        self._handler = handler

    def __call__(self, effect: Difference[Effect[A, E | E3, R], E]) -> Effect[A | B, E | E2, R | R2]:
        """Return *effect* with the handler in place; other errors go through."""

        def recover(error: object) -> Effect[Any, Any, Any]:
            if not isinstance(error, self._error):
                return Effect.fail(error)
            effect = self._handler(error)
            if not isinstance(cast("object", effect), Effect):
                raise no_effect(effect, made_by=self._handler)
            return effect

        if not isinstance(effect, Effect):
            raise no_effect(effect)
        return cast("Effect[A, E | E3, R]", effect).lash(recover)


def _check(error: Any, handler: object) -> None:
    try:
        isinstance(None, error)  # a class, or a union such as ReadError
    except TypeError:
        kind = error if isinstance(error, str) else type(error).__name__
        msg = f"catch takes the class of an error, not {error!r}: write catch({kind}, handler)"
        raise TypeError(msg) from None
    if hasattr(handler, "run_in") or not callable(handler):
        raise no_function(handler, where="the handler of catch", example="lambda error: ...")
