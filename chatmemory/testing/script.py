"""``Script``: the results of one method of a fake, in the order of its calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, final

from chatmemory.testing.step import Step, as_step


class ScriptUsedUpError(AssertionError):
    """A method was called more often than its script has steps."""


@final
class Script:
    """Gives the next step to each call of the method *name*.

    Args:
        name: the name of the method in error texts, such as ``SkillRunner.run``.
        given: a list of steps, outcomes or values, one for each call; or a function of the arguments that returns one.
        then: the step of every call after the end of the list; None: such a call is an error.

    Raises:
        TypeError: *given* is neither, or contains an error instead of a ``Failure`` of it.
    """

    def __init__(self, name: str, given: object, *, then: Step | None = None) -> None:
        self._name = name
        self._then = then
        self._taken = 0
        self._function: Callable[..., object] | None = None
        self._steps: Sequence[Step] = ()
        if isinstance(given, list | tuple):
            self._steps = [as_step(step) for step in cast("Sequence[object]", given)]
            if any(step.repeats for step in self._steps[:-1]):
                raise TypeError(f"the script of {name} goes on after forever(...): put it last")
        elif callable(given):
            self._function = given
        else:
            method = name.rpartition(".")[2]
            msg = f"the script of {name} is a list, one step for each call, or a function of the arguments"
            raise TypeError(f"{msg}: {method}=[{given!r}], or {method}=[forever({given!r})]")

    def next(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> Step:
        """Return the step of the next call.

        Args:
            arguments: the positional arguments of the call.
            named: the keyword arguments of the call.

        Returns:
            the step.

        Raises:
            ScriptUsedUpError: no step is left.
        """
        if self._function is not None:
            return as_step(self._function(*arguments, **named))
        self._taken += 1
        if self._taken <= len(self._steps):
            return self._steps[self._taken - 1]
        if self._steps and self._steps[-1].repeats:
            return self._steps[-1]
        if self._then is not None:
            return self._then
        msg = f"the script of {self._name} is used up: it has {len(self._steps)} steps, and this is call {self._taken}"
        raise ScriptUsedUpError(f"{msg}; add a step, or end it with forever(...)")
