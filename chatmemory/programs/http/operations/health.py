"""``GET /health`` and ``GET /readiness``: for supervisors and load balancers; neither needs a token."""

from collections.abc import Sequence
from typing import Final, Literal, Never, final

from attrs import frozen

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.effect import Effect
from chatmemory.errors import GenericMemoryError, ReadError, RepositoryError
from chatmemory.programs.http.operation import Call, NoParameters, Operation
from chatmemory.programs.http.operations.description import ServerFactsTag
from chatmemory.programs.operations.refusal import Refusal

LONGEST_WAIT_SECONDS: Final = 2.0

TOO_SLOW: Final = RepositoryError(
    "list conversations", "busy", f"no answer within {LONGEST_WAIT_SECONDS:g} s"
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
    """Report that the server runs, even if its store does not answer."""
    return ServerFactsTag.use(lambda facts: Effect.succeed(Health(facts.version)))


def get_readiness(_: Call[NoParameters, None]) -> Effect[Readiness, Refusal, ChatMemoryService]:
    """Report that the store answers; 503 if it does not answer within two seconds."""
    return (
        ChatMemoryService.use(lambda memory: memory.list_conversations(limit=1))
        .timeout(LONGEST_WAIT_SECONDS, lambda: GenericMemoryError(TOO_SLOW))
        .alt(_not_ready)
        .map(lambda _: Readiness())
    )


def _not_ready(error: ReadError) -> Refusal:
    """Return the refusal: without a token, a client sees the kind of the problem but not where the store is."""
    reason = error.reason if isinstance(error, GenericMemoryError) else None
    problem = reason.problem if isinstance(reason, RepositoryError) else "unexpected"
    return Refusal("NotReadyError", f"the store does not answer now ({problem}): /settings shows where it is")


HEALTH: Final[Sequence[Operation]] = (
    Operation("GET", "/health", get_health, is_open=True),
    Operation("GET", "/readiness", get_readiness, is_open=True),
)
