"""``CURES``: the meaning of each problem and what a client can do about it, for the page that its ``type`` links to."""

from collections.abc import Mapping
from typing import Final

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
