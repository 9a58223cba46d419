"""``answer``: what an effect succeeds or fails with becomes a response."""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from chatmemory.conversation.messages import Conversation, MessagePage
from chatmemory.effect import Outcome, Success
from chatmemory.input.structure import write_json
from chatmemory.longterm.memories import Memory
from chatmemory.programs.http.operation import EventStream, Operation
from chatmemory.programs.http.problems import ApiError, problem_response

VERSIONED: Final = (Conversation, MessagePage, Memory)
"""What has a version, by which a later write says what it has seen."""
UNCHANGED_WITH_ITS_VERSION: Final = (Conversation, MessagePage)
"""A memory is not: its use is counted, and it is pinned, without a new version of what it says."""


def answer(operation: Operation, request: Request, outcome: Outcome[Any, ApiError]) -> Response:
    """Return the response for *outcome*."""
    if not isinstance(outcome, Success):
        return problem_response(outcome.failure())
    value = outcome.unwrap()
    if isinstance(value, EventStream):
        if request.method == "HEAD":  # which is answered by the beginning of an answer
            return Response(media_type="text/event-stream")
        return StreamingResponse(value.events, media_type="text/event-stream")
    headers: dict[str, str] = {}
    if isinstance(value, VERSIONED):
        headers["ETag"] = f'"{value.version}"'
        is_known = request.headers.get("if-none-match") == headers["ETag"]
        if is_known and operation.method == "GET" and isinstance(value, UNCHANGED_WITH_ITS_VERSION):
            return Response(status_code=304, headers=headers)
    return Response(
        write_json(value), status_code=operation.status, headers=headers, media_type="application/json"
    )
