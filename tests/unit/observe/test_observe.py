"""What an operator sees: every operation once, with numbers, and never what was said."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode, Tracer

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    Effect,
    Failure,
    IndexRequest,
    Layer,
    ManagedRuntime,
    NewMessage,
    PastChatsIndexService,
    PastChatsService,
    TestClock,
)
from chatmemory.effect import Context, TracerTag
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import ConversationNotFoundError, GenericMemoryError, RepositoryError
from chatmemory.observe.operations import Observed, numbers_of, observed
from chatmemory.observe.tracing import OpenTelemetryTracer
from chatmemory.testing import Stub, raises
from chatmemory_layers import stacks
from chatmemory_layers.stacks import past_chats as past_chats_stacks
from tests.forked import fresh_python

SECRET = "银行卡密码是 Kugelfisch"  # no number: ids and times of a span are made of digits
HELLO = [NewMessage("user", SECRET, "m1", metadata={"note": SECRET})]


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@asynccontextmanager
async def opened() -> AsyncGenerator[ChatMemory]:
    async with ManagedRuntime(stacks.testing()) as runtime:
        yield await runtime.service(ChatMemoryService)


def tracer_to(spans: InMemorySpanExporter) -> Tracer:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    return provider.get_tracer("chatmemory")


def traced(memory: ChatMemory, spans: InMemorySpanExporter) -> Any:
    return Observed(memory, ChatMemory, TestClock(), tracer_to(spans), numbers_of)


async def test_debug_records_are_enough_to_be_observed(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="chatmemory"):
        async with opened() as memory:
            await memory.add_messages("c", HELLO).or_raise()
            assert isinstance(await memory.get_messages("nobody"), Failure)
            await memory.list_conversations(order="recent").or_raise()
    added, missed, listed = (record for record in caplog.records if record.name == "chatmemory")
    assert added.getMessage() == "add_messages: ok in 0.0 ms"
    expected = {
        "operation": "add_messages",
        "conversation_id": "c",
        "duration_ms": 0.0,
        "outcome": "ok",
        "stored": 1,
        "duplicates": 0,
        "version": 1,
        "history": "idle",
    }
    assert {name: getattr(added, name) for name in expected} == expected
    told = missed.__dict__
    assert (told["outcome"], told["conversation_id"]) == ("ConversationNotFoundError", "nobody")
    told = listed.__dict__
    assert (told["operation"], told["conversations"]) == ("list_conversations", 1)
    assert not [record for record in caplog.records if SECRET in str(record.__dict__)]


def test_past_chats_are_observed_too(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps([{"role": "user", "content": SECRET}]), encoding="utf-8")
    request = IndexRequest(inputs=(str(tmp_path),))
    with (
        caplog.at_level(logging.DEBUG, logger="chatmemory"),
        ManagedRuntime(past_chats_stacks.testing()) as runtime,
    ):
        runtime.run_sync(PastChatsIndexService.use(lambda past: past.index(request))).unwrap()
        runtime.run_sync(PastChatsService.use(lambda past: past.search("密码"))).unwrap()
        runtime.run_sync(PastChatsService.use(lambda past: past.recall("密码"))).unwrap()
        missing = runtime.run_sync(PastChatsService.use(lambda past: past.show("nowhere")))
        assert isinstance(missing, Failure)
        (chat,) = (
            runtime.run_sync(PastChatsService.use(lambda past: past.conversations())).unwrap().conversations
        )
        runtime.run_sync(PastChatsService.use(lambda past: past.turns(chat.conversation_id))).unwrap()
    told = [record.__dict__ for record in caplog.records if record.name == "chatmemory"]
    operations = [one["operation"] for one in told]
    assert operations == ["index", "search", "recall", "show", "conversations", "turns"]
    indexed, found, recalled, missed, listed, read = told
    assert (indexed["files"], indexed["new"], indexed["issues"]) == (1, 1, 0)
    assert (found["hits"], found["mode"]) == (1, "hybrid")
    assert (recalled["exchanges"], recalled["left_out"], recalled["mode"]) == (1, 0, "hybrid")
    assert missed["outcome"] == "PromptNotFoundError"
    assert (listed["conversations"], read["turns"]) == (1, 1)
    assert SECRET not in str(told)
    assert str(tmp_path) not in str(told)


async def test_an_operation_is_one_span_with_numbers(spans: InMemorySpanExporter) -> None:
    async with opened() as memory:
        await traced(memory, spans).add_messages("c", HELLO).or_raise()
    (span,) = spans.get_finished_spans()
    assert span.name == "chatmemory.add_messages"
    assert span.status.status_code is StatusCode.UNSET
    assert dict(span.attributes or {}) == {
        "gen_ai.conversation.id": "c",
        "chatmemory.outcome": "ok",
        "chatmemory.stored": 1,
        "chatmemory.duplicates": 0,
        "chatmemory.version": 1,
        "chatmemory.history": "idle",
    }


async def test_a_typed_failure_names_its_kind_and_what_lies_beneath(spans: InMemorySpanExporter) -> None:
    async with opened() as memory:
        outcome = await traced(memory, spans).get_messages("nobody")
    assert outcome == Failure(ConversationNotFoundError("nobody"))
    busy = GenericMemoryError(RepositoryError("read", "busy", SECRET))
    broken = Stub(ChatMemoryService, count=[Failure(busy)]).service
    assert await traced(broken, spans).count("c") == Failure(busy)
    missed, failed = spans.get_finished_spans()
    assert missed.status.status_code is StatusCode.ERROR
    assert (missed.attributes or {})["error.type"] == "ConversationNotFoundError"
    assert (failed.attributes or {})["error.type"] == "RepositoryError"
    assert (failed.attributes or {})["chatmemory.problem"] == "busy"
    assert "Kugelfisch" not in failed.to_json()


async def test_a_defect_passes_through_and_leaves_only_its_name(spans: InMemorySpanExporter) -> None:
    memory = Stub(ChatMemoryService, count=[raises(ZeroDivisionError(SECRET))]).service
    with pytest.raises(ZeroDivisionError):
        await traced(memory, spans).count("c")
    (span,) = spans.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "ZeroDivisionError"
    assert "Kugelfisch" not in span.to_json()


OPERATIONS: Sequence[Callable[[ChatMemory], Awaitable[Any]]] = [
    lambda memory: memory.add_messages("c", HELLO, expected_version=1),
    lambda memory: memory.get_messages("c", limit=1, view="full"),
    lambda memory: memory.get_page("c", limit=1, older_than=2, view="full"),
    lambda memory: memory.get_conversation("c"),
    lambda memory: memory.list_conversations(limit=1),
    lambda memory: memory.exists("c"),
    lambda memory: memory.count("c", view="full"),
    lambda memory: memory.get_summarization("c", "m1"),
    lambda memory: memory.get_summarizations_of("c", "m1"),
    lambda memory: anext(memory.pages("c", size=1)),
    lambda memory: memory.clear_messages("nobody"),
    lambda memory: memory.remove_newest("nobody"),
]


async def test_every_operation_answers_as_if_nobody_looked(spans: InMemorySpanExporter) -> None:
    for operation in OPERATIONS:
        async with opened() as memory:
            await memory.add_messages("c", HELLO).or_raise()
            assert await operation(traced(memory, spans)) == await operation(memory)
    assert not [span for span in spans.get_finished_spans() if "Kugelfisch" in span.to_json()]


async def test_a_memory_of_ones_own_can_be_observed(caplog: pytest.LogCaptureFixture) -> None:
    own = Layer.mock(ChatMemoryService, count=lambda *_, **__: Effect.succeed(7))
    layer = (own | Layer.succeed(ClockTag, TestClock())) >> observed
    with caplog.at_level(logging.DEBUG, logger="chatmemory"):
        async with ManagedRuntime(layer) as runtime:
            assert await (await runtime.service(ChatMemoryService)).count("c").or_raise() == 7
    assert [record.__dict__["count"] for record in caplog.records if record.name == "chatmemory"] == [7]


PROGRAM = """
import asyncio, sys
{set_up}
from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage
from chatmemory_layers.stacks import past_chats as past_chats_stacks
from chatmemory_layers import stacks

async def main():
    async with ManagedRuntime(stacks.testing()) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("c", [NewMessage("user", "hello")]).or_raise()
        return type(memory).__name__

name = asyncio.run(main())
print({shown})
"""


def shown_by(set_up: str, shown: str) -> str:
    return fresh_python(PROGRAM.format(set_up=set_up, shown=shown)).strip()


def test_when_nobody_looks_nothing_is_between_nor_imported() -> None:
    assert shown_by("", "name, 'opentelemetry' in sys.modules") == "ChatMemoryLive False"
    assert shown_by("import opentelemetry.trace", "name") == "ChatMemoryLive"


@pytest.fixture
def traced_effects(spans: InMemorySpanExporter) -> Context[Any]:
    return Context.of(TracerTag, OpenTelemetryTracer(tracer_to(spans)))


async def test_a_failure_is_an_error_of_its_kind_without_its_text(
    spans: InMemorySpanExporter, traced_effects: Context[Any]
) -> None:
    def explode() -> None:
        raise ValueError(SECRET)

    busy = GenericMemoryError(RepositoryError("read", "busy", SECRET))
    assert await Effect.fail(busy).with_span("busy", {"messages": 3}).provide(traced_effects) == Failure(busy)
    assert await Effect.fail(SECRET).with_span("text").provide(traced_effects) == Failure(SECRET)
    with pytest.raises(ValueError, match="Kugelfisch"):
        await Effect.sync(explode).with_span("died").provide(traced_effects)
    has_begun = asyncio.Event()

    async def wait_forever() -> None:
        has_begun.set()
        await asyncio.Event().wait()

    waiting = asyncio.create_task(
        Effect.promise(wait_forever).with_span("interrupted").provide(traced_effects).or_raise()
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
    assert next((span.attributes or {}).get("messages") for span in spans.get_finished_spans()) == 3
    statuses = {span.name: span.status.status_code for span in spans.get_finished_spans()}
    assert (statuses["busy"], statuses["interrupted"]) == (StatusCode.ERROR, StatusCode.UNSET)
    assert not [span for span in spans.get_finished_spans() if "Kugelfisch" in span.to_json()]


NESTED_SPANS = """
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
    assert json.loads(fresh_python(NESTED_SPANS)) == {"chatmemory.add_messages": "turn", "turn": None}
