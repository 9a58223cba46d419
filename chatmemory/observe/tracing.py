"""``OpenTelemetryTracer``: sends spans to OpenTelemetry, with names and numbers but without message text.

``Effect.with_span`` uses it in a ready stack that was opened after a tracer provider was set up; ``operations.py`` makes
the spans of the services with it.
"""

import sys
from typing import TYPE_CHECKING, Any, Final, final

from chatmemory.effect import Effect, Exit, Interrupt, Layer, Success, Tracer, TracerTag
from chatmemory.effect.lazy import LazyModule
from chatmemory.effect.services.tracer import Attributes, Span
from chatmemory.errors.service_errors import kind_of

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry import context, trace
    from opentelemetry.context import Context
else:
    context, trace = LazyModule("opentelemetry.context"), LazyModule("opentelemetry.trace")

NAME: Final = "chatmemory"
ERROR: Final = "error.type"  # a name of OpenTelemetry's conventions


@final
class OpenTelemetryTracer:
    """Makes spans of OpenTelemetry; each is the current span of its task until it ends.

    OpenTelemetry itself finds the enclosing span, which may belong to a web framework or to the caller.
    """

    def __init__(self, tracer: "trace.Tracer") -> None:
        self._tracer = tracer

    def start(self, name: str, attributes: Attributes, _: Span | None = None, /) -> "OpenTelemetrySpan":
        """Start a span, which the caller must end, and make it the current span."""
        return OpenTelemetrySpan(self._tracer.start_span(name, attributes=dict(attributes)))


@final
class OpenTelemetrySpan:
    """The span of one run of an effect."""

    def __init__(self, span: "trace.Span") -> None:
        self._span = span
        self._before: Token[Context] = context.attach(trace.set_span_in_context(span))

    def set_attributes(self, attributes: Attributes) -> None:
        """Add *attributes* to the span."""
        self._span.set_attributes(dict(attributes))

    def end(self, exit_: Exit[Any, Any], /) -> None:
        """End the span with the kind of the error, if there is one; the text of an error may quote messages."""
        if type(exit_) is not Success:
            reason = exit_.failure()
            self._span.set_attribute(ERROR, kind_of(reason))
            if not isinstance(reason, Interrupt):
                self._span.set_status(trace.StatusCode.ERROR)
        context.detach(self._before)
        self._span.end()


def active_tracer() -> "trace.Tracer | None":
    """Return a tracer, if tracing was set up before; None without OpenTelemetry or without a tracer provider."""
    # A program that has set up tracing has imported it; this check saves the import in all other programs.
    if "opentelemetry.trace" not in sys.modules:
        return None
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider.get_tracer(NAME)


def _tracer_at_hand() -> Tracer | None:
    tracer = active_tracer()
    return None if tracer is None else OpenTelemetryTracer(tracer)


traced = Layer.effect(TracerTag, Effect.sync(_tracer_at_hand), needs=())
"""OpenTelemetry's tracer for ``Effect.with_span``, if tracing was set up before."""
