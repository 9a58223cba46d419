"""What an operator sees of a chat memory: one span and one log record per operation, and never what was said.

``observed`` is a layer between ``chat_memory`` and its users.  Whether anybody looks is decided when it is built: with
neither a tracer provider of OpenTelemetry set up nor debug records of the logger ``chatmemory`` wanted, it gives the
memory itself, and costs nothing.  Failures of background work are logged where they happen, in ``history_work.py``.
"""

import logging
import sys
from collections.abc import AsyncIterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, Never, TypeAlias, TypeVar, final

from attrs import frozen

from chatmemory.contracts import ChatMemory, ChatMemoryService
from chatmemory.effect import Do, Effect, Failure, Layer, Outcome
from chatmemory.effect.clock import Clock, ClockTag
from chatmemory.errors import AddError, ReadError
from chatmemory.messages import (
    AddReport,
    ChatMessage,
    ClearReport,
    Conversation,
    MessagePage,
    NewMessage,
    SummarizationMetadata,
    View,
)

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

A = TypeVar("A")
E = TypeVar("E", bound=AddError | ReadError)

Facts: TypeAlias = Mapping[str, str | int]

NAME: Final = "chatmemory"
CONVERSATION: Final = (
    "gen_ai.conversation.id"  # of OpenTelemetry's conventions for generative AI, as is error.type
)
ERROR: Final = "error.type"

log = logging.getLogger(NAME)


@final
@frozen
class ObservedChatMemory:
    """A chat memory that does what *memory* does, and tells that it did."""

    memory: ChatMemory
    clock: Clock
    tracer: "Tracer | None"

    def add_messages(
        self, conversation_id: str, messages: Sequence[NewMessage], *, expected_version: int | None = None
    ) -> Effect[AddReport, AddError]:
        """See ``contracts.ChatMemory``."""
        effect = self.memory.add_messages(conversation_id, messages, expected_version=expected_version)
        return self._tell("add_messages", effect, conversation_id)

    def get_messages(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: datetime | None = None,
        view: View = "model",
    ) -> Effect[Sequence[ChatMessage], ReadError]:
        """See ``contracts.ChatMemory``."""
        effect = self.memory.get_messages(conversation_id, limit=limit, before=before, view=view)
        return self._tell("get_messages", effect, conversation_id)

    def get_page(
        self,
        conversation_id: str,
        *,
        limit: int = 100,
        older_than: int | None = None,
        newer_than: int | None = None,
        view: View = "model",
    ) -> Effect[MessagePage, ReadError]:
        """See ``contracts.ChatMemory``."""
        effect = self.memory.get_page(
            conversation_id, limit=limit, older_than=older_than, newer_than=newer_than, view=view
        )
        return self._tell("get_page", effect, conversation_id)

    def pages(
        self, conversation_id: str, *, size: int = 200, view: View = "full"
    ) -> AsyncIterator[Outcome[MessagePage, ReadError]]:
        """See ``contracts.ChatMemory``.  Unobserved: its reader decides how long it takes."""
        return self.memory.pages(conversation_id, size=size, view=view)

    def clear_messages(self, conversation_id: str) -> Effect[ClearReport, ReadError]:
        """See ``contracts.ChatMemory``."""
        return self._tell("clear_messages", self.memory.clear_messages(conversation_id), conversation_id)

    def get_conversation(self, conversation_id: str) -> Effect[Conversation, ReadError]:
        """See ``contracts.ChatMemory``."""
        return self._tell("get_conversation", self.memory.get_conversation(conversation_id), conversation_id)

    def list_conversations(
        self, *, limit: int = 100, after: str | None = None
    ) -> Effect[Sequence[Conversation], ReadError]:
        """See ``contracts.ChatMemory``."""
        return self._tell("list_conversations", self.memory.list_conversations(limit=limit, after=after))

    def exists(self, conversation_id: str) -> Effect[bool, ReadError]:
        """See ``contracts.ChatMemory``."""
        return self._tell("exists", self.memory.exists(conversation_id), conversation_id)

    def count(self, conversation_id: str, *, view: View = "model") -> Effect[int, ReadError]:
        """See ``contracts.ChatMemory``."""
        return self._tell("count", self.memory.count(conversation_id, view=view), conversation_id)

    def get_summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, ReadError]:
        """See ``contracts.ChatMemory``."""
        effect = self.memory.get_summarization(conversation_id, summary_message_id)
        return self._tell("get_summarization", effect, conversation_id)

    def get_summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[Sequence[SummarizationMetadata], ReadError]:
        """See ``contracts.ChatMemory``."""
        effect = self.memory.get_summarizations_of(conversation_id, message_id)
        return self._tell("get_summarizations_of", effect, conversation_id)

    def _tell(self, operation: str, effect: Effect[A, E], conversation_id: str | None = None) -> Effect[A, E]:
        return Effect.from_outcome(partial(self._run, operation, effect, conversation_id))

    async def _run(self, operation: str, effect: Effect[A, E], conversation_id: str | None) -> Outcome[A, E]:
        started = self.clock.monotonic()

        def tell(facts: Facts) -> None:
            spent = {"duration_ms": round((self.clock.monotonic() - started) * 1000, 3)}
            fields = {"operation": operation, "conversation_id": conversation_id, **spent, **facts}
            log.debug("%s: %s in %s ms", operation, facts["outcome"], spent["duration_ms"], extra=fields)
            if span is not None:
                _describe(span, conversation_id, facts)

        with self._span(operation) as span:
            try:
                outcome = await effect
            except BaseException as exception:
                tell({"outcome": type(exception).__name__})
                raise
            tell(facts_of(outcome))
            return outcome

    def _span(self, operation: str) -> "AbstractContextManager[Span | None]":
        if self.tracer is None:
            return nullcontext()
        # Left to itself a span records the text of an exception, which may quote what was said.
        return self.tracer.start_as_current_span(
            f"{NAME}.{operation}", record_exception=False, set_status_on_exception=False
        )


def facts_of(outcome: Outcome[object, AddError | ReadError]) -> Facts:
    """Return what may be told of an outcome: ``outcome`` (``ok`` or the error's tag), numbers and names of kinds."""
    if isinstance(outcome, Failure):
        error = outcome.failure()
        if error.tag == "GenericMemoryError":
            return {"outcome": error.reason.tag, "problem": error.reason.problem}
        return {"outcome": error.tag}
    return {"outcome": "ok", **_numbers(outcome.unwrap())}


def _numbers(value: object) -> Facts:
    match value:
        case AddReport(stored, duplicates, version, history):
            counts = {"stored": len(stored), "duplicates": len(duplicates), "version": version}
            return {**counts, "history": history.status}
        case ClearReport(messages, summaries, version):
            return {"messages": messages, "summaries": summaries, "version": version}
        case MessagePage(messages, version):
            return {"messages": len(messages), "version": version}
        case Conversation() as conversation:
            return {"messages": conversation.message_count, "version": conversation.version}
        case int() as number:
            return {"count": number}
        case Sized() as found:
            return {"count": len(found)}
        case _:
            return {}


def _describe(span: "Span", conversation_id: str | None, facts: Facts) -> None:
    from opentelemetry.trace import StatusCode  # noqa: PLC0415  there is a span, so it is imported

    span.set_attributes({f"{NAME}.{name}": fact for name, fact in facts.items()})
    if conversation_id is not None:
        span.set_attribute(CONVERSATION, conversation_id)
    if facts["outcome"] != "ok":
        span.set_attribute(ERROR, facts["outcome"])
        span.set_status(StatusCode.ERROR)


def active_tracer() -> "Tracer | None":
    """Return a tracer, if tracing was set up before; None without OpenTelemetry, or with nobody to send spans to."""
    # Whoever has set it up has imported it; looking there first spares everybody else the import.
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import trace  # noqa: PLC0415  optional

    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider.get_tracer(NAME)


@Effect.gen
async def _observe(do: Do[Never, ChatMemoryService]) -> ChatMemory:
    memory, tracer = do.service(ChatMemoryService), active_tracer()
    if tracer is None and not log.isEnabledFor(logging.DEBUG):
        return memory
    return ObservedChatMemory(memory, do.service(ClockTag), tracer)


observed = Layer.effect(ChatMemoryService, _observe(), needs=[ChatMemoryService])
"""The chat memory at hand, observed if anybody looks."""
