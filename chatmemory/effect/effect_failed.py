"""``EffectFailed``: the exception that carries a typed failure, caught by the class of its error."""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Any, Final, Generic, Never, Union, get_args, get_origin

from returns import result
from returns.primitives.exceptions import UnwrapFailedError
from typing_extensions import TypeVar

__all__ = ["EffectFailed"]

E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True, default=object)


class EffectFailed(UnwrapFailedError, Generic[E_co]):  # noqa: N818  reads as what happened
    """Raised when a caller asks for the value of an effect that has failed; ``error`` is the typed failure.

    Errors are values, so ``except ConversationNotFoundError`` is a ``TypeError`` of Python.  Write
    ``except EffectFailed[ConversationNotFoundError] as failed``: it catches that class of errors, its subclasses, or
    the members of a union such as ``ReadError``.  When there are several such clauses, pyright treats all of them as
    one class; then write ``except EffectFailed.of(ConversationNotFoundError) as failed``, which does the same.  The
    exception that the error keeps as its cause is ``__cause__``.
    """

    if TYPE_CHECKING:

        def __init__(self, error: E_co) -> None:
            """Carry *error*."""
            self.error = error

    else:

        def __new__(cls, error):
            """Return an instance of the subclass that belongs to the class of *error*."""
            return super().__new__(_class_of(type(error)) if cls is EffectFailed else cls, error)

        def __init__(self, error):
            """Carry *error*."""
            Exception.__init__(self, error)
            self.error = error
            self.halted_container = result.Failure(error)  # noqa: TID251  the do-notation of returns ends with this failure
            cause = error if isinstance(error, BaseException) else getattr(error, "cause", None)
            if isinstance(cause, BaseException):
                self.__cause__ = cause

        def __class_getitem__(cls, kind):
            """Return the subclass, or the tuple of subclasses, that ``except`` takes for *kind*."""
            if get_origin(kind) in {Union, UnionType}:
                return tuple(EffectFailed[member] for member in get_args(kind))
            kind = get_origin(kind) or kind
            if kind in {Any, Never, object} or isinstance(kind, TypeVar):
                return cls
            if not isinstance(kind, type):
                msg = (
                    f"EffectFailed[...] takes the class of an error and not {kind!r}: "
                    "write except EffectFailed[ConversationNotFoundError] as failed"
                )
                raise TypeError(msg)
            return _class_of(kind)

    @staticmethod
    def of(kind: type[E]) -> type[EffectFailed[E]]:
        """Return the class to write after ``except`` for errors of *kind*."""
        return _class_of(kind)

    def __reduce__(self) -> Any:
        kind = type(self)
        return EffectFailed if kind is _CLASSES.get(type(self.error)) else kind, (self.error,)


def _class_of(kind: type) -> type[EffectFailed[Any]]:
    """Return the subclass for errors of *kind*; it follows the base classes of *kind*, and is made once."""
    if kind is object:
        return EffectFailed
    if (known := _CLASSES.get(kind)) is None:
        bases = tuple(_class_of(base) for base in kind.__bases__ if base is not Generic) or (EffectFailed,)
        members = {"__module__": EffectFailed.__module__, "__doc__": EffectFailed.__doc__}
        known = _CLASSES[kind] = type(f"EffectFailed[{kind.__qualname__}]", bases, members)
    return known


_CLASSES: Final[dict[type, type[EffectFailed[Any]]]] = {}
