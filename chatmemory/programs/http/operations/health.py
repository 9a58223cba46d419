"""``GET /health`` and ``GET /readiness``: for whoever starts, watches and balances servers; neither needs a token."""

from collections.abc import Sequence
from typing import Final, Literal, Never, final

from attrs import frozen

from chatmemory.contracts import ChatMemoryService
from chatmemory.effect import Effect
from chatmemory.programs.http.operation import Call, NoParameters, Operation
from chatmemory.programs.http.operations.description import ServerFactsTag
from chatmemory.programs.http.problems import Refusal

LONGEST_WAIT_SECONDS: Final = 2.0

NOT_READY: Final = Refusal(
    "NotReadyError",
    "the store does not answer now: the log of the server says more, and /settings where it is",
)


@final
@frozen
class Health:
    """The server runs."""

    version: str
    status: Literal["ok"] = "ok"


@final
@frozen
class Readiness:
    """The store answers."""

    status: Literal["ok"] = "ok"


def get_health(_: Call[NoParameters, None]) -> Effect[Health, Never, ServerFactsTag]:
    """Say that the server runs, whatever its store does."""
    return ServerFactsTag.use(lambda facts: Effect.succeed(Health(facts.version)))


def get_readiness(_: Call[NoParameters, None]) -> Effect[Readiness, Refusal, ChatMemoryService]:
    """Say that the store answers, or 503 when it does not within two seconds."""
    return (
        ChatMemoryService.use(lambda memory: memory.list_conversations(limit=1))
        .alt(lambda _: NOT_READY)
        .timeout(LONGEST_WAIT_SECONDS, lambda: NOT_READY)
        .map(lambda _: Readiness())
    )


HEALTH: Final[Sequence[Operation]] = (
    Operation("GET", "/health", get_health, is_open=True),
    Operation("GET", "/readiness", get_readiness, is_open=True),
)
