"""Every part that a message of pydantic-ai can hold, made around a text that says anything."""

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic_ai import messages as theirs
from pydantic_ai.messages import (
    AudioUrl,
    BinaryContent,
    CachePoint,
    CapabilityLoadDeltaPart,
    CompactionPart,
    DocumentUrl,
    FilePart,
    ImageUrl,
    InstructionBaselinePart,
    InstructionDeltaPart,
    InstructionPart,
    LoadCapabilityCallPart,
    LoadCapabilityReturnPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelSettingsDeltaPart,
    NativeToolCallPart,
    NativeToolReturnPart,
    NativeToolSearchCallPart,
    NativeToolSearchReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    SpeechPart,
    StructuredContent,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    ToolReturnPart,
    ToolSearchCallPart,
    ToolSearchReturnPart,
    UploadedFile,
    UserPromptPart,
    VideoUrl,
)
from pydantic_ai.usage import RequestUsage

DEPRECATED = {"RetryPromptPart"}
"""Loading makes another part of it, as pydantic-ai says."""


def known_parts() -> set[str]:
    """Return the names of what the two unions of parts and that of contents are made of."""
    unions = (theirs.ModelRequestPart, theirs.ModelResponsePart, theirs.UserContent)
    return {kind.__name__ for union in unions for kind in _classes(union)}


def contents(text: str, file: bytes) -> list[Any]:
    return [
        text,
        TextContent(text, metadata={"where": [text, 1.5, None]}),
        StructuredContent({"said": text}, tag="note"),
        ImageUrl("https://example.com/图.png", force_download=True, vendor_metadata={"detail": text}),
        AudioUrl("https://example.com/a.mp3"),
        DocumentUrl("https://example.com/a.pdf", media_type="application/pdf"),
        VideoUrl("https://example.com/a.mp4"),
        BinaryContent(file, media_type="application/pdf", identifier="第一"),
        UploadedFile("file-1", provider_name="openai", media_type="text/plain"),
        CachePoint(),
    ]


def request_parts(text: str, file: bytes) -> list[Any]:
    return [
        SystemPromptPart(text, dynamic_ref="ref"),
        UserPromptPart(text),
        UserPromptPart(contents(text, file)),
        SpeechPart(speaker="user", transcript=text, audio=BinaryContent(file, media_type="audio/wav")),
        ToolReturnPart("search", {"found": [text, None, 1, 2.5, True]}, "call-1", metadata={"kept": text}),
        ToolReturnPart("search", text, "call-2", outcome="retried"),
        ToolSearchReturnPart(content={"discovered_tools": [], "message": text}, tool_call_id="call-3"),
        LoadCapabilityReturnPart(content={"instructions": text}, tool_call_id="call-4"),
        RetryFeedbackPart(text, retry=RetryInfo("model_retry", attempt=1, max_retries=2)),
        ToolAvailabilityDeltaPart(tools_added=[text]),
        CapabilityLoadDeltaPart(loaded=[text], tool_call_id="call-5"),
        ModelSettingsDeltaPart(settings={"thinking": "high"}),
        InstructionDeltaPart(id=None, content=text),
        InstructionBaselinePart(instructions=[InstructionPart(text, dynamic=True)]),
        CompactionPart(text, metadata={"by": text}),
    ]


def response_parts(text: str, file: bytes) -> list[Any]:
    return [
        TextPart(text, id="msg-1", provider_name="openai", provider_details={"logprobs": [0.1, text]}),
        ThinkingPart(text, id="rs-1", signature="c2lnbmF0dXJl", provider_name="anthropic"),
        ToolCallPart("search", {"query": text, "deep": {"a": [1, None]}}, "call-1"),
        ToolCallPart("search", '{"query": "half', "call-2"),
        ToolSearchCallPart(args={"queries": [text]}, tool_call_id="call-3"),
        LoadCapabilityCallPart(args={"id": text}, tool_call_id="call-4"),
        NativeToolCallPart("web_search", {"query": text}, "call-5", provider_name="openai"),
        NativeToolReturnPart("web_search", [text], "call-5", provider_name="openai"),
        NativeToolSearchCallPart(args={"queries": [text]}, tool_call_id="call-6"),
        NativeToolSearchReturnPart(content={"discovered_tools": [], "message": text}, tool_call_id="call-6"),
        CompactionPart(
            text, id="cmp-1", provider_name="openai", provider_details={"encrypted_content": text}
        ),
        FilePart(
            BinaryContent(file, media_type="application/octet-stream"), id="file-1", provider_name="google"
        ),
        SpeechPart(speaker="assistant", transcript=text, interrupted_at_ms=12),
    ]


def every_message(text: str, file: bytes) -> list[ModelMessage]:
    """Return one message for each part, and two with all that can stand beside parts."""
    return [
        *(ModelRequest([part]) for part in request_parts(text, file)),
        *(ModelResponse([part]) for part in response_parts(text, file)),
        ModelRequest(
            [UserPromptPart(text)],
            instructions=text,
            run_id="run-1",
            conversation_id=text,
            metadata={"app": [text]},
            state="interrupted",
        ),
        ModelResponse(
            [TextPart(text)],
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
