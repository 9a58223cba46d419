"""``OpenTelemetryTracer``: shows spans to OpenTelemetry, with names and numbers and never what was said.

``Effect.with_span`` finds it where a ready stack was opened after a tracer provider was set up; ``operations.py`` makes
the spans of the services by it.
"""

import sys
from typing import TYPE_CHECKING, Any, Final, final

from chatmemory.effect import Effect, Exit, Interrupt, Layer, Success, Tracer, TracerTag
from chatmemory.effect.services.tracer import Attributes, Span
from chatmemory.errors.service_errors import kind_of

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry import trace
    from opentelemetry.context import Context

NAME: Final = "chatmemory"
ERROR: Final = "error.type"  # of OpenTelemetry's conventions


@final
class OpenTelemetryTracer:
    """Makes spans of OpenTelemetry, each of which is the current one of its task until it ends.

    OpenTelemetry itself knows which span is around, also one of a web framework or of the caller.
    """

    def __init__(self, tracer: "trace.Tracer") -> None:
        self._tracer = tracer

    def start(self, name: str, attributes: Attributes, _: Span | None = None, /) -> "OpenTelemetrySpan":
        """Start a span and make it the current one."""
        return OpenTelemetrySpan(self._tracer.start_span(name, attributes=dict(attributes)))


@final
class OpenTelemetrySpan:
    """One run of an effect."""

    def __init__(self, span: "trace.Span") -> None:
        from opentelemetry import context, trace

        self._span = span
        self._before: Token[Context] = context.attach(trace.set_span_in_context(span))

    def set_attributes(self, attributes: Attributes) -> None:
        """Add what is known by now."""
        self._span.set_attributes(dict(attributes))

    def end(self, exit_: Exit[Any, Any], /) -> None:
        """Tell the kind of the error, if there is one; its text may quote what was said."""
        from opentelemetry import context, trace

        if type(exit_) is not Success:
            reason = exit_.failure().reasons[0]
            self._span.set_attribute(ERROR, kind_of(reason))
            if not isinstance(reason, Interrupt):
                self._span.set_status(trace.StatusCode.ERROR)
        context.detach(self._before)
        self._span.end()


def active_tracer() -> "trace.Tracer | None":
    """Return a tracer, if tracing was set up before; None without OpenTelemetry, or with nobody to send spans to."""
    # Whoever has set it up has imported it; looking there first spares everybody else the import.
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import trace

    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider.get_tracer(NAME)


def _tracer_at_hand() -> Tracer | None:
    tracer = active_tracer()
    return None if tracer is None else OpenTelemetryTracer(tracer)


traced = Layer.effect(TracerTag, Effect.sync(_tracer_at_hand), needs=())
"""OpenTelemetry's tracer for ``Effect.with_span``, if tracing was set up before."""
