"""The laws of a context: C1, that no text decides about its messages, and C2, that it never exceeds its budget."""

import json
import re
import zlib
from collections.abc import Sequence
from random import Random
from typing import final

from attrs import evolve, frozen
from hypothesis import given, settings, strategies as st

from chatmemory.context.chat_context import ChatContext, ContextMessage, Instructions
from chatmemory.context.context_assembly import ContextAssembly, Materials, exchanges, is_whole
from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.token_counter import EstimatedTokens, TokenCounter
from chatmemory.effect import Failure, Outcome
from chatmemory.errors import DataValidationError
from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject
from chatmemory.laws.kit.samples import TEXTS
from chatmemory.settings.memory_settings import ContextSettings
from chatmemory.text.fence import fresh_fence
from tests.injections import injections
from tests.remembered import SPRING_FESTIVAL, memory_of
from tests.thorough import rounds

SEED = 1
HOSTILE = [text for text in injections(fence=fresh_fence([], Random(SEED))).values() if len(text) < 1000]
texts = st.sampled_from([*TEXTS[:-1], *HOSTILE]) | st.text(st.characters(codec="utf-8"), max_size=40)

Entry = tuple[Role, JsonObject | None]
CALL: Entry = ("assistant", {"tool_calls": [{"id": "a"}, {"id": "b"}]})
ENTRIES: list[Entry] = [
    ("user", None),
    ("assistant", None),
    ("system", None),
    ("summary", {"summaryMetadataId": "x"}),
    CALL,
    ("tool", {"tool_call_id": "a"}),
    ("tool", {"tool_call_id": "b"}),
]
EXCHANGE: list[Entry] = [CALL, ENTRIES[-2], ENTRIES[-1]]


@final
@frozen
class Shape:
    """Everything about a context but what its texts say."""

    entries: Sequence[Entry]
    memories: int
    instructions: Instructions
    settings: ContextSettings

    def filled(self, words: Sequence[str]) -> Materials:
        """Give each message and each memory its text; the last one is the user's."""
        assert len(words) == self.size
        said = [
            ChatMessage(f"m{index}", index, role, words[index], SPRING_FESTIVAL, metadata)
            for index, (role, metadata) in enumerate(self.entries)
        ]
        recalled = words[len(said) : -1]
        memories = [memory_of(text, f"r{index}", key=text) for index, text in enumerate(recalled)]
        return Materials(self.instructions, memories, said, ContextMessage("user", words[-1]))

    @property
    def size(self) -> int:
        return len(self.entries) + self.memories + 1


def shapes(*, largest_budget: int) -> st.SearchStrategy[Shape]:
    entries = st.lists(st.sampled_from(ENTRIES).map(lambda entry: [entry]) | st.just(EXCHANGE), max_size=8)
    return st.builds(
        Shape,
        entries.map(lambda parts: [entry for part in parts for entry in part]),
        st.integers(0, 5),
        st.sampled_from([Instructions(), Instructions(system="Be kind."), Instructions(profile="小明")]),
        st.builds(
            ContextSettings,
            tokens=st.integers(1, largest_budget),
            memory_share=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
            memory_role=st.sampled_from(["system", "user"]),
        ),
    )


def words_for(shape: Shape) -> st.SearchStrategy[list[str]]:
    return st.lists(texts, min_size=shape.size, max_size=shape.size)


class OneForEach:
    """A counter to which all texts are alike."""

    def count(self, _message: NewMessage | ChatMessage, /) -> int:
        return 1


class Compressed:
    """A counter for which a whole is less than its parts, as for a tokenizer that merges across their borders."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        return len(zlib.compress(f"{message.content}{message.metadata}".encode()))


def assembled(
    shape: Shape, words: Sequence[str], tokens: TokenCounter
) -> Outcome[ChatContext, DataValidationError]:
    return ContextAssembly(shape.settings, tokens, Random(SEED)).assemble(shape.filled(words))


def roles(context: ChatContext) -> list[str]:
    return [message.role for message in context.messages]


@settings(max_examples=rounds(25, thorough=300))
@given(st.data())
def test_c1_no_text_decides_about_number_and_roles(data: st.DataObject) -> None:
    shape = data.draw(shapes(largest_budget=25))
    first, second = (assembled(shape, data.draw(words_for(shape)), OneForEach()) for _ in range(2))
    if isinstance(first, Failure):
        assert isinstance(second, Failure)
        return
    one, other = first.unwrap(), second.unwrap()
    assert roles(one) == roles(other)
    assert (one.memory_ids, one.left_out, one.tokens) == (other.memory_ids, other.left_out, other.tokens)


@settings(max_examples=rounds(25, thorough=300))
@given(st.data())
def test_c1_the_fence_never_occurs_inside_the_data(data: st.DataObject) -> None:
    # No free text but in memories and summaries, so that every mark is one of the builder's.
    shape = data.draw(shapes(largest_budget=1))
    shape = evolve(
        shape,
        entries=[entry for entry in shape.entries if entry[0] == "summary"],
        settings=evolve(shape.settings, tokens=10**9),
    )
    words = data.draw(words_for(shape))
    context = assembled(shape, [*words[:-1], "你好"], EstimatedTokens()).unwrap()
    whole = "\n".join(message.content for message in context.messages)
    marks = re.findall(r"</?recalled-data ([0-9a-f]{16})>", whole)
    blocks = len(shape.entries) + bool(context.memory_ids)
    assert len(marks) == whole.count("<recalled-data") + whole.count("</recalled-data") == 2 * blocks
    for fence in set(marks):
        assert whole.count(fence) == marks.count(fence)
    lines = [json.loads(line) for line in whole.split("\n") if line.startswith("{")]
    assert len(lines) == len(shape.entries) + len(context.memory_ids)


@settings(max_examples=rounds(40, thorough=500))
@given(st.data(), st.sampled_from([EstimatedTokens(), Compressed(), OneForEach()]))
def test_c2_the_budget_is_kept_and_the_user_is_heard(data: st.DataObject, tokens: TokenCounter) -> None:
    shape = data.draw(shapes(largest_budget=data.draw(st.sampled_from([20, 200, 2000, 10**6]))))
    words = data.draw(words_for(shape))
    materials, outcome = shape.filled(words), assembled(shape, words, tokens)
    policy = [message for message in materials.said if message.role == "system"]
    roomy = evolve(shape.settings, tokens=10**9)
    least = ContextAssembly(roomy, tokens, Random(SEED)).assemble(evolve(materials, memories=[], said=policy))
    if isinstance(outcome, Failure):
        assert least.unwrap().tokens > shape.settings.tokens
        return
    context = outcome.unwrap()
    assert least.unwrap().tokens <= shape.settings.tokens
    assert context.messages[-1].content == words[-1]
    counted = [NewMessage(said.role, said.content, metadata=said.metadata) for said in context.messages]
    assert context.tokens == sum(map(tokens.count, counted)) <= shape.settings.tokens


@settings(max_examples=rounds(25, thorough=300))
@given(st.data())
def test_c2_whatever_is_missing_is_told_and_no_tool_call_is_parted(data: st.DataObject) -> None:
    shape = data.draw(shapes(largest_budget=3000))
    words = data.draw(words_for(shape))
    outcome = assembled(shape, words, EstimatedTokens())
    if isinstance(outcome, Failure):
        return
    context = outcome.unwrap()
    assert "system" not in roles(context)[1:]
    window = [message for message in context.messages if message.id is not None]
    assert all(map(is_whole, exchanges(window)))
    there = [message.id for message in window] + list(context.memory_ids)
    given_ids = [f"m{index}" for index, (role, _) in enumerate(shape.entries) if role != "system"]
    given_ids += [f"r{index}" for index in range(shape.memories)]
    assert sorted([*there, *(left.id for left in context.left_out)]) == sorted(given_ids)
    # Nothing newer than a kept message was left out for want of room.
    fallen = [left.id for left in context.left_out if left.kind == "message" and left.reason == "budget"]
    order = {message_id: place for place, message_id in enumerate(given_ids)}
    assert max((order[left] for left in fallen), default=-1) < min(
        (order[message.id] for message in window if message.id), default=len(order)
    )
