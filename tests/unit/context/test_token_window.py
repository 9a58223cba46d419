"""Tokens are estimated, the newest messages are kept, and no tool call is parted from its result."""

import json
from collections.abc import Sequence
from types import MappingProxyType

from chatmemory.context.chat_context import ContextMessage, ContextRole
from chatmemory.context.context_assembly import TokenWindow, exchanges, is_whole, token_window
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.token_counter import EstimatedTokens, estimate
from chatmemory.input.json_value import AS_GIVEN, JsonObject
from tests.for_each import for_each


def message(role: ContextRole, content: str = "", metadata: JsonObject | None = None) -> ContextMessage:
    return ContextMessage(role, content, metadata, id=content)


def calls(*ids: str, content: str = "call") -> ContextMessage:
    made = [{"id": call, "function": {"name": "search"}} for call in ids]
    return message("assistant", content, {"tool_calls": made})


def result(call: str) -> ContextMessage:
    return message("tool", f"result of {call}", {"tool_call_id": call})


def window(messages: Sequence[ContextMessage], room: int) -> TokenWindow:
    """Each message has a size of 1."""
    return token_window(messages, size=lambda _: 1, room=room)


QUESTION, ANSWER, NEXT = message("user", "几点？"), message("assistant", "三点。"), message("user", "谢谢")


def test_the_newest_are_kept_in_their_order_without_a_gap_where_an_older_one_would_fit() -> None:
    assert window([QUESTION, ANSWER, NEXT], 2) == TokenWindow((ANSWER, NEXT), (QUESTION,), ())
    assert window([QUESTION, ANSWER, NEXT], 3).kept == (QUESTION, ANSWER, NEXT)
    assert window([QUESTION, ANSWER, NEXT], 0).kept == ()
    found = token_window([QUESTION, ANSWER, NEXT], size=lambda m: 9 if m is ANSWER else 1, room=5)
    assert found == TokenWindow((NEXT,), (QUESTION, ANSWER), ())


@for_each(("room", "kept"), [(3, 0), (4, 3), (5, 4)])
def test_a_call_falls_with_its_results_and_they_with_it(room: int, kept: int) -> None:
    exchange = [calls("a", "b"), result("a"), result("b")]
    found = window([QUESTION, *exchange, NEXT], room)
    assert found.kept == (*([QUESTION, *exchange][4 - kept :]), NEXT)
    assert found.parted == ()


@for_each(
    "parted",
    [
        [result("a")],
        [QUESTION, result("a")],
        [calls("a")],
        [calls("a", "b"), result("a")],
        [calls("a"), result("b")],
        [calls("a"), result("a"), result("a")],
        [calls("a"), NEXT, result("a")],
        [message("assistant", "x", {"toolCalls": [{"id": "a"}]})],
        [calls("a", "b"), message("tool", "one result for two calls")],
    ],
)
def test_what_a_model_would_refuse_is_left_out_and_told(parted: list[ContextMessage]) -> None:
    found = window([*parted, ANSWER], 100)
    assert list(found.kept) == [*(said for said in parted if said.role == "user"), ANSWER]
    assert list(found.parted) == [said for said in parted if said.role != "user"]
    assert found.without_room == ()


@for_each(
    "whole",
    [
        [calls("a", "b"), result("b"), result("a")],
        [message("assistant", "x", {"toolCalls": [{"id": "a"}]}), message("tool", "y", {"toolCallId": "a"})],
        [calls("a"), message("tool", "names no call")],
        [message("assistant", "names no calls"), result("a"), result("b")],
        [message("assistant", "no calls", {"tool_calls": []})],
        [message("assistant", "no calls", {"tool_calls": None})],
    ],
)
def test_results_belong_to_their_call_by_name_or_by_place(whole: list[ContextMessage]) -> None:
    assert [tuple(whole)] == exchanges(whole)
    assert is_whole(tuple(whole))


def test_metadata_of_another_shape_harms_nothing() -> None:
    for strange in ({"tool_calls": "all"}, {"tool_calls": [1, None]}, {"tool_calls": {"id": "a"}}):
        window([message("assistant", "x", strange), NEXT], 5)


EXPECTED = {
    "": 0,
    "a": 1,
    "abcd": 1,
    "abcde": 2,
    "我们在哪里见面？": 8,
    "我用 Python 写代码。": 6 + 2,
    "café naïve": 4,
    "你" * 1000: 1000,
    "𠀀": 1,
    "한국어": 3,
}


def test_text_is_counted_by_its_script_and_a_message_is_at_least_one_token() -> None:
    assert {text: estimate(text) for text in EXPECTED} == EXPECTED
    assert EstimatedTokens().count(NewMessage("user", "")) == 1


def test_metadata_counts_by_its_json_text() -> None:
    text = '{"tool_calls": [{"name": "search", "arguments": {"query": "天气"}}]}'
    read_only = MappingProxyType({"name": "search", "arguments": MappingProxyType({"query": "天气"})})
    for metadata in (json.loads(text), MappingProxyType({"tool_calls": (read_only,)})):
        counted = EstimatedTokens().count(NewMessage("assistant", "abcd", metadata=metadata))
        assert counted == 1 + estimate(text)


def test_what_an_adapter_keeps_beside_the_content_is_not_counted_twice() -> None:
    kept = {AS_GIVEN: {"someFramework": {"role": "user", "content": "abcd"}}}
    assert EstimatedTokens().count(NewMessage("user", "abcd", metadata=kept)) == 1
    both = {"name": "search", **kept}
    assert EstimatedTokens().count(NewMessage("user", "abcd", metadata=both)) == 1 + estimate(
        '{"name": "search"}'
    )
