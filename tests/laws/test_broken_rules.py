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

Rule: TypeAlias = Callable[..., Any]


def keeps(*names: str) -> Callable[[Rule], Rule]:
    """Break a change of state: these facts of the conversation stay as they were."""

    def broken(rule: Rule) -> Rule:
        def change(state: ConversationState, *facts: Any, **named: Any) -> ConversationState:
            after = rule(state, *facts, **named)
            stale = {name: getattr(state.conversation, name) for name in names}
            return evolve(after, conversation=evolve(after.conversation, **stale))

        return change

    return broken


def keeps_state(name: str) -> Callable[[Rule], Rule]:
    """Break a change of state: this fact stays as it was."""

    def broken(rule: Rule) -> Rule:
        def change(state: ConversationState, *facts: Any, **named: Any) -> ConversationState:
            return evolve(rule(state, *facts, **named), **{name: getattr(state, name)})

        return change

    return broken


def answers(value: object) -> Callable[[Rule], Rule]:
    return lambda _: lambda *facts, **named: value


def expects_nothing(rule: Rule) -> Rule:
    return lambda state, known, batch, who: rule(state, known, evolve(batch, expected_version=None), who)


def plans_now(rule: Rule) -> Rule:
    def decide(state: ConversationState, covered: Any, summary: Any, **facts: Any) -> Any:
        now = evolve(summary, planned_at_version=state.conversation.version)
        return rule(state, covered, now, **facts)

    return decide


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

WRONG_RULES: list[tuple[str, Callable[[Rule], Rule], str, str]] = [
    # What an append stores, repeats or refuses.
    (f"{CHANGES}:_repeats", answers(True), "test_l2_atomic_batch", "L2 atomic batch"),
    (f"{CHANGES}:_repeats", answers(False), "test_l12_retry", "L12 retry"),
    (f"{CHANGES}:same_json", answers(True), "test_l2_atomic_batch", "L2 atomic batch"),
    (f"{CHANGES}:same_json", lambda _: operator.eq, "test_l12_retry", "L12 retry"),
    (f"{HISTORY}:History.known", answers({}), "test_l12_retry", "L12 retry"),
    (f"{HISTORY}:decide_append", expects_nothing, "test_l2_atomic_batch", "L2 atomic batch"),
    (f"{HISTORY}:decide_append", expects_nothing, "test_l7_race_for_a_version", "L7 race"),
    # What the counts become.
    (f"{CHANGES}:_extended", keeps_state("next_seq"), "test_l1_append", "L1 append"),
    (f"{CHANGES}:_extended", keeps("version"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:_extended", keeps("message_count"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:_extended", keeps("view_count"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:_extended", keeps("view_tokens"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:_extended", keeps("open_count"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:_extended", keeps("created_at"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:_extended", keeps("updated_at"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:rewritten", keeps("version"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:rewritten", keeps("message_count"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:rewritten", keeps("view_count"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:rewritten", keeps("view_tokens"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:rewritten", keeps("open_count"), "test_l25_counts", "L25 counts"),
    (f"{CHANGES}:rewritten", keeps("updated_at"), "test_l25_counts", "L25 counts"),
    # What a summary and a removal may do.
    (f"{HISTORY}:decide_summary", plans_now, "test_l14_coverage_is_guarded", "L14 coverage"),
    (
        f"{CHANGES}:rewritten",
        keeps_state("rewritten_at_version"),
        "test_l14_coverage_is_guarded",
        "L14 coverage",
    ),
    (f"{HISTORY}:decide_summary", takes_the_first_place, "test_l14_coverage_keeps_its_place", "L14 coverage"),
    # What a clear leaves.
    (f"{HISTORY}:decide_clear", becomes(next_seq=1), "test_l4_clear", "L4 clear"),
    (
        f"{HISTORY}:decide_clear",
        becomes(rewritten_at_version=0),
        "test_l14_coverage_is_guarded",
        "L14 coverage",
    ),
    # Since when everything is kept.
    (
        f"{CHANGES}:rewritten",
        keeps_state("kept_since_version"),
        "test_l27_past_of_what_was_removed",
        "L27 past",
    ),
    (f"{CHANGES}:rewritten", keeps_state("kept_since"), "test_l27_past_of_what_was_removed", "L27 past"),
    (
        f"{HISTORY}:decide_clear",
        becomes(kept_since_version=0),
        "test_l27_past_of_what_was_removed",
        "L27 past",
    ),
    (f"{HISTORY}:decide_clear", becomes(kept_since=None), "test_l27_past_of_what_was_removed", "L27 past"),
    # When history work is queued, and when it goes.
    (f"{CHANGES}:is_due", answers(True), "test_w1_outbox", "W1 outbox"),
    (f"{CHANGES}:is_due", answers(False), "test_w1_outbox", "W1 outbox"),
    (f"{CHANGES}:_extended", keeps_state("has_work"), "test_w1_outbox", "W1 outbox"),
    (f"{CHANGES}:rewritten", keeps_state("has_work"), "test_w1_outbox", "W1 outbox"),
    (f"{HISTORY}:is_due", answers(True), "test_w3_settle", "W3 settle"),
    (f"{HISTORY}:is_due", answers(False), "test_w3_settle", "W3 settle"),
    (
        f"{HISTORY}:latest_end",
        answers(datetime.max.replace(tzinfo=UTC)),
        "test_w4_wrong_clock",
        "W4 wrong clock",
    ),
]


@pytest.mark.parametrize(("rule", "broken", "case", "law"), WRONG_RULES)
def test_a_wrong_rule_is_caught_by_the_law_that_it_breaks(
    rule: str, broken: Callable[[Rule], Rule], case: str, law: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule.replace(":", "."), broken(resolve_name(rule)))
    laws = MessageRepositoryLaws()
    laws.repository = Layer.sync(MessageRepositoryTag, lambda: InMemoryMessageRepository(Database()))
    with pytest.raises(LawBrokenError) as caught:
        getattr(laws, case)()
    assert str(caught.value).startswith(f"{law}: ")
