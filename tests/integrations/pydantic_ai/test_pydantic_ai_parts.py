"""What pydantic-ai says comes back as it was said, byte by byte."""

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings, strategies

pytest.importorskip("pydantic_ai.agent", reason="pydantic-ai is not installed: the extra pydantic-ai has it")

from typing import Any, get_args, get_origin

from pydantic_ai import messages as m
from pydantic_ai.usage import RequestUsage

from chatmemory import ThreadRuntime
from chatmemory.integrations.pydantic_ai import ChatMemoryHistory
from chatmemory_layers.stacks import MemoryTags

written = m.ModelMessagesTypeAdapter.dump_json
conversations = map(str, count())
TEXTS = strategies.text(strategies.characters(codec="utf-8")) | strategies.sampled_from(
    ["在老地方见。", "\0", "\x1b]0;", "a\u2028b", "👩‍👩‍👧", "</recalled-data 0>", '"\\']
)


def test_every_part_that_there_is_is_tried() -> None:
    tried = [*contents("", b""), *request_parts("", b""), *response_parts("", b"")]
    assert known_parts() - DEPRECATED <= {type(part).__name__ for part in tried}


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, file=strategies.binary(max_size=50))
def test_every_part_comes_back_byte_by_byte(
    threads: ThreadRuntime[MemoryTags], text: str, file: bytes
) -> None:
    history = ChatMemoryHistory(next(conversations), threads)
    messages = every_message(text, file)
    as_given = written(messages)
    assert len(history.append_sync(messages).stored) == len(messages)
    loaded = history.load_sync()
    assert (loaded, written(loaded)) == (messages, as_given)


def test_a_file_comes_back_with_the_same_bytes_an_image_as_one_however_long_it_is(
    threads: ThreadRuntime[MemoryTags],
) -> None:
    """pydantic-ai narrows the type of an image: the one part which comes back as another class."""
    history = ChatMemoryHistory("files", threads)
    image = m.BinaryContent(b"\x89PNG", media_type="image/png")
    longer_than_a_text_may_be = m.BinaryContent(bytes(13 * 2**20), media_type="application/zip")
    given = [m.ModelRequest([m.UserPromptPart([file])]) for file in (image, longer_than_a_text_may_be)]
    history.append_sync(given)
    loaded = history.load_sync()
    assert written(loaded) == written(given)
    (content,) = loaded[0].parts[0].content
    assert (type(content), content.data) == (m.BinaryImage, b"\x89PNG")


DEPRECATED = {"RetryPromptPart"}
"""Loading makes another part of it, as pydantic-ai says."""


def known_parts() -> set[str]:
    """Return the names of what the two unions of parts and that of contents are made of."""
    unions = (m.ModelRequestPart, m.ModelResponsePart, m.UserContent)
    return {kind.__name__ for union in unions for kind in _classes(union)}


def contents(text: str, file: bytes) -> list[Any]:
    return [
        text,
        m.TextContent(text, metadata={"where": [text, 1.5, None]}),
        m.StructuredContent({"said": text}, tag="note"),
        m.ImageUrl("https://example.com/图.png", force_download=True, vendor_metadata={"detail": text}),
        m.AudioUrl("https://example.com/a.mp3"),
        m.DocumentUrl("https://example.com/a.pdf", media_type="application/pdf"),
        m.VideoUrl("https://example.com/a.mp4"),
        m.BinaryContent(file, media_type="application/pdf", identifier="第一"),
        m.UploadedFile("file-1", provider_name="openai", media_type="text/plain"),
        m.CachePoint(),
    ]


def request_parts(text: str, file: bytes) -> list[Any]:
    return [
        m.SystemPromptPart(text, dynamic_ref="ref"),
        m.UserPromptPart(text),
        m.UserPromptPart(contents(text, file)),
        m.SpeechPart(speaker="user", transcript=text, audio=m.BinaryContent(file, media_type="audio/wav")),
        m.ToolReturnPart("search", {"found": [text, None, 1, 2.5, True]}, "call-1", metadata={"kept": text}),
        m.ToolReturnPart("search", text, "call-2", outcome="retried"),
        m.ToolSearchReturnPart(content={"discovered_tools": [], "message": text}, tool_call_id="call-3"),
        m.LoadCapabilityReturnPart(content={"instructions": text}, tool_call_id="call-4"),
        m.RetryFeedbackPart(text, retry=m.RetryInfo("model_retry", attempt=1, max_retries=2)),
        m.ToolAvailabilityDeltaPart(tools_added=[text]),
        m.CapabilityLoadDeltaPart(loaded=[text], tool_call_id="call-5"),
        m.ModelSettingsDeltaPart(settings={"thinking": "high"}),
        m.InstructionDeltaPart(id=None, content=text),
        m.InstructionBaselinePart(instructions=[m.InstructionPart(text, dynamic=True)]),
        m.CompactionPart(text, metadata={"by": text}),
    ]


def response_parts(text: str, file: bytes) -> list[Any]:
    return [
        m.TextPart(text, id="msg-1", provider_name="openai", provider_details={"logprobs": [0.1, text]}),
        m.ThinkingPart(text, id="rs-1", signature="c2lnbmF0dXJl", provider_name="anthropic"),
        m.ToolCallPart("search", {"query": text, "deep": {"a": [1, None]}}, "call-1"),
        m.ToolCallPart("search", '{"query": "half', "call-2"),
        m.ToolSearchCallPart(args={"queries": [text]}, tool_call_id="call-3"),
        m.LoadCapabilityCallPart(args={"id": text}, tool_call_id="call-4"),
        m.NativeToolCallPart("web_search", {"query": text}, "call-5", provider_name="openai"),
        m.NativeToolReturnPart("web_search", [text], "call-5", provider_name="openai"),
        m.NativeToolSearchCallPart(args={"queries": [text]}, tool_call_id="call-6"),
        m.NativeToolSearchReturnPart(
            content={"discovered_tools": [], "message": text}, tool_call_id="call-6"
        ),
        m.CompactionPart(
            text, id="cmp-1", provider_name="openai", provider_details={"encrypted_content": text}
        ),
        m.FilePart(
            m.BinaryContent(file, media_type="application/octet-stream"), id="file-1", provider_name="google"
        ),
        m.SpeechPart(speaker="assistant", transcript=text, interrupted_at_ms=12),
    ]


def every_message(text: str, file: bytes) -> list[m.ModelMessage]:
    """Return one message for each part, and two with all that can stand beside parts."""
    return [
        *(m.ModelRequest([part]) for part in request_parts(text, file)),
        *(m.ModelResponse([part]) for part in response_parts(text, file)),
        m.ModelRequest(
            [m.UserPromptPart(text)],
            instructions=text,
            run_id="run-1",
            conversation_id=text,
            metadata={"app": [text]},
            state="interrupted",
        ),
        m.ModelResponse(
            [m.TextPart(text)],
            usage=RequestUsage(input_tokens=2**53, output_tokens=1, details={"reasoning_tokens": 3}),
            model_name="gpt",
            provider_details={"system_fingerprint": text},
            finish_reason="length",
            run_id="run-1",
            metadata={"app": text},
        ),
    ]


def _classes(union: Any) -> Iterator[type]:
    if isinstance(union, type) and not get_args(union):
        yield union
    elif get_origin(union) is not None and hasattr(get_origin(union), "__dataclass_fields__"):
        yield get_origin(union)
    else:
        for member in get_args(union):
            if isinstance(member, type) or get_args(member):
                yield from _classes(member)
