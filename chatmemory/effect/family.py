"""``Family``: the fibers that an effect has forked, which end with it.

Who runs an effect with a family of its own is defined in ``supervised.py``, the fibers themselves in ``fibers/forked.py``.
"""

from __future__ import annotations

from typing import Protocol, final

__all__ = ["Family", "Member"]


class Member(Protocol):
    """A fiber, as its family knows it."""

    def cancel(self) -> None:
        """Ask it to end; do not wait."""
        ...

    async def settle(self) -> None:
        """Cancel it, wait for its finalizers whatever happens, and log a defect that nobody has looked at."""
        ...


@final
class Family:
    """The members that have not ended yet, or have ended with a defect that nobody has looked at.

    Most effects fork nothing, so the set is made by the first fork.
    """

    __slots__ = ("is_over", "members")

    def __init__(self) -> None:
        self.is_over = False
        self.members: set[Member] | None = None

    def add(self, member: Member) -> None:
        """Let *member* end with this family."""
        if self.members is None:
            self.members = set()
        self.members.add(member)

    def remove(self, member: Member) -> None:
        """Forget *member*, which has ended."""
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
