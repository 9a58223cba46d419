"""Checks the answer of an HTTP endpoint: returns its JSON object, or what is wrong with it.

It reads bytes, headers and status codes, and uses no network.  ``endpoint.py`` sends, waits and retries; the callers
interpret the object.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal, TypeAlias, cast, final

from attrs import field, frozen

from chatmemory.effect import Failure, Outcome, Success

JsonMapping: TypeAlias = Mapping[str, Any]

EndpointProblem: TypeAlias = Literal[
    "unauthorized",
    "not_found",
    "rate_limited",
    "unavailable",
    "timeout",
    "refused",
    "malformed",
    "oversized",
]
"""Each is also a problem of a skill and of an embedder."""

_PROBLEM_OF_STATUS: Final[dict[int, EndpointProblem]] = {
    401: "unauthorized",
    403: "unauthorized",
    404: "not_found",
    408: "timeout",
    409: "unavailable",
    425: "unavailable",
    429: "rate_limited",
}
_OK: Final = range(200, 300)
_SERVER_ERROR: Final = range(500, 600)
_CODE: Final = re.compile(r"[a-z][a-z_]{2,40}", re.ASCII)
_SECONDS: Final = re.compile(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*", re.ASCII)


@final
@frozen
class EndpointFailure:
    """The endpoint answered with an error, or with something other than a JSON object."""

    problem: EndpointProblem
    detail: str
    retry_after_seconds: float | None = None
    cause: BaseException | None = field(default=None, eq=False, repr=False)


class EndpointError(Exception):
    """The endpoint's own description of an error; it becomes the cause, never our text, since it may quote the conversation."""


def read_object(
    status: int, headers: Mapping[str, str], body: bytes, *, now: datetime, secret: str = ""
) -> Outcome[JsonMapping, EndpointFailure]:
    """Return the JSON object in the answer, or what is wrong with it.

    Args:
        status: the HTTP status; anything but 2xx is a failure.
        headers: the headers, with lower-case names or in a case-insensitive mapping.
        body: the whole decoded body.
        now: the current time, to which a ``Retry-After`` date is compared.
        secret: a text that the cause must not quote even if the endpoint repeats it.
    """

    def failed(
        problem: EndpointProblem, detail: str, cause: EndpointError | None = None
    ) -> Failure[EndpointFailure]:
        wait = retry_after_seconds(headers.get("retry-after"), now)
        return Failure(EndpointFailure(problem, detail, wait, cause))

    try:
        answer = cast("object", json.loads(body))
    # UnicodeDecodeError is a ValueError too; 100,000 brackets are a RecursionError.
    except (ValueError, RecursionError):
        answer = None
    said: JsonMapping = cast("JsonMapping", answer) if isinstance(answer, dict) else {}
    code, words = _said_in_error(said.get("error"))
    cause = EndpointError(words.replace(secret, "[key]") if secret else words)
    if status not in _OK:
        return failed(_problem_of(status), f"HTTP {status}{code and f', {code}'}", cause)
    if not isinstance(answer, dict):
        kind = headers.get("content-type", "").partition(";")[0][:50]
        return failed("malformed", f"no JSON object, {len(body)} bytes of {kind or 'no stated type'}")
    if said.get("error"):
        return failed("refused", f"an error under status {status}{code and f', {code}'}", cause)
    return Success(said)


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """Return the seconds that a ``Retry-After`` (seconds or a date) asks for, or None if it is neither."""
    if header is None:
        return None
    if seconds := _SECONDS.fullmatch(header):
        return float(seconds[1])
    try:
        instant = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    return max(0.0, ((instant if instant.tzinfo else instant.replace(tzinfo=UTC)) - now).total_seconds())


def _problem_of(status: int) -> EndpointProblem:
    if status in _SERVER_ERROR:
        return "unavailable"
    return _PROBLEM_OF_STATUS.get(status, "refused")


def _said_in_error(error: object) -> tuple[str, str]:
    """Return the code and the message of an endpoint's error; each is empty if absent."""
    if not isinstance(error, dict):
        return "", error if isinstance(error, str) else ""
    said = cast("JsonMapping", error)
    codes = (
        code
        for code in (said.get("code"), said.get("type"))
        if isinstance(code, str) and _CODE.fullmatch(code)
    )
    message = said.get("message")
    return next(codes, ""), message if isinstance(message, str) else ""
