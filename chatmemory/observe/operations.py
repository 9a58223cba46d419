"""``observed``: one span and one log record per operation, without the text of messages and memories.

``observed`` and ``observed_long_term`` wrap a service.  When they are built without a tracer provider of OpenTelemetry,
and the logger ``chatmemory`` writes no debug records, they return the service itself and cost nothing.  The layers for
past chats are in ``observe/past_chats.py``.  ``history_work.py`` logs the failures of background work itself.

``active_meter``: OpenTelemetry's meter for the counts of a backend, if metrics were set up before a store is opened.
"""

import inspect
import logging
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sized
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, Never, TypeAlias, TypeVar, cast, final

from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.messages import (
    AddReport,
    ClearReport,
    Conversation,
    ConversationPage,
    MessagePage,
    Undone,
)
from chatmemory.effect import Context, CurrentSpan, Effect, Exit, Failure, Layer, Outcome, Success
from chatmemory.effect.key import TagOf
from chatmemory.effect.outcome import exit_from_exception, exit_from_outcome
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.errors import ServiceError
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.longterm.memories import ForgetReceipt, MemoryPage, ReEmbedReport, RememberReport, UseReport
from chatmemory.longterm.recall.recall import Recall
from chatmemory.observe.tracing import NAME, OpenTelemetrySpan, OpenTelemetryTracer, active_tracer

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from opentelemetry.trace import Tracer

Id = TypeVar("Id")
S = TypeVar("S")

Facts: TypeAlias = Mapping[str, str | int]
NumbersOf: TypeAlias = Callable[[object], Facts]

# Names of OpenTelemetry's conventions for generative AI.
CONVERSATION: Final = "gen_ai.conversation.id"
OPERATION: Final = "gen_ai.operation.name"

CONVENTIONAL: Final = {
    "remember": "create_memory",
    "save_conversation_turn": "create_memory",
    "auto_save": "create_memory",
    "put_value": "upsert_memory",
    "recall": "search_memory",
    "search": "search_memory",
    "update": "update_memory",
    "supersede": "update_memory",
    "promote": "update_memory",
    "pin": "update_memory",
    "forget": "delete_memory",
    "forget_where": "delete_memory",
    "forget_all": "delete_memory",
    "delete_value": "delete_memory",
}
"""The names of chatmemory's operations in these conventions."""

log = logging.getLogger(NAME)


@final
class Observed:
    """Wraps *service*, and records every run of its effects.

    *contract* is the Protocol of the service.  Streams and plain values are not recorded, because the reader of a stream
    decides how long it takes.
    """

    def __init__(
        self,
        service: object,
        contract: type,
        clock: Clock,
        tracer: "Tracer | None",
        numbers_of: NumbersOf,
    ) -> None:
        self._service = service
        self._contract = contract
        self._clock = clock
        self._tracer = None if tracer is None else OpenTelemetryTracer(tracer)
        self._numbers_of = numbers_of

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        """Return the wrapped operation of the service."""
        method = getattr(self._service, operation)

        @wraps(method)
        def observed_method(*args: Any, **kwargs: Any) -> Any:
            made = method(*args, **kwargs)
            if not isinstance(made, Effect):
                return made
            effect = cast("Effect[object, ServiceError]", made)
            conversation_id = self._conversation_of(operation, args, kwargs)

            def run(context: Context[Any]) -> Awaitable[Outcome[object, ServiceError]]:
                return self._run(operation, effect, conversation_id, context)

            return Effect.in_context(run)

        return observed_method

    def _conversation_of(
        self, operation: str, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> str | None:
        """Return the id of the conversation that the call is about; users are never named."""
        signature = inspect.signature(getattr(self._contract, operation))
        arguments = signature.bind(self, *args, **kwargs).arguments
        return next(
            (arguments[name] for name in ("conversation_id", "session_id") if name in arguments), None
        )

    async def _run(
        self,
        operation: str,
        effect: Effect[object, ServiceError],
        conversation_id: str | None,
        context: Context[Any],
    ) -> Outcome[object, ServiceError]:
        started = self._clock.monotonic()

        def tell(facts: Facts, exit_: Exit[object, ServiceError]) -> None:
            spent = {"duration_ms": round((self._clock.monotonic() - started) * 1000, 3)}
            fields = {"operation": operation, "conversation_id": conversation_id, **spent, **facts}
            log.debug("%s: %s in %s ms", operation, facts["outcome"], spent["duration_ms"], extra=fields)
            if span is not None:
                _describe(span, operation, conversation_id, facts)
                span.end(exit_)

        # By default a span would record the text of an exception, which may quote messages.
        span = None if self._tracer is None else self._tracer.start(f"{NAME}.{operation}", {})
        try:
            outcome = await effect.run_in(context if span is None else context.add(CurrentSpan, span))
            facts = _facts_of(outcome, self._numbers_of)
        except BaseException as exception:
            tell({"outcome": type(exception).__name__}, exit_from_exception(exception))
            raise
        tell(facts, exit_from_outcome(outcome))
        return outcome


def _facts_of(outcome: Outcome[object, ServiceError], numbers_of: NumbersOf) -> Facts:
    """Return the facts of an outcome without private text: ``outcome`` (``ok`` or the error's tag), numbers and kinds."""
    if isinstance(outcome, Failure):
        error = outcome.failure()
        if error.tag == "GenericMemoryError":
            return {"outcome": error.reason.tag, "problem": error.reason.problem}
        return {"outcome": error.tag}
    return {"outcome": "ok", **numbers_of(outcome.unwrap())}


def numbers_of(value: object) -> Facts:  # noqa: PLR0912  one for each kind of report
    """Return the numbers and the names of kinds in a value, but no text of a message or a memory."""
    match value:
        case AddReport(stored, duplicates, version, history):
            counts = {"stored": len(stored), "duplicates": len(duplicates), "version": version}
            return {**counts, "history": history.status}
        case ClearReport(messages, summaries, version):
            return {"messages": messages, "summaries": summaries, "version": version}
        case Undone(action, version, removed, restored):
            return {"action": action, "version": version, "removed": removed, "restored": restored}
        case MessagePage(messages, version):
            return {"messages": len(messages), "version": version}
        case ConversationPage(conversations):
            return {"conversations": len(conversations)}
        case Conversation() as conversation:
            return {"messages": conversation.message_count, "version": conversation.version}
        case RememberReport(outcomes, unembedded):
            kinds = Counter(f"memories_{outcome.outcome}" for outcome in outcomes)
            return {**kinds, "unembedded": unembedded}
        case Recall(hits, mode):
            return {"hits": len(hits), "mode": mode}
        case MemoryPage(memories):
            return {"memories": len(memories)}
        case UseReport(used, promoted):
            return {"memories": used, "promoted": len(promoted)}
        case ForgetReceipt(memories, embeddings):
            return {"memories": memories, "embeddings": embeddings}
        case ReEmbedReport(embedded, remaining):
            return {"embedded": embedded, "remaining": remaining}
        case int() as number:
            return {"count": number}
        case Sized() as found:
            return {"count": len(found)}
        case _:
            return {}


def _describe(span: OpenTelemetrySpan, operation: str, conversation_id: str | None, facts: Facts) -> None:
    span.set_attributes({f"{NAME}.{name}": fact for name, fact in facts.items()})
    if conversation_id is not None:
        span.set_attributes({CONVERSATION: conversation_id})
    if operation in CONVENTIONAL:
        span.set_attributes({OPERATION: CONVENTIONAL[operation]})


def observing(tag: TagOf[Id, S], contract: type, numbers_of: NumbersOf) -> Layer[Id, Never, Id]:
    """Return a layer that wraps the service of *tag*, whose Protocol is *contract*, if a tracer or a debug log is set up."""

    async def make(context: Context[Id]) -> Outcome[S, Never]:
        service, tracer = context.get(tag), active_tracer()
        if tracer is None and not log.isEnabledFor(logging.DEBUG):
            return Success(service)
        # The wrapper has every operation of the service, but a type checker cannot see that.
        return Success(cast("S", Observed(service, contract, context.get(ClockTag), tracer, numbers_of)))

    return Layer.effect(tag, Effect.in_context(make), needs=[tag])


observed = observing(ChatMemoryService, ChatMemory, numbers_of)
"""The provided chat memory, observed if a tracer or a debug log is set up."""

observed_long_term = observing(LongTermMemoryService, LongTermMemory, numbers_of)
"""The provided long-term memory, observed if a tracer or a debug log is set up."""


def active_meter() -> "Meter | None":
    """Return a meter; None without OpenTelemetry, or when no metrics are set up."""
    # As for a tracer: a program that has set up metrics has imported them.
    if "opentelemetry.sdk.metrics" not in sys.modules:
        return None
    from opentelemetry import metrics

    provider = metrics.get_meter_provider()
    if type(provider).__module__.startswith("opentelemetry.metrics"):  # the default, which records nothing
        return None
    return provider.get_meter(NAME)
