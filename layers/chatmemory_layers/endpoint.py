"""``Endpoint``: a client of an OpenAI-compatible HTTP endpoint, which repeats requests after temporary failures.

``skills`` and ``embedding`` make the requests and interpret the answers; ``read_object`` checks that an answer is a JSON
object, without using the network.  httpx is imported when the endpoint is opened; the extra ``chatmemory-effect[openai]``
installs it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, cast, final

from attrs import field, frozen

from chatmemory.effect import Effect, EffectFailed, Failure, Outcome, Success
from chatmemory.effect.lazy import LazyModule
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.effect.services.schedule import Schedule
from chatmemory.errors import ConfigError, InvalidValue
from chatmemory.extra import needed
from chatmemory.input.json_value import Json

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx
else:
    httpx = LazyModule("httpx")

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
FIRST_PAUSE_SECONDS: Final = 0.5  # doubles with every retry; an overloaded endpoint asks for more
LONGEST_PAUSE_SECONDS: Final = 30.0  # if the endpoint asks for a longer wait, the request fails
PASSING: Final[frozenset[EndpointProblem]] = frozenset({"rate_limited", "unavailable", "timeout"})

log = logging.getLogger(__name__)


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


class EndpointSettings(Protocol):
    """The settings of an endpoint."""

    @property
    def base_url(self) -> str:
        """The address of the endpoint; the path of a request is appended to it."""
        ...

    @property
    def api_key(self) -> str:
        """The bearer token of each request; an empty one is not sent."""
        ...

    @property
    def timeout_seconds(self) -> float:
        """The time limit of one request, in seconds."""
        ...

    @property
    def max_retries(self) -> int:
        """How many times a request is repeated after a temporary failure."""
        ...


@final
@frozen
class Endpoint:
    """Sends requests to one endpoint over kept-alive connections.

    Attributes:
        longest_answer: the largest allowed answer, in bytes.
    """

    client: httpx.AsyncClient
    settings: EndpointSettings = field(repr=False)
    longest_answer: int

    def ask(self, path: str, body: Mapping[str, Json]) -> Effect[JsonMapping, EndpointFailure]:
        """Post *body*, and repeat it after a temporary failure, at most ``settings.max_retries`` times.

        Args:
            path: the path of the request below ``settings.base_url``.
            body: the JSON body of the request.

        Returns:
            the JSON object of the answer.
        """
        seconds = self.settings.timeout_seconds
        too_late = EndpointFailure("timeout", f"no answer within {seconds:g} s")
        return (
            Effect.service(ClockTag)
            .bind(lambda clock: Effect.from_outcome(lambda: self._post(path, body, clock)))
            # One limit around the whole request: httpx's own time-outs restart with every byte received.
            .timeout(seconds, lambda: too_late)
            .tap_error(lambda failure: _note(path, failure))
            .retry(PAUSES & Schedule.recurs(self.settings.max_retries), while_=_will_pass)
        )

    async def _post(
        self, path: str, body: Mapping[str, Json], clock: Clock
    ) -> Outcome[JsonMapping, EndpointFailure]:
        try:
            async with self.client.stream("POST", path, json=body) as response:
                received = bytearray()
                async for chunk in response.aiter_bytes():
                    received += chunk
                    if len(received) > self.longest_answer:
                        detail = f"the answer is longer than {self.longest_answer} bytes"
                        return Failure(EndpointFailure("oversized", detail))
        except httpx.HTTPError as exception:
            return Failure(EndpointFailure(_problem_of(exception), type(exception).__name__, cause=exception))
        return read_object(
            response.status_code,
            response.headers,
            bytes(received),
            now=clock.now(),
            secret=self.settings.api_key,
        )


@asynccontextmanager
async def open_endpoint(
    settings: EndpointSettings, *, section: str, chosen_by: str, longest_answer: int
) -> AsyncGenerator[Endpoint]:
    """Keep one client open for the lifetime of the layer.

    Args:
        settings: the address and the limits of the endpoint.
        section: the section of the configuration, such as ``memory.skill``, for the error.
        chosen_by: the setting of the section that selects an endpoint, for the error.
        longest_answer: the largest allowed answer, in bytes.

    Raises:
        EffectFailed: the settings cannot be used; holds a ``ConfigError``.
    """
    if problems := _problems_of(settings, section, chosen_by):
        raise EffectFailed(ConfigError(problems))
    headers = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    # Redirects are not followed: they would send the conversation to any host that the endpoint names.
    async with httpx.AsyncClient(
        base_url=settings.base_url,
        headers=headers,
        timeout=settings.timeout_seconds,
        follow_redirects=False,
        verify=_trusted(),
    ) as client:
        yield Endpoint(client, settings, longest_answer)


@cache
def _trusted() -> SSLContext:
    """Read the trusted certificates, once: reading takes longer than everything else in opening an endpoint."""
    return httpx.create_ssl_context()


def _problems_of(settings: EndpointSettings, section: str, chosen_by: str) -> tuple[InvalidValue, ...]:
    """Describe why no client can be made, without quoting the key, as the client's own exceptions would."""
    if find_spec("httpx") is None:
        return (InvalidValue(f"{section}.{chosen_by}", needed("httpx", extra="openai")),)
    problems: list[InvalidValue] = []
    try:
        url = httpx.URL(settings.base_url)
        is_address = url.scheme in {"http", "https"} and bool(url.host)
    except httpx.InvalidURL:
        is_address = False
    if not is_address:
        problems.append(
            InvalidValue(f"{section}.baseUrl", "expected an address like http://localhost:11434/v1")
        )
    if not all("!" <= character <= "~" for character in settings.api_key):
        problems.append(InvalidValue(f"{section}.apiKey", "expected printable ASCII without spaces"))
    return tuple(problems)


def _as_asked(failure: EndpointFailure) -> float:
    """Return for how long the endpoint asks to wait, in seconds; 0 if it does not ask."""
    return failure.retry_after_seconds or 0.0


PAUSES: Final = Schedule(lambda _: _as_asked) & Schedule.exponential(FIRST_PAUSE_SECONDS).jittered()
"""The pause before a retry: the endpoint's ``Retry-After`` or a growing pause, whichever is longer."""


def _will_pass(failure: EndpointFailure) -> bool:
    return failure.problem in PASSING and (failure.retry_after_seconds or 0.0) <= LONGEST_PAUSE_SECONDS


def _note(path: str, failure: EndpointFailure) -> Effect[None]:
    facts = {
        "path": path,
        "problem": failure.problem,
        "retry_after_seconds": failure.retry_after_seconds,
    }
    said = (path, failure.problem, failure.detail)
    return Effect.sync(lambda: log.warning("a request to %s failed: %s: %s", *said, extra=facts))


def _problem_of(exception: httpx.HTTPError) -> EndpointProblem:
    """Convert an exception of the client; its text is left out, because it may quote addresses."""
    match exception:
        case httpx.TimeoutException():
            return "timeout"
        case httpx.DecodingError():
            return "malformed"
        case _:
            return "unavailable"


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
        return failed(_problem_of_answer(status), f"HTTP {status}{code and f', {code}'}", cause)
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


def _problem_of_answer(status: int) -> EndpointProblem:
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
