"""The estimate of how large a message is for a model."""

import json
from types import MappingProxyType

from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.token_counter import EstimatedTokens, estimate
from chatmemory.input.json_value import AS_GIVEN

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
