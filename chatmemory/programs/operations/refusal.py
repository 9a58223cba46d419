"""``Refusal``: a failure of the server itself, not of a service; ``ApiError``: every failure that a client can receive."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, final

from attrs import field, frozen

from chatmemory.errors import ServiceError

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
