"""``problem_response``: the answer to a request that fails: a problem document (RFC 9457) with a status, a title and a tag.

Each error of a service has one row in ``kind_of``, and the type checker verifies that none is missing; each refusal of
the server itself has one in ``REFUSALS``.  ``CURES`` says what a client can do, for the page that a document links to.
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
CURES: Final[Mapping[str, str]] = {
    "DataValidationError": (
        "Something in the request breaks a rule, and nothing was stored. `problems` names each place, for example "
        "`$.body.messages[2].content`. Correct these places and send the request again."
    ),
    "ConversationNotFoundError": (
        "No message is stored under this id: nobody has added one, or the conversation was cleared. Look at "
        "`GET /conversations`, or add a message: the first one creates the conversation."
    ),
    "AccessDeniedError": (
        "The conversation belongs to another user, or the token may not do this with it or write in this role. Nothing was "
        "changed. Use another id, or give the token the right in `[server.tokens]`."
    ),
    "MessageConflictError": (
        "The conversation already has a message with this id and other content. Nothing was stored. Give the new message "
        "another id, or none."
    ),
    "VersionConflictError": (
        "The conversation has changed since you read the version in `If-Match`. Nothing was stored. Read it again, check "
        "whether your change still applies, and send it with the new `ETag`."
    ),
    "MemoryNotFoundError": (
        "You see no memory with this id: it was forgotten, it belongs to another user or app, or it was superseded where a "
        "current one is needed. Look at `GET /memories`."
    ),
    "MemoryConflictError": (
        "A memory with this id and other content is already stored. Nothing was stored. Correct that memory with `PATCH`, "
        "or give the new one another id, or none."
    ),
    "MemoryChangedError": (
        "The memory has changed since you read the version in `If-Match`. Nothing was changed. Read it again, check whether "
        "your change still applies, and send it with the new `ETag`."
    ),
    "NotUndoableError": (
        "What this change removed no longer exists, or the memory has changed since. Nothing was changed. The history of the "
        "memory lists later changes: undo the newest one first. Forgotten content cannot be restored; add it again."
    ),
    "PromptNotFoundError": "Nothing is indexed under this source. Use a source from the results of a search or a recall.",
    "GenericMemoryError": (
        "The store or a model failed. With status 503 the same request may work soon: wait as long as `Retry-After` says, "
        "and send a write again with its `Idempotency-Key`. With status 500, see the log of the server."
    ),
    "UnauthorizedError": (
        "This server has tokens. Send yours as `Authorization: Bearer TOKEN`. If it has expired, ask the operator of the "
        "server for a new one, made with `chatmemory token NAME`."
    ),
    "ForbiddenError": (
        "The token is valid, but does not allow this: it may only read, or it is for another app or other conversations, or "
        "it has no access to past chats. `GET /settings` shows its user and app."
    ),
    "HostRefusedError": (
        "The `Host` header names another server. Use an address that the server listens on, or add the name to "
        "`server.hosts` in its configuration."
    ),
    "OriginRefusedError": (
        "A page of another origin may not use this server. Open the server's own page, or send the request from a program."
    ),
    "NotFoundError": "There is no operation at this path. See [the operations](/docs).",
    "MethodNotAllowedError": "The path exists, but not with this method: the `Allow` header lists its methods.",
    "RequestTimeoutError": "The request did not arrive in time. Send it again, over a faster connection or in smaller parts.",
    "ContentTooLargeError": "The body is larger than the server accepts. Send less at a time.",
    "UnsupportedMediaTypeError": "Send JSON in UTF-8, as `Content-Type: application/json`, without `Content-Encoding`.",
    "MalformedRequestError": (
        "The request is not well-formed HTTP/1.1: percent-encode path and query as UTF-8, and keep the headers small."
    ),
    "IdempotencyKeyReusedError": (
        "Another request was sent with this `Idempotency-Key`. Nothing was stored. Send a key of its own with each request, "
        "and the same key only when you repeat the same request."
    ),
    "PastChatsNotIndexedError": "No past chats are indexed yet. Run `pastchats-memory index` where the server runs.",
    "ValueNotFoundError": "No value was set for the key, or it was deleted: `GET /values` lists the existing ones.",
    "SummaryNotFoundError": (
        "The message is not a summary, or does not exist. Summaries are the messages whose role is `summary`."
    ),
    "OverloadedError": "There are more requests than the server answers at once. Wait as long as `Retry-After` says.",
    "NotReadyError": "The server runs, but its store does not answer. Try again soon; `GET /settings` shows where it is.",
    "InternalError": "The server has a bug. Its log shows where.",
}


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
