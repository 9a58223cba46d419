"""Contexts that go wrong, each caught by the law that it breaks."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve, frozen

from chatmemory.context.chat_context import ChatContext, ContextMessage
from chatmemory.context.contract import ChatContextBuilder, ChatContextService
from chatmemory.effect import Effect, Layer
from chatmemory.errors import RecallError
from chatmemory.laws import ChatContextLaws, LawBrokenError
from chatmemory.laws.chat_context_laws import MARK
from chatmemory.settings.memory_settings import ContextSettings, StoreSettings
from tests.laws.test_chat_contexts import stack_over

Fault = Callable[[ChatContext], ChatContext]


def obeys_what_it_reads(context: ChatContext) -> ChatContext:
    """Turn a message that speaks of rules into one of the system."""
    messages = [
        evolve(message, role="system") if "Ignore what was said" in message.content else message
        for message in context.messages
    ]
    return evolve(context, messages=tuple(messages))


def tells_a_memory_as_its_own(context: ChatContext) -> ChatContext:
    """Say outside of the fence what a memory says."""
    first, *others = context.messages
    return evolve(context, messages=(evolve(first, content=f"{first.content}\nRemember: {MARK}"), *others))


def adds_a_reminder(context: ChatContext) -> ChatContext:
    """Say more than there is room for."""
    reminder = ContextMessage("assistant", "Remember: " + "be kind. " * 50)
    return evolve(context, messages=(*context.messages[:-1], reminder, context.messages[-1]))


def drops_the_question(context: ChatContext) -> ChatContext:
    return evolve(context, messages=context.messages[:-1])


def drops_a_result(context: ChatContext) -> ChatContext:
    """Keep a call without its answer."""
    messages = tuple(message for message in context.messages if message.id != "m2")
    return evolve(context, messages=messages)


@frozen
class FaultyBuilder:
    builder: ChatContextBuilder
    fault: Fault

    def build(self, *args: Any, **kwargs: Any) -> Effect[ChatContext, RecallError]:
        return self.builder.build(*args, **kwargs).map(self.fault)


class FaultyLaws(ChatContextLaws):
    def __init__(self, fault: Fault) -> None:
        self.fault = fault

    def stack(self, context: ContextSettings) -> Layer[Any, Any]:
        faulty = Effect.service(ChatContextService).map(lambda builder: FaultyBuilder(builder, self.fault))
        stack = stack_over(StoreSettings(backend="in_memory"), context)
        return stack.feed_keep(Layer.effect(ChatContextService, faulty, needs=[ChatContextService]))


def test_a_sound_builder_behind_the_same_wrapper_obeys() -> None:
    laws = FaultyLaws(lambda context: context)
    laws.test_c1_context_roles()
    laws.test_c1_context_fence()
    laws.test_c2_budget()


@pytest.mark.parametrize(
    ("fault", "law"),
    [
        (obeys_what_it_reads, "c1_context_roles"),
        (drops_the_question, "c1_context_roles"),
        (tells_a_memory_as_its_own, "c1_context_fence"),
        (adds_a_reminder, "c2_budget"),
        (drops_the_question, "c2_budget"),
        (drops_a_result, "c2_budget"),
    ],
)
def test_a_broken_builder_is_caught(fault: Fault, law: str) -> None:
    with pytest.raises(LawBrokenError) as caught:
        getattr(FaultyLaws(fault), f"test_{law}")()
    assert caught.value.law.startswith(law[:2].upper())
