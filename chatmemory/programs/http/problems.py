"""Problem documents (RFC 9457): the answers to requests that fail, each with a status, a title and a tag.

Each error of a service has one row in ``kind_of``, and the type checker verifies that none is missing; each refusal of
the server itself has one in ``REFUSALS``.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypedDict, assert_never, get_args

from starlette.responses import Response

from chatmemory.errors import (
    AccessDeniedError,
    ConversationNotFoundError,
    DataValidationError,
    GenericMemoryError,
    MemoryChangedError,
    MemoryConflictError,
    MemoryNotFoundError,
    MessageConflictError,
    NotUndoableError,
    Problem,
    PromptNotFoundError,
    ServiceError,
    VersionConflictError,
)
from chatmemory.input.structure import write_json
from chatmemory.programs.operations.refusal import ApiError, Refusal

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 1
PROBLEMS_PAGE: Final = "/docs/problems"


class ProblemDocument(TypedDict):
    """What went wrong.

    Attributes:
        type: the address of the page that explains this kind of problem, relative to the server's address.
        title: the kind in words.
        detail: what is wrong with this request, and what to do about it.
        tag: the kind, for programs to compare.
        retryIsSafe: whether the same request may be sent again without harm, and may then succeed.
        problems: every broken rule, each with the path of the input that breaks it; empty for other kinds.
    """

    type: str
    title: str
    status: int
    detail: str
    tag: str
    retryIsSafe: bool
    problems: tuple[Problem, ...]


class Kind(NamedTuple):
    """The status and the title, which all problems of a tag have in common."""

    status: int
    title: str


UNAVAILABLE: Final = Kind(503, "The store or a model does not answer now")

REFUSALS: Final[Mapping[str, Kind]] = {
    "UnauthorizedError": Kind(401, "A token is needed"),
    "ForbiddenError": Kind(403, "The token does not allow this"),
    "HostRefusedError": Kind(421, "This is not a name of this server"),
    "OriginRefusedError": Kind(403, "Pages of other origins may not use this server"),
    "NotFoundError": Kind(404, "There is nothing at this path"),
    "MethodNotAllowedError": Kind(405, "This path does not take the method"),
    "RequestTimeoutError": Kind(408, "The request took too long to arrive"),
    "ContentTooLargeError": Kind(413, "The body is too large"),
    "UnsupportedMediaTypeError": Kind(415, "The body has to be JSON"),
    "MalformedRequestError": Kind(400, "The request is not well-formed HTTP"),
    "IdempotencyKeyReusedError": Kind(422, "The key belongs to another request"),
    "PastChatsNotIndexedError": Kind(404, "No past chats are indexed yet"),
    "SummaryNotFoundError": Kind(404, "The message is not a summary"),
    "ValueNotFoundError": Kind(404, "The key has no value"),
    "OverloadedError": Kind(503, "Too many requests at once"),
    "NotReadyError": Kind(503, "The store does not answer"),
    "InternalError": Kind(500, "The server made a mistake"),
}


def kind_of(error: ApiError) -> Kind:  # noqa: PLR0912  one row for each error
    """Return the status and the title of the tag of *error*."""
    match error:
        case DataValidationError():
            return Kind(422, "The input breaks rules")
        case ConversationNotFoundError():
            return Kind(404, "Nothing is stored under this conversation")
        case AccessDeniedError():
            return Kind(403, "The token does not allow this with the conversation")
        case MessageConflictError():
            return Kind(409, "The message id is already used for other content")
        case VersionConflictError():
            return Kind(412, "The conversation has changed since it was read")
        case MemoryNotFoundError():
            return Kind(404, "There is no such memory")
        case MemoryConflictError():
            return Kind(409, "The memory id is already used for other content")
        case MemoryChangedError():
            return Kind(412, "The memory has changed since it was read")
        case NotUndoableError():
            return Kind(409, "The change cannot be undone")
        case PromptNotFoundError():
            return Kind(404, "Nothing is indexed from this source")
        case GenericMemoryError():
            return Kind(500, "The store or a model failed")
        case Refusal():
            return REFUSALS[error.tag]
        case _:
            assert_never(error)


KINDS: Final[Mapping[str, Kind]] = {
    # A row depends only on the class, so an instance without fields is enough.
    **{error.__name__: kind_of(error.__new__(error)) for error in get_args(ServiceError)},
    **REFUSALS,
}
"""The kind of every problem that a client can meet, by its tag."""


def problem_document(error: ApiError) -> ProblemDocument:
    """Return the problem document of *error*."""
    # For an error below the services, the status depends on whether a retry may succeed.
    kind = UNAVAILABLE if isinstance(error, GenericMemoryError) and error.retry_is_safe else kind_of(error)
    return {
        "type": f"{PROBLEMS_PAGE}#{error.tag}",
        "title": kind.title,
        "status": kind.status,
        "detail": _detail(error),
        "tag": error.tag,
        "retryIsSafe": error.retry_is_safe,
        "problems": error.problems if isinstance(error, DataValidationError) else (),
    }


def _detail(error: ApiError) -> str:
    """Return what is wrong and what to do about it over HTTP, where the version is sent in a header."""
    match error:
        case VersionConflictError(conversation_id, expected, actual):
            what = f"conversation {conversation_id!r}"
        case MemoryChangedError(memory_id, expected, actual):
            what = f"memory {memory_id!r}"
        case _:
            return str(error)
    return f'{what} is at version {actual}, not {expected}: read it again, and send If-Match: "{actual}"'


def problem_response(error: ApiError) -> Response:
    """Return a response for *error*; it is also an ASGI application, so guards can answer with it."""
    document = problem_document(error)
    headers = dict(error.headers) if isinstance(error, Refusal) else {}
    if document["status"] == UNAVAILABLE.status:
        headers.setdefault("Retry-After", str(RETRY_AFTER_SECONDS))
    return Response(
        write_json(document), status_code=document["status"], headers=headers, media_type=MEDIA_TYPE
    )
