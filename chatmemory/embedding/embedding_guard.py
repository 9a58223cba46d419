"""``GuardedEmbedder``: checks the rows of any embedder, and fails at once while that embedder cannot work.

It wraps every embedder, also the embedders of users (spec 001, D1 and R5).  Its callers decide what to do with a memory
without a vector.

``TimedEmbedder`` adds a time limit.  The embedders of this package do not need it: an endpoint has its own limit, and
local computation always ends.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from math import ceil
from typing import Any, Final, Never, final

from attrs import define, evolve, field, frozen

from chatmemory.effect import Do, Effect, Failure, Layer, Outcome
from chatmemory.effect.context import Context
from chatmemory.effect.defects import defect_of
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.embedding.embedder import Embedder, EmbedderTag, Matrix
from chatmemory.embedding.unit_vectors import read_rows
from chatmemory.errors import EmbeddingError
from chatmemory.settings.embedding_settings import EmbeddingSettingsTag
from chatmemory.text.long_work import in_worker_thread

READ_AT_ONCE: Final = 100
"""The number of rows that are checked and scaled to length 1 in 2 ms."""

LONGEST_PAUSE_SECONDS: Final = 366 * 86_400.0  # so that its end is a valid date

log = logging.getLogger(__name__)


@final
@define(eq=False)
class GuardedEmbedder(Embedder):
    """Embeds with *embedder* while it works.

    After a failure the embedder is not called for *pause_seconds*.  Then one caller tries it again, while all others
    continue to fail at once until it has succeeded.  The returned rows decide whether a call has succeeded, not a status
    or a class of exception.  Two failures start no pause.  An error of the configuration is found without a request.  A
    refusal by an embedder that has worked before is about these texts.

    Attributes:
        pause_seconds: the pause; the embedder may ask for a shorter one; 0: no pause.
    """

    embedder: Embedder
    clock: Clock
    pause_seconds: float
    _failure: EmbeddingError | None = field(default=None, init=False)
    _retry_at: float = field(default=0.0, init=False)
    _is_being_tried: bool = field(default=False, init=False)
    _has_worked: bool = field(default=False, init=False)
    _dim: int | None = field(default=None, init=False)

    @property
    def model(self) -> str:
        return self.embedder.model

    @property
    def similarity_threshold(self) -> float:
        return self.embedder.similarity_threshold

    def unavailability(self) -> EmbeddingError | None:
        """Return why it cannot embed now: its configuration, or a recent failure; None: it can work."""
        if self._failure is not None and (self._is_being_tried or self.clock.monotonic() < self._retry_at):
            return self._failure
        try:
            return self.embedder.unavailability()
        except Exception as exception:  # noqa: BLE001  a failure of foreign code is not a defect of chatmemory
            return self._raised(exception)

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Embed *texts*; fail at once while it is known that the embedder cannot work."""
        return Effect.in_context(lambda context: self._embed(texts, context))

    async def _embed(self, texts: Sequence[str], context: Context[Any]) -> Outcome[Matrix, EmbeddingError]:
        unavailable = self.unavailability()
        if unavailable is not None:
            return Failure(unavailable)
        if self._failure is None:
            outcome = await self._ask(texts, context)
        else:
            self._is_being_tried = True
            try:
                outcome = await self._ask(texts, context)
            finally:
                self._is_being_tried = False
        if isinstance(outcome, Failure):
            self._remember(outcome.failure())
        elif texts:  # a call without texts proves nothing
            self._open(outcome.unwrap())
        return outcome

    async def _ask(self, texts: Sequence[str], context: Context[Any]) -> Outcome[Matrix, EmbeddingError]:
        try:
            outcome = await self.embedder.embed(texts).run_in(context)
            if isinstance(outcome, Failure) and type(outcome.failure()) is EmbeddingError:
                return outcome
            # The failure of a foreign embedder may have any other value: then unwrap raises.
            read = partial(read_rows, self.model, outcome.unwrap(), count=len(texts), dim=self._dim)
            return read() if len(texts) <= READ_AT_ONCE else await in_worker_thread(read).or_raise()
        except BaseException as exception:
            if (defect := defect_of(exception)) is None:
                raise
            return Failure(self._raised(defect))  # a failure of foreign code is not a defect of chatmemory

    def _open(self, rows: Matrix) -> None:
        if self._failure is not None:
            log.info("embedder %r works again", self.model)
        self._failure = None
        self._has_worked = True
        self._dim = rows.shape[1]

    def _remember(self, error: EmbeddingError) -> None:
        is_about_the_texts = error.problem == "refused" and self._has_worked
        if is_about_the_texts or error.problem == "not_configured" or not self.pause_seconds:
            return
        self._has_worked = False
        pause = min(
            self.pause_seconds, error.retry_after_seconds or self.pause_seconds, LONGEST_PAUSE_SECONDS
        )
        until = self.clock.now() + timedelta(seconds=pause)
        detail = f"{error.detail}, " if error.detail else ""
        self._failure = evolve(error, detail=f"{detail}asked again after {until:%Y-%m-%d %H:%M:%S} UTC")
        self._retry_at = self.clock.monotonic() + pause
        log.warning(
            "memories get no vectors for a while: %s", self._failure, extra={"problem": error.problem}
        )

    def _raised(self, exception: Exception) -> EmbeddingError:
        # The text of the exception may quote the texts to embed, so it is only in the cause.
        return EmbeddingError(self.model, "raised", type(exception).__name__, cause=exception)


@Effect.gen
async def _guard(do: Do[Never, EmbedderTag | EmbeddingSettingsTag]) -> Embedder:
    settings = do.service(EmbeddingSettingsTag)
    return GuardedEmbedder(
        do.service(EmbedderTag), do.service(ClockTag), settings.pause_after_failure_seconds
    )


guarded = Layer.effect(EmbedderTag, _guard(), needs=[EmbedderTag, EmbeddingSettingsTag])
"""The provided embedder with its guard: ``embedder >> guarded``."""


@final
@frozen
class TimedEmbedder(Embedder):
    """Embeds with *embedder*, which may take *seconds* for each *batch_size* texts."""

    embedder: Embedder
    seconds: float
    batch_size: int

    @property
    def model(self) -> str:
        return self.embedder.model

    @property
    def similarity_threshold(self) -> float:
        return self.embedder.similarity_threshold

    def unavailability(self) -> EmbeddingError | None:
        return self.embedder.unavailability()

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Embed *texts*; fail with the problem ``timeout`` when the time is over."""
        seconds = self.seconds * max(1, ceil(len(texts) / self.batch_size))
        too_late = EmbeddingError(self.model, "timeout", f"no answer within {seconds:g} s")
        return self.embedder.embed(texts).timeout(seconds, lambda: too_late)


@Effect.gen
async def _time(do: Do[Never, EmbedderTag | EmbeddingSettingsTag]) -> Embedder:
    settings = do.service(EmbeddingSettingsTag)
    return TimedEmbedder(do.service(EmbedderTag), settings.timeout_seconds, settings.batch_size)


timed = Layer.effect(EmbedderTag, _time(), needs=[EmbedderTag, EmbeddingSettingsTag])
"""The provided embedder, limited to ``memory.embedding.timeoutSeconds`` for each ``batchSize`` texts:
``embedder >> timed``."""
