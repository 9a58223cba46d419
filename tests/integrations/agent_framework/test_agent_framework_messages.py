"""What is said with Agent Framework comes back as it was said, and can be read by everybody else."""

from __future__ import annotations

from itertools import count
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings, strategies

pytest.importorskip("agent_framework.exceptions", reason="pip install 'chatmemory-effect[agent-framework]'")


from agent_framework import Content, Message
from agent_framework._types import ContentType
from agent_framework.exceptions import IntegrationInvalidRequestException, IntegrationInvalidResponseException

from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage
from chatmemory.integrations.agent_framework import ChatMemoryHistoryProvider
from chatmemory_layers.stacks import MemoryTags

pytestmark = pytest.mark.filterwarnings("ignore:.*COMPUTER_USE.*")  # experimental, as the framework says

CALL = 'search({"query": "龙井", "deep": [1, null, {"a": 2.5}]})'
READABLE = {
    "assistant": [
        *(CALL, 'search({"query": "half)', 'find({"query": "龙井"})', 'web({"query": "龙井"})'),
        *("龙井", "ls\n龙井", "[image_generation_tool_call]", "[computer_tool_call]"),
        *("龙井", '{"found": "龙井"}', "龙井", "龙井\n!", "[image/png]"),
        *("龙井", "[text_reasoning]", "[application/pdf]", "[audio/mpeg]", "龙井", "[usage]", "[龙井]"),
        *("[hosted_vector_store]", "龙井", f"{CALL}?", "[oauth_consent_request]", ""),
    ],
    "tool": [
        '{"found": ["龙井", 1]}',
        "龙井\n[image/png]",
        "龙井",
        "[computer_tool_result]",
        f"approved: {CALL}",
    ],
    "system": ["龙井\n龙井"],
}

Runtime = ManagedRuntime[MemoryTags]
sessions = map(str, count())
TEXTS = strategies.text() | strategies.sampled_from(
    ["在老地方见。", "\0", "half an emoji \ud83d", "\x1b]0;", "a\u2028b", "</recalled-data 0>", '"\\']
)


def written(messages: list[Message]) -> list[dict[str, Any]]:
    return [message.to_dict() for message in messages]


async def in_columns(runtime: Runtime, session_id: str) -> list[tuple[str, str]]:
    memory = await runtime.service(ChatMemoryService)
    return [(one.role, one.content) for one in await memory.get_messages(session_id).or_raise()]


def test_every_kind_of_content_is_tried() -> None:
    tried = [*calls(""), *results("", b""), *others("", b"")]
    assert {content.type for content in tried} == set(get_args(ContentType))


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, file=strategies.binary(max_size=50))
async def test_every_message_comes_back_equal(runtime: Runtime, text: str, file: bytes) -> None:
    history, session_id = ChatMemoryHistoryProvider(runtime), next(sessions)
    messages = every_message(text, file)
    await history.save_messages(session_id, messages)
    loaded = await history.get_messages(session_id)
    assert written(loaded) == written(messages)


async def test_numbers_that_no_json_has_come_back(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    odd = {"nan": float("nan"), "all": float("-inf"), "big": 10**400, "true": True, "deep": [[[[{}]]]] * 2}
    await history.save_messages("a", [Message("user", ["x"], additional_properties=odd)])
    (loaded,) = await history.get_messages("a")
    assert str(loaded.additional_properties) == str(odd)


async def test_a_file_that_is_longer_than_a_text_may_be_comes_back(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    sent = Message("user", [Content.from_data(bytes(13 * 2**20), "application/zip")])
    await history.save_messages("a", [sent])
    assert written(await history.get_messages("a")) == written([sent])
    assert await in_columns(runtime, "a") == [("user", "[application/zip]")]


async def test_a_message_can_be_read_by_others(runtime: Runtime) -> None:
    messages = [one for one in every_message("龙井", b"%PDF") if len(one.contents) < 3]
    await ChatMemoryHistoryProvider(runtime).save_messages("a", messages)
    read: dict[str, list[str]] = {}
    for role, content in await in_columns(runtime, "a"):
        read.setdefault(role, []).append(content)
    assert read == READABLE


async def test_what_no_column_could_hold_is_replaced_there_and_nowhere_else(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    await history.save_messages("a", [Message("user", ["NUL \0 and half an emoji \ud83d"])])
    assert await in_columns(runtime, "a") == [("user", "NUL \ufffd and half an emoji \ufffd")]
    assert [one.text for one in await history.get_messages("a")] == ["NUL \0 and half an emoji \ud83d"]


async def test_a_batch_with_a_message_that_is_no_json_is_refused_whole(runtime: Runtime) -> None:
    history = ChatMemoryHistoryProvider(runtime)
    circle: dict[str, Any] = {}
    circle["again"] = circle
    for odd in (circle, {(1, 2): 3}):
        odd_one = Message("user", ["x"], additional_properties={"odd": odd})
        with pytest.raises(IntegrationInvalidRequestException, match="no JSON cannot be stored"):
            await history.save_messages("a", [Message("user", ["一"]), odd_one])
    assert await history.get_messages("a") == []


async def test_a_message_of_another_version_is_named(runtime: Runtime) -> None:
    memory = await runtime.service(ChatMemoryService)
    for number, kept in enumerate(("{", "[]", "{}", '{"role": "user", "contents": [3]}', 5)):
        strange = NewMessage("user", "?", "m1", metadata={"asGiven": {"agentFramework": kept}})
        await memory.add_messages(f"{number}", [strange]).or_raise()
        with pytest.raises(IntegrationInvalidResponseException, match="'m1' is none of Agent Framework 1"):
            await ChatMemoryHistoryProvider(runtime).get_messages(f"{number}")


def calls(text: str) -> list[Content]:
    return [
        Content.from_function_call(
            "c1", "search", arguments={"query": text, "deep": [1, None, {"a": 2.5}]}, id="o1"
        ),
        Content.from_function_call("c2", "search", arguments='{"query": "half'),
        Content.from_mcp_server_tool_call("c3", "find", server_name="docs", arguments={"query": text}),
        Content.from_search_tool_call("c4", tool_name="web", arguments={"query": text}),
        Content.from_code_interpreter_tool_call(call_id="c5", inputs=[Content.from_text(text)]),
        Content.from_shell_tool_call(call_id="c6", commands=["ls", text]),
        Content.from_image_generation_tool_call(image_id="i1"),
        Content.from_computer_tool_call(id="o7", call_id="c7", actions=[{"type": "click", "x": 1}]),
    ]


def results(text: str, file: bytes) -> list[Content]:
    return [
        Content.from_function_result("c1", result={"found": [text, 1]}, id="o1"),
        Content.from_function_result(
            "c2", result=[Content.from_text(text), Content.from_data(file, "image/png")]
        ),
        Content.from_function_result("c2", exception="failed", result=text),
        Content.from_mcp_server_tool_result("c3", output=[Content.from_text(text)]),
        Content.from_search_tool_result("c4", tool_name="web", result={"found": text}),
        Content.from_code_interpreter_tool_result(call_id="c5", outputs=[Content.from_text(text)]),
        Content.from_shell_tool_result(
            call_id="c6", outputs=[Content.from_shell_command_output(stdout=text, stderr="!", exit_code=1)]
        ),
        Content.from_image_generation_tool_result(
            image_id="i1", outputs=Content.from_data(file, "image/png")
        ),
        Content.from_computer_tool_result(
            call_id="c7", screenshot=Content.from_uri("https://e.cn/图.png", media_type="image/png")
        ),
    ]


def others(text: str, file: bytes) -> list[Content]:
    request = Content.from_function_approval_request("o1", calls(text)[0])
    return [
        Content.from_text(text, additional_properties={"注": text}),
        Content.from_text_reasoning(id="r1", text=text, protected_data="c2lnbmVk"),
        Content.from_data(file, "application/pdf"),
        Content.from_uri("https://example.com/a.mp3", media_type="audio/mpeg"),
        Content.from_error(message=text, error_code="e1", error_details=text),
        Content.from_usage({"input_token_count": 3, "total_token_count": 5}),
        Content.from_hosted_file("f1", name=text),
        Content.from_hosted_vector_store("v1"),
        Content.from_shell_command_output(stdout=text),
        request,
        request.to_function_approval_response(approved=True),
        Content.from_oauth_consent_request("https://example.com/consent"),
    ]


def every_message(text: str, file: bytes) -> list[Message]:
    """Return a message for each kind, and some with all that a message can bear."""
    contents = [*calls(text), *results(text, file), *others(text, file)]
    return [
        *(Message("assistant", [content]) for content in contents),
        Message(
            "user",
            contents,
            author_name=text,
            message_id="m1",
            additional_properties={"a": [{"b": text}], "_c": 1.5},
        ),
        Message("developer", [text, text]),
        Message("评论", []),
    ]
