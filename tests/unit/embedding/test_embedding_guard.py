"""An embedder that fails rests for half an hour (law L18), and one that hangs costs its time once."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, get_args

import anyio
import pytest
from attrs import Factory, define, evolve

from chatmemory import Embedder, EmbedderTag, LongTermMemoryService, Matrix, Namespace, NewMemory
from chatmemory.effect import Context, Effect, Failure, Layer, ManagedRuntime, Outcome, Success
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.embedding.embedding_guard import GuardedEmbedder, TimedEmbedder, guarded
from chatmemory.errors import EmbeddingError, EmbeddingProblem
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory.settings.memory_settings import MemorySettings, Settings, StoreSettings
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.patience import PATIENCE_SECONDS

HALF_AN_HOUR = 1800.0
DOWN = EmbeddingError("m", "unavailable", "HTTP 503")
TEXTS = ("我喜欢用 Python 写代码", "a text")


@define
class Scripted:
    """Answers as the test says, and counts how often it was asked."""

    answer: Callable[[Sequence[str]], object]
    model: str = "m"
    unavailable: EmbeddingError | None = None
    asked: int = 0
    similarity_threshold: float = 0.25
    gate: anyio.Event | None = None
    reached: anyio.Event = Factory(anyio.Event)

    def unavailability(self) -> EmbeddingError | None:
        return self.unavailable

    def embed(self, texts: Sequence[str]) -> Effect[Matrix, EmbeddingError]:
        async def answer() -> Outcome[Matrix, EmbeddingError]:
            self.asked += 1
            self.reached.set()
            if self.gate is not None:
                await self.gate.wait()
            said = self.answer(texts)
            return Failure(said) if isinstance(said, EmbeddingError) else Success(said)

        return Effect.from_outcome(answer)


def rows(texts: Sequence[str]) -> list[list[float]]:
    return [[3.0, 4.0] for _ in texts]


def working() -> Scripted:
    return Scripted(rows)


def failing(error: EmbeddingError = DOWN) -> Scripted:
    return Scripted(lambda _: error)


def guard(embedder: Embedder, clock: TestClock, *, pause_seconds: float = HALF_AN_HOUR) -> GuardedEmbedder:
    return GuardedEmbedder(embedder, clock, pause_seconds)


async def problem_of(embedder: Embedder, texts: Sequence[str] = TEXTS) -> str:
    outcome = await embedder.embed(texts)
    assert isinstance(outcome, Failure), outcome
    return outcome.failure().problem


async def both_succeed(guard_: GuardedEmbedder, embedder: Scripted) -> None:
    """Let two callers ask at once, who both get their rows."""
    embedder.answer, embedder.gate, asked = rows, anyio.Event(), embedder.asked
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(guard_.embed(TEXTS).or_raise)
        await anyio.wait_all_tasks_blocked()
        assert embedder.asked == asked + 2
        embedder.gate.set()


@pytest.fixture
async def after_the_pause(clock: TestClock) -> tuple[GuardedEmbedder, Scripted]:
    """An embedder that failed half an hour ago and works now, once its gate is opened."""
    embedder = failing()
    guard_ = guard(embedder, clock)
    assert isinstance(await guard_.embed(TEXTS), Failure)
    await clock.advance(HALF_AN_HOUR)
    embedder.answer, embedder.gate, embedder.reached = rows, anyio.Event(), anyio.Event()
    return guard_, embedder


async def test_after_the_pause_one_caller_tries_while_the_others_still_fail_at_once(
    after_the_pause: tuple[GuardedEmbedder, Scripted],
) -> None:
    guard_, embedder = after_the_pause
    assert embedder.gate is not None
    outcomes: list[Outcome[Matrix, EmbeddingError]] = []

    async def one() -> None:
        outcomes.append(await guard_.embed(TEXTS))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one)
        await embedder.reached.wait()
        with anyio.fail_after(PATIENCE_SECONDS):
            for _ in range(5):
                assert await problem_of(guard_) == "unavailable"
        assert embedder.asked == 2
        embedder.gate.set()
    assert isinstance(outcomes[0], Success)
    await both_succeed(guard_, embedder)  # once it works again, nobody waits for anybody


async def test_a_try_that_is_cancelled_leaves_the_next_one_to_others(
    after_the_pause: tuple[GuardedEmbedder, Scripted],
) -> None:
    guard_, embedder = after_the_pause
    assert embedder.gate is not None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(guard_.embed(TEXTS).or_raise)
        await embedder.reached.wait()
        tasks.cancel_scope.cancel()
    embedder.gate.set()
    assert isinstance(await guard_.embed(TEXTS), Success)


async def test_a_pause_of_zero_asks_every_time(clock: TestClock) -> None:
    embedder = failing()
    guard_ = guard(embedder, clock, pause_seconds=0.0)
    for _ in range(3):
        assert await guard_.embed(TEXTS) == Failure(DOWN)
    assert embedder.asked == 3
    await both_succeed(guard_, embedder)


async def test_an_endless_pause_has_a_date_and_who_says_when_is_asked_then(clock: TestClock) -> None:
    guard_ = guard(failing(), clock, pause_seconds=float("inf"))
    assert isinstance(await guard_.embed(TEXTS), Failure)
    assert "asked again after 2027-01-02" in str(guard_.unavailability())
    embedder = failing(EmbeddingError("m", "rate_limited", retry_after_seconds=20.0))
    guard_ = guard(embedder, clock)
    for seconds, asked in ((0, 1), (19, 1), (1, 2)):
        await clock.advance(seconds)
        assert await problem_of(guard_) == "rate_limited"
        assert embedder.asked == asked


@for_each("problem", sorted({*get_args(EmbeddingProblem)} - {"not_configured"}))
async def test_a_failure_before_any_success_makes_a_pause(
    clock: TestClock, problem: EmbeddingProblem
) -> None:
    embedder = failing(EmbeddingError("m", problem))
    guard_ = guard(embedder, clock)
    for _ in range(2):
        assert await problem_of(guard_) == problem
    assert embedder.asked == 1


async def test_a_refusal_after_a_success_is_about_its_texts(clock: TestClock) -> None:
    embedder = working()
    guard_ = guard(embedder, clock)
    refused = EmbeddingError("m", "refused", "HTTP 413")
    assert isinstance(await guard_.embed(TEXTS), Success)
    embedder.answer = lambda _: refused
    for _ in range(3):
        assert await guard_.embed(TEXTS) == Failure(refused)
        assert guard_.unavailability() is None
    embedder.answer = lambda _: EmbeddingError("m", "unavailable")
    assert await problem_of(guard_) == "unavailable"
    await clock.advance(HALF_AN_HOUR)
    embedder.answer = lambda _: refused
    assert await problem_of(guard_) == "refused"
    assert guard_.unavailability() == evolve(
        refused, detail="HTTP 413, asked again after 2026-01-01 01:00:00 UTC"
    )


async def test_what_the_configuration_says_is_never_asked_and_never_remembered(clock: TestClock) -> None:
    embedder = working()
    embedder.unavailable = EmbeddingError("m", "not_configured")
    guard_ = guard(embedder, clock)
    assert guard_.unavailability() == embedder.unavailable
    assert await guard_.embed(TEXTS) == Failure(embedder.unavailable)
    assert embedder.asked == 0
    embedder.unavailable = None
    embedder.answer = lambda _: EmbeddingError("m", "not_configured")
    assert await problem_of(guard_) == "not_configured"
    embedder.answer = rows
    assert isinstance(await guard_.embed(TEXTS), Success)


async def test_an_empty_batch_proves_nothing(clock: TestClock) -> None:
    embedder = working()
    guard_ = guard(embedder, clock)
    assert (await guard_.embed(()).or_raise()).shape == (0, 0)
    embedder.answer = lambda _: EmbeddingError("m", "refused")
    assert await problem_of(guard_) == "refused"
    assert guard_.unavailability() is not None, "it has never worked"
    await clock.advance(HALF_AN_HOUR)
    embedder.answer = rows
    assert (await guard_.embed(TEXTS).or_raise()).shape == (2, 2)


async def test_rows_that_are_none_or_longer_than_before_are_a_typed_failure(clock: TestClock) -> None:
    embedder = working()
    guard_ = guard(embedder, clock)
    assert isinstance(await guard_.embed(TEXTS), Success)
    embedder.answer = lambda texts: [[1.0, 2.0, 3.0] for _ in texts]
    longer = Failure(EmbeddingError("m", "wrong_dimension", "3 numbers instead of 2"))
    assert await guard_.embed(TEXTS) == longer
    answers: dict[str, object] = {"wrong_count": [[1.0, 2.0]], "malformed": None}
    for problem, answer in answers.items():
        assert await problem_of(guard(Scripted(lambda _, answer=answer: answer), clock)) == problem


async def test_an_embedder_that_raises_has_failed_and_its_text_is_not_quoted(clock: TestClock) -> None:
    raised: BaseException = KeyError("what the user said")

    def answer(_: Sequence[str]) -> object:
        raise raised

    outcome = await guard(Scripted(answer), clock).embed(TEXTS)
    assert outcome == Failure(EmbeddingError("m", "raised", "KeyError"))
    assert outcome.failure().cause is raised
    assert "what the user said" not in str(outcome.failure())
    raised = asyncio.CancelledError()  # and nobody else is cancelled
    outcome = await guard(Scripted(answer), clock).embed(TEXTS)
    assert outcome == Failure(EmbeddingError("m", "raised", "SelfCancelledError"))

    class OfItsOwn(Scripted):
        def embed(self, texts: Sequence[str]) -> Effect[Matrix, Any]:
            return Effect.fail(f"no vectors of {texts}")

    outcome = await guard(OfItsOwn(rows), clock).embed(TEXTS)
    assert outcome == Failure(EmbeddingError("m", "raised", "EffectFailed"))

    class Broken(Scripted):
        def unavailability(self) -> None:
            raise RuntimeError

    assert await problem_of(guard(Broken(rows), clock)) == "raised"


async def test_the_layer_takes_its_pause_from_settings_and_time_from_the_clock(clock: TestClock) -> None:
    embedder = failing()
    given = (
        Layer.succeed(EmbedderTag, embedder)
        | Layer.succeed(EmbeddingSettingsTag, EmbeddingSettings(pause_after_failure_seconds=60.0))
        | Layer.succeed(ClockTag, clock)
    )
    async with ManagedRuntime(given >> guarded) as runtime:
        guard_ = await runtime.service(EmbedderTag)
        assert isinstance(await guard_.embed(TEXTS), Failure)
        assert "asked again after 2026-01-01 00:01:00 UTC" in str(guard_.unavailability())
        await clock.advance(60)
        assert guard_.unavailability() is None
        assert guard_.model == "m"


SECONDS = 20.0


async def embedded_after(seconds: float, texts: int, *, is_late: bool) -> Outcome[Matrix, EmbeddingError]:
    """Embed *texts* texts by an embedder that answers after *seconds*, or, if it is late, not even then."""
    clock, embedder, outcomes = TestClock(), working(), list[Outcome[Matrix, EmbeddingError]]()
    embedder.gate = gate = anyio.Event()

    async def embed() -> None:
        timed = TimedEmbedder(embedder, SECONDS, batch_size=2)
        outcomes.append(await timed.embed(["x"] * texts).provide(Context.of(ClockTag, clock)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(embed)
        await anyio.wait_all_tasks_blocked()
        await clock.advance(seconds)
        if not is_late:
            gate.set()
    return outcomes[0]


@for_each(("texts", "longest"), [(0, 20), (1, 20), (2, 20), (3, 40), (6, 60)])
async def test_an_answer_in_time_counts_and_a_late_one_is_a_timeout(texts: int, longest: float) -> None:
    assert len((await embedded_after(longest - 1, texts, is_late=False)).unwrap()) == texts
    late = Failure(EmbeddingError("m", "timeout", f"no answer within {longest:g} s"))
    assert await embedded_after(longest, texts, is_late=True) == late


async def test_an_embedder_that_hangs_keeps_no_memory_from_being_stored_and_found() -> None:
    embedder, mei = working(), Namespace("小梅")
    embedder.gate = anyio.Event()  # it stays closed
    settings = Settings(
        memory=MemorySettings(
            store=StoreSettings(backend="in_memory"), embedding=EmbeddingSettings(timeout_seconds=0.1)
        )
    )
    stack = stacks.configured(settings, embedder=Layer.succeed(EmbedderTag, embedder))
    async with ManagedRuntime(stack) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        report = await memory.remember(mei, [NewMemory("I like tea")]).or_raise()
        assert (report.unembedded, "timeout" in str(report.reason)) == (1, True)
        recalled = await memory.recall(mei, "tea").or_raise()
        assert [hit.memory.content for hit in recalled.hits] == ["I like tea"]
        assert (recalled.mode, embedder.asked) == ("lexical", 1)
