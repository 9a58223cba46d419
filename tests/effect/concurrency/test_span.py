"""Spans: which effects ran, within which others, and how they ended."""

from typing import Any

import anyio
import pytest
from attrs import define, field

from chatmemory.effect import (
    Context,
    Die,
    Effect,
    Exit,
    Fail,
    Failure,
    Interrupt,
    Layer,
    ManagedRuntime,
    Span,
    Success,
    TracerTag,
)

pytestmark = pytest.mark.anyio


@define
class NotedSpan:
    name: str
    attributes: Any
    parent: str | None
    exit: Exit[Any, Any] | None = None

    def end(self, exit_: Exit[Any, Any], /) -> None:
        assert self.exit is None, "a span ends once"
        self.exit = exit_


@define
class Notes:
    spans: list[NotedSpan] = field(factory=list)

    def start(self, name: str, attributes: Any, parent: Span | None, /) -> NotedSpan:
        above = parent.name if isinstance(parent, NotedSpan) else None
        self.spans.append(NotedSpan(name, attributes, above))
        return self.spans[-1]

    def context(self) -> Context[Any]:
        return Context.of(TracerTag, self)


async def test_spans_nest_also_through_effects_at_once() -> None:
    notes = Notes()
    inner = Effect.succeed(1).with_span("inner")
    program = Effect.all([inner, inner], concurrency=2).with_span("outer")
    beside = Effect.succeed(2).with_span("beside")
    async with ManagedRuntime(Layer.succeed(TracerTag, notes)) as runtime:
        await runtime.run(program.bind(lambda _: beside))
    assert [(span.name, span.parent) for span in notes.spans] == [
        ("outer", None),
        ("inner", "outer"),
        ("inner", "outer"),
        ("beside", None),
    ]


async def test_a_span_knows_its_attributes_and_how_the_effect_ended() -> None:
    notes = Notes()
    await Effect.succeed(1).with_span("fine", {"messages": 3}).provide(notes.context())
    assert await Effect.fail("no").with_span("failed").provide(notes.context()) == Failure("no")
    with pytest.raises(ZeroDivisionError):
        await Effect.sync(lambda: 1 / 0).with_span("died").provide(notes.context())
    assert await Effect.succeed(1).with_span("unseen") == Success(1)  # by no tracer
    fine, failed, died = notes.spans
    assert (fine.attributes, fine.exit) == ({"messages": 3}, Success(1))
    assert failed.exit == Failure(Fail("no"))
    assert isinstance(died.exit, Failure)
    assert isinstance(died.exit.failure(), Die)


async def test_a_span_of_an_interrupted_effect_ends_too() -> None:
    notes = Notes()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Effect.never().with_span("stuck").provide(notes.context()).run)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    (span,) = notes.spans
    assert isinstance(span.exit, Failure)
    assert span.exit.failure() == Interrupt()
