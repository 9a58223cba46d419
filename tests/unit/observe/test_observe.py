"""What an operator sees: every operation once, with numbers, and never what was said."""

import json
import logging
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Never

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

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
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import ConversationNotFoundError, GenericMemoryError, RepositoryError
from chatmemory.observe.operations import Observed, numbers_of, observed
from chatmemory_layers import stacks
from chatmemory_layers.stacks import past_chats as past_chats_stacks

SECRET = "银行卡密码是 Kugelfisch"  # no number: ids and times of a span are made of digits
HELLO = [NewMessage("user", SECRET, "m1", metadata={"note": SECRET})]


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@asynccontextmanager
async def opened() -> AsyncGenerator[ChatMemory]:
    async with ManagedRuntime(stacks.testing()) as runtime:
        yield await runtime.service(ChatMemoryService)


def traced(memory: ChatMemory, spans: InMemorySpanExporter) -> Any:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    return Observed(memory, ChatMemory, TestClock(), provider.get_tracer("chatmemory"), numbers_of)


async def test_when_nobody_looks_nothing_is_between() -> None:
    async with opened() as memory:
        assert not isinstance(memory, Observed)


async def test_debug_records_are_enough_to_be_observed(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="chatmemory"):
        async with opened() as memory:
            await memory.add_messages("c", HELLO).or_raise()
            assert isinstance(await memory.get_messages("nobody"), Failure)
    added, missed = (record for record in caplog.records if record.name == "chatmemory")
    assert added.getMessage() == "add_messages: ok in 0.0 ms"
    fields = {
        "operation",
        "conversation_id",
        "duration_ms",
        "outcome",
        "stored",
        "duplicates",
        "version",
        "history",
    }
    assert {name: getattr(added, name) for name in fields} == {
        "operation": "add_messages",
        "conversation_id": "c",
        "duration_ms": 0.0,
        "outcome": "ok",
        "stored": 1,
        "duplicates": 0,
        "version": 1,
        "history": "idle",
    }
    assert missed.__dict__["outcome"] == "ConversationNotFoundError"
    assert missed.__dict__["conversation_id"] == "nobody"
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
    assert [one["operation"] for one in told] == [
        "index",
        "search",
        "recall",
        "show",
        "conversations",
        "turns",
    ]
    indexed, found, recalled, missed, listed, read = told
    assert (indexed["files"], indexed["new"], indexed["issues"]) == (1, 1, 0)
    assert (found["hits"], found["mode"]) == (1, "hybrid")
    assert (recalled["exchanges"], recalled["left_out"], recalled["mode"]) == (1, 0, "hybrid")
    assert missed["outcome"] == "PromptNotFoundError"
    assert (listed["conversations"], read["turns"]) == (1, 1)
    assert SECRET not in str(told)
    assert str(tmp_path) not in str(told)


async def test_of_a_list_it_is_told_how_long_it_is(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="chatmemory"):
        async with opened() as memory:
            await memory.add_messages("会议", HELLO).or_raise()
            await memory.list_conversations(order="recent").or_raise()
    _, listed = (record.__dict__ for record in caplog.records if record.name == "chatmemory")
    assert (listed["operation"], listed["conversations"]) == ("list_conversations", 1)


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


async def test_a_typed_failure_is_an_error_of_its_kind(spans: InMemorySpanExporter) -> None:
    async with opened() as memory:
        outcome = await traced(memory, spans).get_messages("nobody")
    assert outcome == Failure(ConversationNotFoundError("nobody"))
    (span,) = spans.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert (span.attributes or {})["error.type"] == "ConversationNotFoundError"


async def test_what_lies_beneath_is_named(spans: InMemorySpanExporter) -> None:
    busy = GenericMemoryError(RepositoryError("read", "busy", SECRET))
    memory: Any = Broken(lambda: Effect.fail(busy))
    assert await traced(memory, spans).count("c") == Failure(busy)
    (span,) = spans.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "RepositoryError"
    assert (span.attributes or {})["chatmemory.problem"] == "busy"
    assert "Kugelfisch" not in span.to_json()


async def test_a_defect_passes_through_and_leaves_only_its_name(spans: InMemorySpanExporter) -> None:
    def explode() -> Never:
        raise ZeroDivisionError(SECRET)

    memory: Any = Broken(lambda: Effect.sync(explode))
    with pytest.raises(ZeroDivisionError):
        await traced(memory, spans).count("c")
    (span,) = spans.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "ZeroDivisionError"
    assert "Kugelfisch" not in span.to_json()


class Broken:
    def __init__(self, answer: Callable[[], Effect[Any, Any]]) -> None:
        self.answer = answer

    def count(self, conversation_id: str, *, view: str = "model") -> Effect[Any, Any]:
        return self.answer()


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


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_every_operation_answers_as_if_nobody_looked(
    operation: Callable[[ChatMemory], Awaitable[Any]], spans: InMemorySpanExporter
) -> None:
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
    program = PROGRAM.format(set_up=set_up, shown=shown)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_who_sets_up_tracing_before_opening_gets_spans() -> None:
    set_up = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
spans = InMemorySpanExporter()
trace.set_tracer_provider(TracerProvider())
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(spans))
"""
    assert (
        shown_by(set_up, "[span.name for span in spans.get_finished_spans()]")
        == "['chatmemory.add_messages']"
    )


def test_who_does_not_use_opentelemetry_does_not_import_it() -> None:
    assert shown_by("", "name, 'opentelemetry' in sys.modules") == "ChatMemoryLive False"


def test_opentelemetry_without_a_tracer_provider_costs_nothing() -> None:
    assert shown_by("import opentelemetry.trace", "name") == "ChatMemoryLive"
