"""``Effect``: a description of work that may fail and may need services, run when it is awaited.

``outcome.py`` defines how an effect ends, ``do.py`` do-notation, ``context.py`` and ``tag.py`` services,
``combinators.py`` what the methods run.
"""

# ruff: noqa: SLF001  run_in walks a chain of effects; it reads their slots and those of the outcomes

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from functools import wraps
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    Never,
    ParamSpec,
    Self,
    cast,
    final,
    overload,
)

from typing_extensions import TypeVar

from chatmemory.effect import combinators
from chatmemory.effect.checks import (
    ATTEMPT,
    NO_CALL,
    NO_TRUTH,
    no_context,
    no_effect,
    no_function,
    no_schedule,
    require_awaitable,
    require_concurrency,
    require_coroutine,
    require_exceptions,
    require_function,
    require_plain,
    require_seconds,
    shown,
)
from chatmemory.effect.context import Context
from chatmemory.effect.do import Do, place_of_do, run_do
from chatmemory.effect.for_type_checkers import Container, Difference, Subtractable
from chatmemory.effect.key import TagOf
from chatmemory.effect.outcome import (
    Exit,
    Failure,
    Outcome,
    Success,
    as_outcome,
    exception_of,
)
from chatmemory.effect.suspended import run_without_waiting

if TYPE_CHECKING:
    from returns.result import Result

    from chatmemory.effect.services.schedule import Schedule
    from chatmemory.effect.services.tracer import Attributes

A = TypeVar("A")
A1 = TypeVar("A1")
A2 = TypeVar("A2")
A3 = TypeVar("A3")
B = TypeVar("B")
E = TypeVar("E")
E2 = TypeVar("E2")
R = TypeVar("R")
R2 = TypeVar("R2")
S = TypeVar("S")
X = TypeVar("X", bound=Exception)
P = ParamSpec("P")
A_co = TypeVar("A_co", covariant=True)
E_co = TypeVar("E_co", covariant=True, default=Never)
R_co = TypeVar("R_co", covariant=True, default=Never)

# The kinds of effects that produce an outcome ...
_VALUE: Final = 0
_OUTCOME: Final = 1
_CALL: Final = 2
_AWAIT: Final = 3
_AWAIT_IN_CONTEXT: Final = 4
# ... and the kinds that change the outcome of the effect before them.
_MAP: Final = 5
_BIND: Final = 6
_ALT: Final = 7
_LASH: Final = 8

_OURS: Final = (Success, Failure)


@final
class Effect(Container["Effect[Any, Any, Any]", A_co, E_co, R_co], Subtractable, Generic[A_co, E_co, R_co]):
    """Work that succeeds with ``A``, fails with ``E``, and needs the services ``R``.

    An effect is a value: creating it runs nothing, awaiting it runs it, and awaiting it again runs it again.
    A failure that the type names is a value in the outcome.  Any other exception is a defect: every method here lets it
    through except ``exit``.  All of them let cancellation through.
    """

    __slots__ = ("_function", "_kind", "_source")

    def __init__(self, source: Effect[Any, Any, Any] | None, kind: int, function: Any) -> None:
        """Build a link of the chain that ``run_in`` walks; callers use the constructors below."""
        self._source = source
        self._kind = kind
        self._function = function

    def __repr__(self) -> str:
        return "<Effect: runs when it is awaited; where a coroutine is wanted, give effect.run()>"

    if not TYPE_CHECKING:  # `start_soon(effect)` and `anyio.run(effect)` call this

        def __call__(self, *_: object, **__: object) -> Never:
            """Raise ``TypeError`` with what to write instead."""
            raise TypeError(NO_CALL)

        def __bool__(self) -> Never:
            """Raise ``TypeError``: the truth value of an effect is unknown before it is awaited."""
            raise TypeError(NO_TRUTH)

    # --- constructors ---

    @staticmethod
    def succeed(value: A) -> Effect[A]:
        """Return an effect that succeeds with *value*."""
        return Effect(None, _VALUE, value)

    @staticmethod
    def fail(error: E) -> Effect[Never, E]:
        """Return an effect that fails with *error*."""
        return Effect(None, _OUTCOME, Failure(error))

    @staticmethod
    def sync(function: Callable[[], A]) -> Effect[A]:
        """Return an effect that calls *function* and succeeds with the result; an exception is a defect."""
        require_plain(function, "Effect.sync", instead="Effect.promise(function)")
        return Effect(None, _CALL, lambda: Success(function()))

    @staticmethod
    def promise(function: Callable[[], Awaitable[A]]) -> Effect[A]:
        """Return an effect that awaits *function* and succeeds with the result; an exception is a defect."""
        require_function(function, "Effect.promise", "Effect.promise(lambda: ask(question))")

        async def run() -> Outcome[A, Never]:
            made = function()
            require_awaitable(made, function, "Effect.sync(function)")
            return Success(await made)

        return Effect(None, _AWAIT, run)

    @staticmethod
    def attempt(
        function: Callable[[], Awaitable[A]], *exceptions: type[X], to: Callable[[X], E]
    ) -> Effect[A, E]:
        """Return an effect that awaits *function* and succeeds with the result.

        Args:
            function: the work.
            exceptions: the exception classes that become failures; any other exception is a defect.
            to: makes the error from the exception.
        """
        require_function(function, "Effect.attempt", ATTEMPT)
        require_exceptions(exceptions, "attempt")

        async def run() -> Outcome[A, E]:
            try:
                made = function()
                require_awaitable(made, function, "Effect.attempt_sync(function, OSError, to=...)")
                return Success(await made)
            except exceptions as exception:
                return Failure(to(exception))

        return Effect(None, _AWAIT, run)

    @staticmethod
    def attempt_sync(function: Callable[[], A], *exceptions: type[X], to: Callable[[X], E]) -> Effect[A, E]:
        """Return an effect that calls *function* and succeeds with the result; see ``attempt``."""
        require_plain(function, "Effect.attempt_sync", instead="Effect.attempt(function, OSError, to=...)")
        require_exceptions(exceptions, "attempt_sync")

        def call() -> Outcome[A, E]:
            try:
                return Success(function())
            except exceptions as exception:
                return Failure(to(exception))

        return Effect(None, _CALL, call)

    @staticmethod
    def from_outcome(function: Callable[[], Awaitable[Outcome[A, E]]]) -> Effect[A, E]:
        """Return an effect whose outcome *function* returns; the fastest constructor, because nothing wraps its coroutine."""
        return Effect(None, _AWAIT, function)

    @staticmethod
    def coroutine(function: Callable[P, Coroutine[Any, Any, Outcome[A, E]]]) -> Callable[P, Effect[A, E]]:
        """Make a function that returns effects from a coroutine function or method that returns outcomes.

        It is as fast as ``from_outcome``.  ``gen`` offers more: its ``do`` unwraps the outcome of each step and
        provides services.

        >>> @Effect.coroutine
        ... async def half(number: int) -> Outcome[int, str]:
        ...     return Failure("odd") if number % 2 else Success(number // 2)
        >>> half(8).run_sync().unwrap()
        4

        Raises:
            TypeError: *function* is not a coroutine function.
        """
        require_coroutine(function, "Effect.coroutine")

        @wraps(function)
        def make(*args: P.args, **kwargs: P.kwargs) -> Effect[A, E]:
            return Effect(None, _AWAIT, lambda: function(*args, **kwargs))

        return make

    @staticmethod
    def from_result(result: Result[A, E]) -> Effect[A, E]:
        """Return an effect that succeeds or fails as *result* does."""
        return Effect(None, _OUTCOME, as_outcome(result))

    @staticmethod
    def in_context(function: Callable[[Context[R]], Awaitable[Outcome[A, E]]]) -> Effect[A, E, R]:
        """Return an effect whose outcome *function* returns; *function* receives the provided services."""
        return Effect(None, _AWAIT_IN_CONTEXT, function)

    @staticmethod
    def service(tag: TagOf[R, S]) -> Effect[S, Never, R]:
        """Return an effect that succeeds with the service of *tag*."""

        async def look_up(context: Context[R]) -> Outcome[S, Never]:
            return Success(context.get(tag))

        return Effect.in_context(look_up)

    @overload
    @staticmethod
    def gen(
        function: Callable[Concatenate[Do[E, R], P], Coroutine[Any, Any, A]],
    ) -> Callable[P, Effect[A, E, R]]: ...
    @overload
    @staticmethod
    def gen(
        function: Callable[Concatenate[S, Do[E, R], P], Coroutine[Any, Any, A]],
    ) -> Callable[Concatenate[S, P], Effect[A, E, R]]: ...
    @staticmethod
    def gen(function: Callable[..., Awaitable[Any]]) -> Callable[..., Effect[Any, Any, Any]]:
        """Make a function that returns effects from a coroutine function ``(do, ...)`` or a method ``(self, do, ...)``.

        See ``Do``.  The parameters must have these names (``cls`` in a class method, ``_`` for a ``do`` that is not used).

        Raises:
            TypeError: *function* is not such a function; the message shows what to write.
        """
        place = place_of_do(function)

        @wraps(function)
        def make(*args: Any, **kwargs: Any) -> Effect[Any, Any, Any]:
            def run(context: Context[Any]) -> Awaitable[Outcome[Any, Any]]:
                return run_do(function, args[:place], args[place:], kwargs, context)

            return Effect(None, _AWAIT_IN_CONTEXT, run)

        return make

    # Difference lets mypy join the errors and the services of all effects to a union; see for_type_checkers.py.
    @overload
    @staticmethod
    def all(  # type: ignore[overload-overlap]  # a tuple is iterable, too
        effects: tuple[Difference[Effect[A1, E, R], E], Difference[Effect[A2, E, R], R]],
        *,
        concurrency: int | None = 1,
    ) -> Effect[tuple[A1, A2], E, R]: ...
    @overload
    @staticmethod
    def all(  # type: ignore[overload-overlap]  # a tuple is iterable, too
        effects: tuple[Difference[Effect[A1, E, R], E], Difference[Effect[A2, E, R], R], Effect[A3, E, R]],
        *,
        concurrency: int | None = 1,
    ) -> Effect[tuple[A1, A2, A3], E, R]: ...
    @overload
    @staticmethod
    def all(  # type: ignore[overload-overlap]  # a tuple is iterable, too
        effects: tuple[Effect[A, E, R], ...], *, concurrency: int | None = 1
    ) -> Effect[tuple[A, ...], E, R]: ...
    @overload
    @staticmethod
    def all(effects: Iterable[Effect[A, E, R]], *, concurrency: int | None = 1) -> Effect[list[A], E, R]: ...
    @staticmethod
    def all(effects: Iterable[Any], *, concurrency: int | None = 1) -> Effect[Any, Any, Any]:
        """Run *effects* and succeed with their values in order: a tuple for a tuple of effects, otherwise a list.

        The first failure or defect cancels the effects that are running, waits for their finalizers, and is the outcome.

        Args:
            effects: what to run.
            concurrency: how many effects may run at once; ``None``: all.

        Raises:
            TypeError: *effects* is not an iterable of effects.
            ValueError: *concurrency* is less than 1.
        """
        steps = _steps(effects, "Effect.all")
        if concurrency is not None:
            require_concurrency(concurrency)
        values: Effect[Any, Any, Any] = Effect.in_context(
            lambda context: combinators.run_all(steps, concurrency, context)
        )
        return values.map(tuple) if isinstance(effects, tuple) else values

    @staticmethod
    def sleep(seconds: float) -> Effect[None]:
        """Return an effect that succeeds after *seconds* of the provided ``Clock``."""
        require_seconds(seconds)
        return Effect.in_context(lambda context: combinators.sleep_for(seconds, context))

    @staticmethod
    def never() -> Effect[Never]:
        """Return an effect that waits until it is interrupted."""
        return Effect(None, _AWAIT, combinators.wait_forever)

    # --- continuing from an effect ---

    def map(self, function: Callable[[A_co], B]) -> Effect[B, E_co, R_co]:
        """Replace the value by the result of *function*."""
        if not callable(function):
            raise no_function(function, where="effect.map", example="lambda value: ...")
        return Effect(self, _MAP, function)

    def bind(  # type: ignore[override]  # `bind` of returns cannot join errors and services
        self, function: Callable[[A_co], Effect[B, E2, R2]]
    ) -> Effect[B, E_co | E2, R_co | R2]:
        """Continue with the effect that *function* makes from the value."""
        if not callable(function):
            raise no_function(function, where="effect.bind", example="lambda value: effect")
        return Effect(self, _BIND, function)

    def alt(self, function: Callable[[E_co], E2]) -> Effect[A_co, E2, R_co]:
        """Replace the error by the result of *function*."""
        if not callable(function):
            raise no_function(function, where="effect.alt", example="lambda error: ...")
        return Effect(self, _ALT, function)

    def lash(  # type: ignore[override]  # `lash` of returns cannot join values and services
        self, function: Callable[[E_co], Effect[B, E2, R2]]
    ) -> Effect[A_co | B, E2, R_co | R2]:
        """Recover from a failure with the effect that *function* makes from the error."""
        if not callable(function):
            raise no_function(function, where="effect.lash", example="lambda error: effect")
        return Effect(self, _LASH, function)

    def tap(self: Effect[A, E, R], function: Callable[[A], Effect[Any, E2, R2]]) -> Effect[A, E | E2, R | R2]:
        """Run the effect that *function* makes from the value, and keep the value."""
        require_function(function, "effect.tap", "lambda value: effect")

        return self.bind(lambda value: _made(function, value).map(lambda _: value))

    def tap_error(
        self: Effect[A, E, R], function: Callable[[E], Effect[Any, E2, R2]]
    ) -> Effect[A, E | E2, R | R2]:
        """Run the effect that *function* makes from the error, and keep the error."""
        require_function(function, "effect.tap_error", "lambda error: effect")

        return self.lash(lambda error: _made(function, error).bind(lambda _: Effect.fail(error)))

    def pipe(self, function: Callable[[Self], B]) -> B:
        """Return ``function(self)``, as in ``effect.pipe(catch(NotFound, handler))``."""
        return function(self)

    def provide(self: Effect[A, E, R], context: Context[R]) -> Effect[A, E]:
        """Provide all the services that the effect needs."""
        if type(context) is not Context:
            raise no_context(context)
        return Effect.in_context(lambda outer: self.run_in(outer.merge(context)))

    def retry(
        self: Effect[A, E, R],
        schedule: Schedule[E],
        *,
        while_: Callable[[E], bool] = lambda _: True,
    ) -> Effect[A, E, R]:
        """Run the effect again after a failure.  Defects are not retried.

        Args:
            schedule: decides how often and after which pauses.
            while_: stop at the first error for which this returns False.
        """
        if not hasattr(schedule, "start"):
            raise no_schedule(schedule, where="effect.retry")

        return Effect.in_context(lambda context: combinators.run_retried(self, schedule, while_, context))

    def timeout(self, seconds: float, on_timeout: Callable[[], E2]) -> Effect[A_co, E_co | E2, R_co]:
        """Limit how long the effect may run.  When the time is over, cancel it and wait for its finalizers.

        Args:
            seconds: the limit, in seconds of the provided ``Clock``.
            on_timeout: makes the error of the failure.
        """
        require_seconds(seconds)
        require_function(on_timeout, "on_timeout", "lambda: TooLate()")
        return Effect.in_context(lambda context: combinators.run_for(self, seconds, on_timeout, context))

    def with_span(self, name: str, attributes: Attributes | None = None) -> Effect[A_co, E_co, R_co]:
        """Report this effect to the provided ``Tracer`` as a span, with the enclosing span and how the effect ended.

        Args:
            name: what is done.
            attributes: further facts, but nothing that a user said; None: no further facts.
        """
        return Effect.in_context(
            lambda context: combinators.run_in_span(self, name, attributes or {}, context)
        )

    def exit(self) -> Effect[Exit[A_co, E_co], Never, R_co]:
        """Succeed with how the effect ended, even when it ended with a defect; cancellation passes through.

        A cancellation without a request is a defect too (``SelfCancelledError``).
        """
        return Effect.in_context(lambda context: combinators.run_to_exit(self, context))

    def on_exit(
        self: Effect[A, E, R], finalizer: Callable[[Exit[A, E]], Effect[Any, Never, R2]]
    ) -> Effect[A, E, R | R2]:
        """Run this effect, then the effect that *finalizer* makes from its exit: success, failure, defect or interruption.

        The second effect cannot be interrupted.
        """
        require_function(finalizer, "effect.on_exit", "effect.on_exit(lambda ended: ...)")
        return Effect.in_context(lambda context: combinators.run_finalized(self, finalizer, context))

    # --- running it ---

    async def run_in(self: Effect[A, E, R], context: Context[R]) -> Outcome[A, E]:  # noqa: PLR0912, PLR0915  one loop: see the docstring
        """Run with the services of *context*, in one loop, so that no chain or recursion of ``bind`` uses up the stack."""
        effect: Effect[Any, Any, Any] = self
        steps: list[Effect[Any, Any, Any]] = []
        # The plain value between two steps: a container of returns for each would take a third of the time.
        value: Any
        while True:
            while (source := effect._source) is not None:
                steps.append(effect)
                effect = source
            kind = effect._kind
            if kind == _VALUE:
                succeeded = True
                value = effect._function
            else:
                if kind == _AWAIT:
                    awaited = effect._function()
                    try:
                        outcome = await awaited
                    except TypeError:
                        require_awaitable(awaited, effect._function)
                        raise
                elif kind == _OUTCOME:
                    outcome = effect._function
                elif kind == _CALL:
                    outcome = effect._function()
                else:
                    outcome = await effect._function(context)
                if type(outcome) not in _OURS:
                    outcome = cast("Any", as_outcome(outcome))
                succeeded = type(outcome) is Success
                if not steps:
                    return cast("Outcome[A, E]", outcome)
                value = outcome._inner_value
            while steps:
                step = steps.pop()
                kind = step._kind
                if succeeded:
                    if kind == _BIND:
                        effect = step._function(value)
                        if type(effect) is not Effect:
                            require_effect(effect, step._function)
                        elif effect._kind == _VALUE:  # nothing to run: skip one iteration of the outer loop
                            value = effect._function
                            continue
                        break
                    if kind == _MAP:
                        value = step._function(value)
                elif kind == _LASH:
                    effect = step._function(value)
                    if type(effect) is not Effect:
                        require_effect(effect, step._function)
                    break
                elif kind == _ALT:
                    value = step._function(value)
            else:
                return Success(value) if succeeded else Failure(value)

    def __await__(self: Effect[A, E]) -> Generator[Any, Any, Outcome[A, E]]:
        if self._kind == _AWAIT:  # a single effect needs no loop
            return _run_leaf(self._function).__await__()
        return self.run_in(_NOTHING).__await__()

    async def or_raise(self: Effect[A, E]) -> A:
        """Run the effect and return its value.

        Raises:
            EffectFailed: the effect failed; ``error`` holds the failure.  A failure that is itself an exception is
                raised as it is.
        """
        outcome = await self
        if type(outcome) is Success:
            return outcome.unwrap()
        raise exception_of(outcome.failure())

    async def run(self: Effect[A, E]) -> Outcome[A, E]:
        """Await the effect, where a coroutine or a coroutine function is wanted: ``start_soon(effect.run)``."""
        return await self

    def run_sync(self: Effect[A, E]) -> Outcome[A, E]:
        """Run the effect without an event loop, and return its outcome.

        Raises:
            SuspendedError: the effect has to wait for something.
        """
        return run_without_waiting(self.run_in(_NOTHING))


async def _run_leaf(function: Callable[[], Awaitable[Outcome[A, E]]]) -> Outcome[A, E]:
    awaited = function()
    try:
        outcome = await awaited
    except TypeError:
        require_awaitable(awaited, function)
        raise
    return outcome if type(outcome) in _OURS else as_outcome(outcome)


def require_effect(effect: object, made_by: Callable[..., object] | None = None) -> None:
    """Raise ``TypeError`` if *effect* is not an effect, before it runs; a mock, for example, would not fail by itself.

    Args:
        effect: the value to check.
        made_by: the function that returned it, for the message; None: no function.
    """
    if not isinstance(effect, Effect):
        raise no_effect(effect, made_by=made_by)


_NOTHING: Context[Never] = Context.empty()


def _made(function: Callable[[B], Effect[A, E, R]], value: B) -> Effect[A, E, R]:
    """Return the effect that *function* makes from *value*."""
    effect = function(value)
    require_effect(effect, function)
    return effect


def _steps(effects: object, where: str) -> tuple[Effect[Any, Any, Any], ...]:
    """Return *effects* as a tuple, because an iterator could not be run twice; check that each is an effect."""
    if not isinstance(effects, Iterable):
        raise TypeError(
            f"{where} takes a tuple or list of effects, not {shown(effects)}: write {where}([...])"
        )
    steps = tuple(cast("Iterable[Effect[Any, Any, Any]]", effects))
    for step in steps:
        if type(step) is not Effect:
            require_effect(step)
    return steps
