"""``Refusal``: a failure of the server itself, not of a service; ``ApiError``: every failure that a client can receive.

``with_cures_for_clients`` replaces advice about Python functions by advice that a client in any language can follow.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias, final

from attrs import evolve, field, frozen

from chatmemory.errors import DataValidationError, Problem, ServiceError
from chatmemory.input.rules import CURE_OF_TEXT

RefusalTag: TypeAlias = Literal[
    "UnauthorizedError",
    "ForbiddenError",
    "HostRefusedError",
    "OriginRefusedError",
    "NotFoundError",
    "MethodNotAllowedError",
    "RequestTimeoutError",
    "ContentTooLargeError",
    "UnsupportedMediaTypeError",
    "MalformedRequestError",
    "IdempotencyKeyReusedError",
    "PastChatsNotIndexedError",
    "SummaryNotFoundError",
    "ValueNotFoundError",
    "OverloadedError",
    "NotReadyError",
    "InternalError",
]


@final
@frozen
class Refusal:
    """A failure of the server itself, such as a missing token, as opposed to a failure of a service.

    Attributes:
        detail: what to do about it, for the client's developer.
        headers: headers of the answer, for example ``WWW-Authenticate``.
    """

    tag: RefusalTag
    detail: str
    headers: Mapping[str, str] = field(factory=dict[str, str])

    @property
    def retry_is_safe(self) -> bool:
        """Whether the same request may succeed later."""
        return self.tag in {
            "RequestTimeoutError",
            "OverloadedError",
            "NotReadyError",
            "PastChatsNotIndexedError",
        }

    def __str__(self) -> str:
        return self.detail


ApiError: TypeAlias = ServiceError | Refusal


def with_cures_for_clients(error: DataValidationError) -> DataValidationError:
    """Return *error* with advice for a client of a server, which cannot call Python functions."""
    return evolve(error, problems=tuple(_for_clients(problem) for problem in error.problems))


def _for_clients(problem: Problem) -> Problem:
    if not problem.message.endswith(CURE_OF_TEXT):
        return problem
    what = problem.message.removesuffix(CURE_OF_TEXT)
    return evolve(problem, message=f"{what}leave it out, or put U+FFFD in its place")
