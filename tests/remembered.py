"""A long-term memory that recalls what a test gives it, and notes what was used."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import define, field

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Failure, Layer, Success
from chatmemory.errors import RecallError
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import Memory, Provenance, UseReport
from chatmemory.longterm.recall.recall import Coverage, Recall, RecallHit, Signals

USER = Namespace("小明", "excel")
SPRING_FESTIVAL = datetime(2026, 2, 17, 9, 30, tzinfo=UTC)


def memory_of(content: str, memory_id: str | None = None, **fields: Any) -> Memory:
    """A long-term memory; its id is its content unless it is named."""
    said: dict[str, Any] = {
        "namespace": USER,
        "key": None,
        "value": None,
        "category": "preference",
        "tags": (),
        "confidence": 0.9,
        "source": "user_stated",
        "role": "user",
        "session_id": "older",
        "memory_type": "long_term",
        "pinned": False,
        "provenance": Provenance(),
        "created_at": SPRING_FESTIVAL,
    }
    return Memory(id=content if memory_id is None else memory_id, content=content, **(said | fields))


@define
class Remembered:
    """Recalls *memories* for every query, or fails; *uses* are the arguments of each ``record_use``."""

    memories: Sequence[Memory] = ()
    recall_failure: RecallError | None = None
    use_failure: RecallError | None = None
    queries: list[tuple[Namespace, str]] = field(factory=list)
    uses: list[tuple[Namespace, tuple[str, ...], str | None, str | None, str | None]] = field(factory=list)

    @property
    def layer(self) -> Layer[LongTermMemoryService]:
        return Layer.mock(LongTermMemoryService, recall=self.recall, record_use=self.record_use)

    def recall(
        self, namespace: Namespace, query: str, *, as_of: datetime | None = None, explain: bool = False
    ) -> Effect[Recall, RecallError]:
        del as_of, explain  # nothing else is known

        async def answer() -> Success[Recall] | Failure[RecallError]:
            self.queries.append((namespace, query))
            if self.recall_failure is not None:
                return Failure(self.recall_failure)
            hits = tuple(RecallHit(memory, 1.0, Signals(None, 1.0, 0.0, 1.0)) for memory in self.memories)
            return Success(Recall(hits, "lexical", "a test", Coverage(0, len(hits))))

        return Effect.from_outcome(answer)

    def record_use(
        self,
        namespace: Namespace,
        memory_ids: Sequence[str],
        *,
        use_id: str | None = None,
        session_id: str | None = None,
        query: str | None = None,
    ) -> Effect[UseReport, RecallError]:
        async def count() -> Success[UseReport] | Failure[RecallError]:
            self.uses.append((namespace, tuple(memory_ids), use_id, session_id, query))
            return (
                Success(UseReport(len(memory_ids))) if self.use_failure is None else Failure(self.use_failure)
            )

        return Effect.from_outcome(count)
