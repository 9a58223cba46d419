"""``Effect.with_span`` in OpenTelemetry: spans beside those of the services, and never what was said."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from chatmemory.effect import Context, Effect, Failure, Fiber, TracerTag
from chatmemory.errors import GenericMemoryError, RepositoryError
from chatmemory.observe.tracing import OpenTelemetryTracer

SECRET = "银行卡密码是 Kugelfisch"  # no number: ids and times of a span are made of digits


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traced(spans: InMemorySpanExporter) -> Context[Any]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    return Context.of(TracerTag, OpenTelemetryTracer(provider.get_tracer("chatmemory")))


async def test_spans_nest_also_through_fibers(spans: InMemorySpanExporter, traced: Context[Any]) -> None:
    inner = Effect.succeed(1).with_span("inner", {"messages": 3})
    await inner.fork().bind(Fiber.join).with_span("outer").provide(traced)
    after = Effect.succeed(1).with_span("after")
    await after.provide(traced)
    seen = {span.name: span for span in spans.get_finished_spans()}
    outer = seen["outer"].context
    assert outer is not None
    assert seen["inner"].parent is not None
    assert seen["inner"].parent.span_id == outer.span_id
    assert dict(seen["inner"].attributes or {}) == {"messages": 3}
    assert seen["after"].parent is None


async def test_a_failure_is_an_error_of_its_kind_without_its_text(
    spans: InMemorySpanExporter, traced: Context[Any]
) -> None:
    def explode() -> None:
        raise ValueError(SECRET)

    busy = GenericMemoryError(RepositoryError("read", "busy", SECRET))
    assert await Effect.fail(busy).with_span("busy").provide(traced) == Failure(busy)
    assert await Effect.fail(SECRET).with_span("text").provide(traced) == Failure(SECRET)
    with pytest.raises(ValueError, match="Kugelfisch"):
        await Effect.sync(explode).with_span("died").provide(traced)
    has_begun = asyncio.Event()

    async def wait_forever() -> None:
        has_begun.set()
        await asyncio.Event().wait()

    waiting = asyncio.create_task(
        Effect.promise(wait_forever).with_span("interrupted").provide(traced).or_raise()
    )
    await has_begun.wait()
    waiting.cancel()
    await asyncio.wait([waiting])
    kinds = {span.name: (span.attributes or {})["error.type"] for span in spans.get_finished_spans()}
    assert kinds == {
        "busy": "RepositoryError",
        "text": "str",
        "died": "ValueError",
        "interrupted": "Interrupt",
    }
    statuses = {span.name: span.status.status_code for span in spans.get_finished_spans()}
    assert (statuses["busy"], statuses["interrupted"]) == (StatusCode.ERROR, StatusCode.UNSET)
    assert not [span for span in spans.get_finished_spans() if "Kugelfisch" in span.to_json()]


PROGRAM = """
import asyncio, json
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
spans = InMemorySpanExporter()
trace.set_tracer_provider(TracerProvider())
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(spans))
from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage
from chatmemory_layers import stacks

async def main():
    async with ManagedRuntime(stacks.testing()) as runtime:
        turn = ChatMemoryService.use(lambda memory: memory.add_messages("c", [NewMessage("user", "hello")]))
        await runtime.run(turn.with_span("turn"))

asyncio.run(main())
names = {span.context.span_id: span.name for span in spans.get_finished_spans()}
print(json.dumps({span.name: names.get(span.parent and span.parent.span_id) for span in spans.get_finished_spans()}))
"""


def test_in_a_ready_stack_the_spans_of_services_stand_within_those_of_effects() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"chatmemory.add_messages": "turn", "turn": None}
