"""``problem_response``: the answer to a request that fails: a problem document (RFC 9457) with a status, a title and a tag.

``KINDS`` has one row for each error of the services and for each refusal of the server itself.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypedDict

from starlette.responses import Response

from chatmemory.errors import (
    DataValidationError,
    GenericMemoryError,
    MemoryChangedError,
    Problem,
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
    """What all problems of a tag have in common.

    Attributes:
        cure: what a client can do about it, in Markdown, for the page that a document links to.
    """

    status: int
    title: str
    cure: str


KINDS: Final[Mapping[str, Kind]] = {
    "DataValidationError": Kind(
        422,
        "The input breaks rules",
        "Something in the request breaks a rule, and nothing was stored. `problems` names each place, for example "
        "`$.body.messages[2].content`. Correct these places and send the request again.",
    ),
    "ConversationNotFoundError": Kind(
        404,
        "Nothing is stored under this conversation",
        "No message is stored under this id: nobody has added one, or the conversation was cleared. Look at "
        "`GET /conversations`, or add a message: the first one creates the conversation.",
    ),
    "AccessDeniedError": Kind(
        403,
        "The token does not allow this with the conversation",
        "The conversation belongs to another user, or the token may not do this with it or write in this role. Nothing was "
        "changed. Use another id, or give the token the right in `[server.tokens]`.",
    ),
    "MessageConflictError": Kind(
        409,
        "The message id is already used for other content",
        "The conversation already has a message with this id and other content. Nothing was stored. Give the new message "
        "another id, or none.",
    ),
    "VersionConflictError": Kind(
        412,
        "The conversation has changed since it was read",
        "The conversation has changed since you read the version in `If-Match`. Nothing was stored. Read it again, check "
        "whether your change still applies, and send it with the new `ETag`.",
    ),
    "MemoryNotFoundError": Kind(
        404,
        "There is no such memory",
        "You see no memory with this id: it was forgotten, it belongs to another user or app, or it was superseded where a "
        "current one is needed. Look at `GET /memories`.",
    ),
    "MemoryConflictError": Kind(
        409,
        "The memory id is already used for other content",
        "A memory with this id and other content is already stored. Nothing was stored. Correct that memory with `PATCH`, "
        "or give the new one another id, or none.",
    ),
    "MemoryChangedError": Kind(
        412,
        "The memory has changed since it was read",
        "The memory has changed since you read the version in `If-Match`. Nothing was changed. Read it again, check whether "
        "your change still applies, and send it with the new `ETag`.",
    ),
    "NotUndoableError": Kind(
        409,
        "The change cannot be undone",
        "What this change removed no longer exists, or the memory has changed since. Nothing was changed. The history of the "
        "memory lists later changes: undo the newest one first. Forgotten content cannot be restored; add it again.",
    ),
    "PromptNotFoundError": Kind(
        404,
        "Nothing is indexed from this source",
        "Nothing is indexed under this source. Use a source from the results of a search or a recall.",
    ),
    "GenericMemoryError": Kind(
        500,
        "The store or a model failed",
        "The store or a model failed. With status 503 the same request may work soon: wait as long as `Retry-After` says, "
        "and send a write again with its `Idempotency-Key`. With status 500, see the log of the server.",
    ),
    "UnauthorizedError": Kind(
        401,
        "A token is needed",
        "This server has tokens. Send yours as `Authorization: Bearer TOKEN`. If it has expired, ask the operator of the "
        "server for a new one, made with `chatmemory token NAME`.",
    ),
    "ForbiddenError": Kind(
        403,
        "The token does not allow this",
        "The token is valid, but does not allow this: it may only read, or it is for another app or other conversations, or "
        "it has no access to past chats. `GET /settings` shows its user and app.",
    ),
    "HostRefusedError": Kind(
        421,
        "This is not a name of this server",
        "The `Host` header names another server. Use an address that the server listens on, or add the name to "
        "`server.hosts` in its configuration.",
    ),
    "OriginRefusedError": Kind(
        403,
        "Pages of other origins may not use this server",
        "A page of another origin may not use this server. Open the server's own page, or send the request from a program.",
    ),
    "NotFoundError": Kind(
        404,
        "There is nothing at this path",
        "There is no operation at this path. See [the operations](/docs).",
    ),
    "MethodNotAllowedError": Kind(
        405,
        "This path does not take the method",
        "The path exists, but not with this method: the `Allow` header lists its methods.",
    ),
    "RequestTimeoutError": Kind(
        408,
        "The request took too long to arrive",
        "The request did not arrive in time. Send it again, over a faster connection or in smaller parts.",
    ),
    "ContentTooLargeError": Kind(
        413,
        "The body is too large",
        "The body is larger than the server accepts. Send less at a time.",
    ),
    "UnsupportedMediaTypeError": Kind(
        415,
        "The body has to be JSON",
        "Send JSON in UTF-8, as `Content-Type: application/json`, without `Content-Encoding`.",
    ),
    "MalformedRequestError": Kind(
        400,
        "The request is not well-formed HTTP",
        "The request is not well-formed HTTP/1.1: percent-encode path and query as UTF-8, and keep the headers small.",
    ),
    "IdempotencyKeyReusedError": Kind(
        422,
        "The key belongs to another request",
        "Another request was sent with this `Idempotency-Key`. Nothing was stored. Send a key of its own with each request, "
        "and the same key only when you repeat the same request.",
    ),
    "PastChatsNotIndexedError": Kind(
        404,
        "No past chats are indexed yet",
        "No past chats are indexed yet. Run `pastchats-memory index` where the server runs.",
    ),
    "ValueNotFoundError": Kind(
        404,
        "The key has no value",
        "No value was set for the key, or it was deleted: `GET /values` lists the existing ones.",
    ),
    "SummaryNotFoundError": Kind(
        404,
        "The message is not a summary",
        "The message is not a summary, or does not exist. Summaries are the messages whose role is `summary`.",
    ),
    "OverloadedError": Kind(
        503,
        "Too many requests at once",
        "There are more requests than the server answers at once. Wait as long as `Retry-After` says.",
    ),
    "NotReadyError": Kind(
        503,
        "The store does not answer",
        "The server runs, but its store does not answer. Try again soon; `GET /settings` shows where it is.",
    ),
    "InternalError": Kind(
        500,
        "The server made a mistake",
        "The server has a bug. Its log shows where.",
    ),
}
"""The kind of every problem that a client can meet, by its tag: the errors of the services, then the refusals of the server."""

UNAVAILABLE: Final = KINDS["GenericMemoryError"]._replace(
    status=503, title="The store or a model does not answer now"
)
"""The kind of an error below the services after which the same request may succeed."""


def problem_document(error: ApiError) -> ProblemDocument:
    """Return the problem document of *error*."""
    is_unavailable = isinstance(error, GenericMemoryError) and error.retry_is_safe
    kind = UNAVAILABLE if is_unavailable else KINDS[error.tag]
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
