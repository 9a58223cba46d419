"""``Refusal``: what a server fails with before or beside the services; ``ApiError`` is every failure that a client can meet."""

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
    """What the door of the server fails with, before or beside the services.

    Attributes:
        detail: what to do about it, for the client's developer.
        headers: that belong to the answer, ``WWW-Authenticate`` for example.
    """

    tag: RefusalTag
    detail: str
    headers: Mapping[str, str] = field(factory=dict[str, str])

    @property
    def retry_is_safe(self) -> bool:
        """True when the same request may well be answered later."""
        return self.tag in {
            "RequestTimeoutError",
            "OverloadedError",
            "NotReadyError",
            "PastChatsNotIndexedError",
        }

    def __str__(self) -> str:
        return self.detail


ApiError: TypeAlias = ServiceError | Refusal
