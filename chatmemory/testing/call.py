"""``Call``: one call of a service, as a ``Spy`` or a ``Stub`` records it; ``Calls``: a list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias, final

from attrs import define

from chatmemory.effect.outcome import Die, Interrupt, Outcome

LOOK_SECONDS: Final = 0.001
Ending: TypeAlias = Outcome[Any, Any] | Die | Interrupt


@final
@define
class Call:
    """One recorded run of one method.

    Attributes:
        service: the name of the contract, for example ``MessageRepository``.
        method: the name of the method, for example ``append``.
        arguments: the given arguments by name; omitted arguments are not included.
        outcome: ``Success`` with the value, ``Failure`` with the error, ``Die`` with the exception, or ``Interrupt``; None
            while the call is running.
    """

    service: str
    method: str
    arguments: Mapping[str, Any]
    outcome: Ending | None = None


@final
class Calls(list[Call]):
    """Calls in the order in which they began; several parts may record in one list."""

    @property
    def methods(self) -> list[str]:
        """The names of the called methods, in order."""
        return [call.method for call in self]

    async def called(self, times: int = 1, *, seconds: float = 10.0) -> None:
        """Wait until *times* calls have begun.

        Args:
            times: the number of calls, those before included.
            seconds: the real time that they have, whatever clock the test uses.

        Raises:
            TimeoutError: fewer calls have begun by then.
        """
        import anyio

        with anyio.move_on_after(seconds):
            while len(self) < times:  # noqa: ASYNC110  a call may begin in any thread
                await anyio.sleep(LOOK_SECONDS)
            return
        begun = ", ".join(self.methods) or "none"
        raise TimeoutError(f"{len(self)} calls have begun instead of {times}: {begun}")

    def of(self, method: str) -> list[Call]:
        """Return the calls of *method*."""
        return [call for call in self if call.method == method]
