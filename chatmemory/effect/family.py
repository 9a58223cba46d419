"""``Family``: the fibers that an effect has forked, which end with it.

``Effect.run_supervised`` runs an effect with a family of its own; the fibers themselves are defined in ``fibers/forked.py``.
"""

from __future__ import annotations

from typing import Protocol, final

from attrs import define

__all__ = ["Family", "Member"]


class Member(Protocol):
    """A fiber, as its family sees it."""

    def cancel(self) -> None:
        """Cancel it without waiting for its end."""
        ...

    async def settle(self) -> None:
        """Cancel it, wait for its finalizers, and log its defect if no caller has seen it."""
        ...


@final
@define(eq=False)
class Family:
    """The members that have not ended yet, or have ended with a defect that no caller has seen.

    Most effects fork nothing, so the set is made by the first fork.
    """

    is_over: bool = False
    members: set[Member] | None = None

    def add(self, member: Member) -> None:
        """Add *member*, which then ends with this family."""
        if self.members is None:
            self.members = set()
        self.members.add(member)

    def remove(self, member: Member) -> None:
        """Remove *member*, which has ended."""
        if self.members is not None:
            self.members.discard(member)

    async def end(self) -> None:
        """Cancel all members at once, and wait until each has ended."""
        members = tuple(self.members or ())
        for member in members:
            member.cancel()
        interruption: BaseException | None = None
        for member in members:
            try:
                await member.settle()
            except BaseException as exception:  # noqa: BLE001  asyncio's native cancel: the others are waited for
                interruption = exception
        if interruption is not None:
            raise interruption
