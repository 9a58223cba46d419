"""Every kind of content that a message of Agent Framework can hold, made around a text that says anything."""

from __future__ import annotations

from agent_framework import Content, Message


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
