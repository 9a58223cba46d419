"""``law``: a test of a named statement; ``LawBrokenError``: names the broken law, the actual and the expected result.

``Asker`` asks on behalf of a law, and checks that the contract allows each answer.  ``RepositoryUnderTest`` is the base
class of laws for a repository, ``UnderTest`` has their settings.  ``race`` runs many functions at once, ``Cancellation``
cancels one.  ``Host`` runs a repository on an event loop in a separate thread, for a state machine, which is not
asynchronous.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, ClassVar, Final, Generic, Literal, Protocol, Self, TypeAlias, TypeVar, final

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from anyio.lowlevel import checkpoint
from attrs import field, frozen

from chatmemory.effect import Effect, Failure, Layer, ManagedRuntime, Outcome, Success
from chatmemory.effect.services.ids import TimeOrderedIds
from chatmemory.errors import RepositoryError

T = TypeVar("T")
W = TypeVar("W")
A = TypeVar("A")
E = TypeVar("E")

EventLoop = Literal["asyncio", "trio"]
Runner: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

K = TypeVar("K", bound="Asker")
Kept: TypeAlias = Callable[[K], Awaitable[bool]]
"""Whether a witness finds what was written."""

MOMENTS: Final = 20  # the number of points at which a cancellation can happen
NO_STRANGERS: Final = "L20 errors: the contract names every failure; no exception escapes, and no call hangs"
# A fifth of a fast commit: some rounds cancel before it, some during it, some after it.
TURN_SECONDS: Final = 0.0002

_ids = TimeOrderedIds()


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


def expect(actual: object, expected: object, what: str, *, law: str = "") -> None:
    """Break the law unless *actual* equals *expected*; *what* describes the compared value."""
    if actual != expected:
        raise LawBrokenError(f"{what}\n  is:        {actual!r}\n  should be: {expected!r}", law=law)


def expect_one_of(actual: object, expected: tuple[object, ...], what: str) -> None:
    """Break the law unless *actual* is one of several values; *what* describes the compared value."""
    if actual not in expected:
        raise LawBrokenError(f"{what}\n  is:               {actual!r}\n  should be one of: {expected!r}")


def new_space() -> str:
    """Return a unique prefix for names."""
    return f"law {_ids.next_id()} "


@frozen
class Asker:
    """Asks something under test, about data that no other law uses.

    Attributes:
        ERRORS: the failures that the contract names.
        space: the prefix of the names, so that a law can run on a store with other data.
        patience_seconds: the time limit of an answer.
    """

    ERRORS: ClassVar[tuple[type, ...]]
    space: str = field(factory=new_space, kw_only=True)
    patience_seconds: float = field(default=20.0, kw_only=True)

    def named(self, name: str) -> str:
        """Return an id in this space."""
        return self.space + name

    async def ask(self, effect: Effect[A, E]) -> Outcome[A, E]:
        """Return the outcome of *effect*."""
        with anyio.move_on_after(self.patience_seconds):
            try:
                outcome = await effect
            except Exception as stranger:
                raise LawBrokenError(f"{stranger!r} escaped", law=NO_STRANGERS) from stranger
            if not (isinstance(outcome, Success) or isinstance(outcome.failure(), self.ERRORS)):
                raise LawBrokenError(f"unknown failure {outcome.failure()!r}", law=NO_STRANGERS)
            return outcome
        raise LawBrokenError(f"no answer within {self.patience_seconds} seconds", law=NO_STRANGERS)

    async def get(self, effect: Effect[A, E]) -> A:
        """Return the value of *effect*; a failure breaks the law."""
        outcome = await self.ask(effect)
        if isinstance(outcome, Success):
            return outcome.unwrap()
        raise LawBrokenError(f"failed for no reason: {outcome.failure()}")

    async def refusal(self, effect: Effect[object, object]) -> type | None:
        """Return the class of the failure of *effect*; None: it did not fail."""
        outcome = await self.ask(effect)
        return type(outcome.failure()) if isinstance(outcome, Failure) else None


@final
@frozen
class Cancellation:
    """Cancels after some turns of the event loop, or, for odd counts, after as many units of real time.

    Attributes:
        by_asyncio: by ``Task.cancel``, twice in a row, which a task can swallow; otherwise by a cancel scope of
            anyio, which cancels again at every wait until the task ends.
    """

    after: int
    by_asyncio: bool

    async def of(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Start *work*, cancel it, and return when it has ended."""

        async def begin() -> None:
            # Made here: a task that is cancelled before it starts then leaves no unawaited coroutine.
            await work()

        if self.by_asyncio:
            task = asyncio.create_task(begin())
            await self._moment()
            task.cancel()
            await checkpoint()
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled():
                task.result()
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(begin)
            await self._moment()
            tasks.cancel_scope.cancel()

    async def _moment(self) -> None:
        if self.after % 2:
            await anyio.sleep(self.after * TURN_SECONDS)
            return
        for _ in range(self.after):
            await checkpoint()


async def race(runners: Sequence[Runner], meanwhile: Runner | None = None) -> None:
    """Run all *runners* at once, and *meanwhile* until they are done; the first broken law is raised by itself."""
    broken: list[AssertionError] = []

    async def run(runner: Runner) -> None:
        try:
            await runner()
        except AssertionError as error:
            broken.append(error)

    async with anyio.create_task_group() as others:
        if meanwhile is not None:
            others.start_soon(run, meanwhile)
        async with anyio.create_task_group() as racing:
            for runner in runners:
                racing.start_soon(run, runner)
        others.cancel_scope.cancel()
    if broken:
        raise broken[0]


@final
class Host(AbstractContextManager["Host[W]"], Generic[W]):
    """Keeps a repository open; *witness* asks it, and is a new one after every ``reopen``."""

    def __init__(
        self, open_witness: Callable[[], AbstractAsyncContextManager[W]], *, event_loop: EventLoop
    ) -> None:
        self._open_witness = open_witness
        self._event_loop = event_loop
        self._running = ExitStack()
        self._opened = ExitStack()
        self._portal: BlockingPortal
        self.witness: W

    def __enter__(self) -> Self:
        self._portal = self._running.enter_context(start_blocking_portal(self._event_loop))
        self._running.push(self._opened)
        self.reopen()
        return self

    def reopen(self) -> None:
        """Close the repository if it is open, and open it (again)."""
        self._opened.close()
        opening = self._portal.wrap_async_context_manager(self._open_witness())
        self.witness = self._opened.enter_context(opening)

    def ask(self, question: Callable[[W], Awaitable[T]]) -> T:
        """Await *question*, called with the witness, on the event loop."""
        return self._portal.call(question, self.witness)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._running.__exit__(kind, error, trace)


class UnderTest:
    """The settings, which a subclass sets on the class or in a fixture.

    Attributes:
        is_durable: whether the stored data survives a release.  Otherwise the laws about that are skipped.
        keeps_log: whether the repository has a ``log`` of events.  Otherwise the laws about events are skipped.
        event_loop: the event loop of the cases.
        examples: the number of sequences that the equivalence law tries.
        steps: the number of operations in each of them.
        shrinks: whether a failing sequence is made as short as possible, which may take a minute.
        rounds: the number of cancellations in each law of cancellation.
        patience_seconds: the time limit of an answer, after which the repository counts as hanging.
    """

    is_durable: bool = True
    keeps_log: bool = True
    event_loop: EventLoop = "asyncio"
    examples: int = 60
    steps: int = 20
    shrinks: bool = True
    rounds: int = 100
    patience_seconds: float = 20.0

    def cancellation(self, round_: int) -> Cancellation:
        """Return the cancellation of a round: its time varies, and on asyncio every other group of rounds uses ``Task.cancel``."""
        groups, after = divmod(round_, MOMENTS)
        return Cancellation(after, by_asyncio=self.event_loop == "asyncio" and groups % 2 == 1)


class RepositoryUnderTest(UnderTest, Generic[K]):
    """A repository under test, and its witness.

    Attributes:
        repository: a layer without requirements; it is built and released again in every case.
    """

    repository: Layer[Any, Any, Any]

    async def witness(self, runtime: ManagedRuntime[Any], **witness: Any) -> K:
        """Return a witness for the repository that *runtime* has built."""
        raise NotImplementedError

    @asynccontextmanager
    async def open(self, **witness: Any) -> AsyncGenerator[K]:
        """Build the repository for a witness with its own space, and release it at the end."""
        async with ManagedRuntime(self.repository) as runtime:
            yield await self.witness(runtime, patience_seconds=self.patience_seconds, **witness)

    def expect_durability(self) -> None:
        """Skip the law unless the repository promises that data survives a release."""
        if not self.is_durable:
            pytest.skip("is_durable is False: nothing is promised to outlive a release")

    async def expect_no_pretence(
        self, released: K, write: Effect[object, object], read: Effect[object, object], written: Kept[K]
    ) -> None:
        """Break the law unless *write* and *read* of a *released* witness fail with a typed error, or really happen.

        *written* returns, for the witness that it gets, what is kept of the write.
        """
        outcomes = await released.ask(write), await released.ask(read)
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                expect(type(outcome.failure()), RepositoryError, "the failure")
                expect(bool(str(outcome.failure())), True, "it says something to the reader")
        if isinstance(outcomes[0], Failure):
            return
        if self.is_durable:
            async with self.open(space=released.space) as later:
                is_kept = await written(later)
        else:
            is_kept = await written(released)
        expect(is_kept, True, "it is kept after the write was acknowledged")
