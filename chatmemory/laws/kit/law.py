"""``law``: a test of a named statement; ``LawBrokenError``: names the broken law, the actual and the expected result."""

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol, TypeVar

import anyio

EventLoop = Literal["asyncio", "trio"]


class LawBrokenError(AssertionError):
    """A repository does not obey a law.

    Attributes:
        finding: the actual result, and the expected one.
        law: name and statement, ``L4 clear: ...``.
    """

    def __init__(self, finding: str, *, law: str = "") -> None:
        super().__init__(finding)
        self.finding = finding
        self.law = law

    def __str__(self) -> str:
        return f"{self.law}\n{self.finding}" if self.law else self.finding


def expect(actual: object, expected: object, what: str, *, law: str = "") -> None:
    """Break the law unless *actual* equals *expected*; *what* describes the compared value."""
    if actual != expected:
        raise LawBrokenError(f"{what}\n  is:        {actual!r}\n  should be: {expected!r}", law=law)


def expect_one_of(actual: object, expected: tuple[object, ...], what: str) -> None:
    """Break the law unless *actual* is one of several values; *what* describes the compared value."""
    if actual not in expected:
        raise LawBrokenError(f"{what}\n  is:               {actual!r}\n  should be one of: {expected!r}")


class HasEventLoop(Protocol):
    """A class of tests that runs its cases on asyncio or on trio."""

    event_loop: EventLoop


Laws = TypeVar("Laws", bound=HasEventLoop)


def law(case: Callable[[Laws], Awaitable[None]]) -> Callable[[Laws], None]:
    """Make a test of an asynchronous *case*, whose docstring is the law; plain pytest runs it without plugins."""

    def test(self: Laws) -> None:
        try:
            anyio.run(case, self, backend=self.event_loop)
        except LawBrokenError as broken:
            broken.law = broken.law or statement
            raise

    statement = " ".join((case.__doc__ or "").split())
    test.__name__, test.__qualname__, test.__doc__ = case.__name__, case.__qualname__, case.__doc__
    return test
