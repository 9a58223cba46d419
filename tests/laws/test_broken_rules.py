"""The laws catch a wrong rule, too: every store goes by the same decisions, and so does the model of L21.

Each decision is broken here in one way, for the store in memory, and caught by a law that says by itself what has to be.
"""

import operator
from collections.abc import Callable
from datetime import UTC, datetime
from pkgutil import resolve_name
from typing import Any, TypeAlias

import pytest
from attrs import evolve

from chatmemory.conversation import changes
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Layer
from chatmemory.laws import LawBrokenError, MessageRepositoryLaws
from chatmemory_layers.in_memory.database import Database
from chatmemory_layers.in_memory.message_repository import InMemoryMessageRepository
from tests.laws.breaking import law_of

Rule: TypeAlias = Callable[..., Any]


def keeps(name: str) -> Callable[[Rule], Rule]:
    """Break a change of state: this fact of it, or of its conversation, stays as it was."""

    def broken(rule: Rule) -> Rule:
        def change(state: ConversationState, *facts: Any, **named: Any) -> ConversationState:
            after: ConversationState = rule(state, *facts, **named)
            if hasattr(state, name):
                return evolve(after, **{name: getattr(state, name)})
            stale = {name: getattr(state.conversation, name)}
            return evolve(after, conversation=evolve(after.conversation, **stale))

        return change

    return broken


def answers(value: object) -> Callable[[Rule], Rule]:
    return lambda _: lambda *facts, **named: value


def expects_nothing(rule: Rule) -> Rule:
    return lambda state, known, batch, who: rule(state, known, evolve(batch, expected_version=None), who)


def takes_the_first_place(rule: Rule) -> Rule:
    def decide(state: ConversationState, covered: Any, summary: Any, **facts: Any) -> Any:
        decision = rule(state, covered, summary, **facts)
        is_made = isinstance(decision, changes.SummaryDecision)
        return evolve(decision, place=min(message.place for message in covered)) if is_made else decision

    return decide


def becomes(**wrong: Any) -> Callable[[Rule], Rule]:
    """Break a clear: what it leaves has these facts."""
    return lambda rule: (
        lambda state, **facts: evolve(decision := rule(state, **facts), state=evolve(decision.state, **wrong))
    )


CHANGES = "chatmemory.conversation.changes"
HISTORY = "chatmemory.conversation.history"
COUNTED = ("version", "message_count", "view_count", "view_tokens", "open_count", "updated_at")

WRONG_RULES: list[tuple[str, Callable[[Rule], Rule], str]] = [
    # What an append stores, repeats or refuses.
    (f"{CHANGES}:_repeats", answers(True), "l2_atomic_batch"),
    (f"{CHANGES}:_repeats", answers(False), "l12_retry"),
    (f"{CHANGES}:same_json", answers(True), "l2_atomic_batch"),
    (f"{CHANGES}:same_json", lambda _: operator.eq, "l12_retry"),
    (f"{HISTORY}:History.known", answers({}), "l12_retry"),
    (f"{HISTORY}:decide_append", expects_nothing, "l2_atomic_batch"),
    # What the counts become.
    (f"{CHANGES}:_extended", keeps("next_seq"), "l1_append"),
    *((f"{CHANGES}:_extended", keeps(fact), "l25_counts") for fact in (*COUNTED, "created_at")),
    *((f"{CHANGES}:rewritten", keeps(fact), "l25_counts") for fact in COUNTED),
    # What a summary and a removal may do.
    (f"{CHANGES}:rewritten", keeps("rewritten_at_version"), "l14_coverage_is_guarded"),
    (f"{HISTORY}:decide_summary", takes_the_first_place, "l14_coverage_keeps_its_place"),
    # What a clear leaves.
    (f"{HISTORY}:decide_clear", becomes(next_seq=1), "l4_clear"),
    (f"{HISTORY}:decide_clear", becomes(rewritten_at_version=0), "l14_coverage_is_guarded"),
    # Since when everything is kept.
    (f"{CHANGES}:rewritten", keeps("kept_since_version"), "l27_past_of_what_was_removed"),
    (f"{CHANGES}:rewritten", keeps("kept_since"), "l27_past_of_what_was_removed"),
    (f"{HISTORY}:decide_clear", becomes(kept_since_version=0), "l27_past_of_what_was_removed"),
    (f"{HISTORY}:decide_clear", becomes(kept_since=None), "l27_past_of_what_was_removed"),
    # When history work is queued, and when it goes.
    (f"{CHANGES}:is_due", answers(True), "w1_outbox"),
    (f"{CHANGES}:is_due", answers(False), "w1_outbox"),
    (f"{CHANGES}:_extended", keeps("has_work"), "w1_outbox"),
    (f"{CHANGES}:rewritten", keeps("has_work"), "w1_outbox"),
    (f"{HISTORY}:is_due", answers(True), "w3_settle"),
    (f"{HISTORY}:is_due", answers(False), "w3_settle"),
    (f"{HISTORY}:latest_end", answers(datetime.max.replace(tzinfo=UTC)), "w4_wrong_clock"),
]


@pytest.mark.parametrize(("rule", "broken", "case"), WRONG_RULES)
def test_a_wrong_rule_is_caught_by_the_law_that_it_breaks(
    rule: str, broken: Callable[[Rule], Rule], case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule.replace(":", "."), broken(resolve_name(rule)))
    laws = MessageRepositoryLaws()
    laws.repository = Layer.sync(MessageRepositoryTag, lambda: InMemoryMessageRepository(Database()))
    with pytest.raises(LawBrokenError) as caught:
        getattr(laws, f"test_{case}")()
    assert caught.value.law.startswith(f"{law_of(case)} ")
