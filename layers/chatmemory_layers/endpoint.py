"""``Endpoint``: an HTTP endpoint in OpenAI's manner, to which JSON is sent until an answer comes or hope is lost.

What is asked, and what the answer means, is for ``skills`` and ``embedding``; what an answer is worth at all, for
``endpoint_answer.py``.  httpx is imported when the endpoint is opened; the extra ``chatmemory-effect[openai]`` brings it.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Final, Protocol, final

from attrs import field, frozen

from chatmemory.effect import Effect, EffectFailed, Failure, Outcome
from chatmemory.effect.config.config_error import ConfigError, InvalidValue
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.effect.services.driver import Moment, Run
from chatmemory.effect.services.schedule import Schedule
from chatmemory.extra import needed
from chatmemory.input.json_value import Json
from chatmemory_layers.endpoint_answer import EndpointFailure, EndpointProblem, JsonMapping, read_object

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx

FIRST_PAUSE_SECONDS: Final = 0.5  # doubles with every retry; who is overloaded asks for more
LONGEST_PAUSE_SECONDS: Final = 30.0  # who is asked to wait longer comes back another time
PASSING: Final[frozenset[EndpointProblem]] = frozenset({"rate_limited", "unavailable", "timeout"})

log = logging.getLogger(__name__)


class EndpointSettings(Protocol):
    """The settings that each endpoint has."""

    @property
    def base_url(self) -> str:
        """The address of the endpoint; the path of a request is appended to it."""
        ...

    @property
    def api_key(self) -> str:
        """The bearer token of each request; ``""``: no token is sent."""
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
    """Sends requests to one endpoint, over connections that it keeps.

    Attributes:
        longest_answer: the largest size of an answer, in bytes.
    """

    client: httpx.AsyncClient
    settings: EndpointSettings = field(repr=False)
    longest_answer: int

    def ask(self, path: str, body: Mapping[str, Json]) -> Effect[JsonMapping, EndpointFailure]:
        """Post *body*, and repeat it after a temporary failure, at most ``settings.max_retries`` times.

        Args:
            path: of the request, behind ``settings.base_url``.
            body: is sent as JSON.

        Returns:
            the JSON object of the answer.
        """
        seconds = self.settings.timeout_seconds
        too_late = EndpointFailure("timeout", f"no answer within {seconds:g} s")
        return (
            Effect.service(ClockTag)
            .bind(lambda clock: Effect.from_outcome(lambda: self._post(path, body, clock)))
            # One limit around it all: httpx's own start anew with every byte that drips in.
            .timeout(seconds, lambda: too_late)
            .tap_error(lambda failure: _note(path, failure))
            .retry(PAUSES & Schedule.recurs(self.settings.max_retries), while_=_will_pass)
        )

    async def _post(
        self, path: str, body: Mapping[str, Json], clock: Clock
    ) -> Outcome[JsonMapping, EndpointFailure]:
        import httpx

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
    """Hold one client for as long as the layer lives.

    Args:
        settings: where it is, and how long it may take.
        section: of the configuration, ``memory.skill`` for example; for the error.
        chosen_by: the setting of the section that asks for an endpoint.
        longest_answer: bytes.

    Raises:
        EffectFailed: the settings cannot be used; holds a ``ConfigError``.
    """
    if problems := _problems_of(settings, section, chosen_by):
        raise EffectFailed(ConfigError(problems))
    import httpx

    headers = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    # Redirects stay where they are: followed, they would carry the conversation to whomever the endpoint names.
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
    """Read the certificates that are trusted: once, as it takes longer than all else that opens an endpoint."""
    import httpx

    return httpx.create_ssl_context()


def _problems_of(settings: EndpointSettings, section: str, chosen_by: str) -> tuple[InvalidValue, ...]:
    """Return what keeps a client from being made, without quoting the key, as the client's own exceptions would."""
    try:
        import httpx
    except ImportError:
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


def _as_asked(moment: Moment[EndpointFailure]) -> Run[None, EndpointFailure]:
    """Wait as long as the endpoint asks for, which may be not at all."""
    while True:
        moment = yield None, moment.input.retry_after_seconds or 0.0


PAUSES: Final = Schedule(_as_asked) & Schedule.exponential(FIRST_PAUSE_SECONDS).jittered()
"""The longer one of what the endpoint asks for and a growing pause."""


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
    """Say what an exception of the client means; its text is left out, as it may quote addresses."""
    import httpx

    match exception:
        case httpx.TimeoutException():
            return "timeout"
        case httpx.DecodingError():
            return "malformed"
        case _:
            return "unavailable"
