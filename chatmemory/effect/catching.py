"""Recovering from one class of errors, so that the type checker takes it out of the union.

Classes and not functions, because only a type variable that is already fixed can be subtracted: in
``catch(NotFound, handler)(effect)`` the first call fixes ``NotFound``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast, final

from chatmemory.effect.checks.mistakes import no_effect, no_function
from chatmemory.effect.effect import Effect
from chatmemory.effect.layers.layer import Layer
from chatmemory.effect.layers.shape import Leaf
from chatmemory.effect.typing.subtraction import Difference

__all__ = ["catch", "catch_layer"]

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")
E2 = TypeVar("E2")
E3 = TypeVar("E3")
R = TypeVar("R")
R2 = TypeVar("R2")
In = TypeVar("In")
In2 = TypeVar("In2")
Out = TypeVar("Out")


@final
class catch(Generic[E3, B, E2, R2]):  # noqa: N801  read as a verb: effect.pipe(catch(NotFound, handler))
    """``catch(NotFound, handler)(effect)``, or ``effect.pipe(catch(NotFound, handler))``."""

    __slots__ = ("_error", "_handler")

    def __init__(self, error: type[E3], handler: Callable[[E3], Effect[B, E2, R2]]) -> None:
        _check(error, handler, "catch")
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


@final
class catch_layer(Generic[E3, Out, E2, In2]):  # noqa: N801  read as a verb, like catch
    """``catch_layer(NotFound, handler)(layer)``: recover with another layer."""

    __slots__ = ("_error", "_handler")

    def __init__(self, error: type[E3], handler: Callable[[E3], Layer[Out, E2, In2]]) -> None:
        _check(error, handler, "catch_layer")
        self._error = error
        self._handler = handler

    def __call__(self, layer: Difference[Layer[Out, E | E3, In], E]) -> Layer[Out, E | E2, In | In2]:
        """Return *layer* with the handler in place; other errors go through."""

        def run(error: object) -> Layer[Any, Any, Any]:
            return self._handler(error) if isinstance(error, self._error) else _failing(error)

        return cast("Layer[Out, E | E3, In]", layer).or_else(run)


def _check(error: Any, handler: object, name: str) -> None:
    try:
        isinstance(None, error)  # a class, or a union such as ReadError
    except TypeError:
        kind = error if isinstance(error, str) else type(error).__name__
        msg = f"{name} takes the class of an error, not {error!r}: write {name}({kind}, handler)"
        raise TypeError(msg) from None
    if hasattr(handler, "run_in") or not callable(handler):
        raise no_function(handler, where=f"the handler of {name}", example="lambda error: ...")


def _failing(error: object) -> Layer[Any, Any, Any]:
    return Layer(Leaf("failure", lambda _: Effect.fail(error), ()))
