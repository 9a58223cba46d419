"""``CURES``: what each problem means and what a client does about it, for the page that its ``type`` leads to."""

from collections.abc import Mapping
from typing import Final

CURES: Final[Mapping[str, str]] = {
    "DataValidationError": (
        "Something in the request breaks a rule, and nothing was stored. `problems` names every place, for example "
        "`$.body.messages[2].content`. Correct these places and send the request again."
    ),
    "ConversationNotFoundError": (
        "No message is stored under this id: nobody has added one, or the conversation was cleared. Look at "
        "`GET /conversations`, or add a message: the first one creates the conversation."
    ),
    "AccessDeniedError": (
        "The conversation is another user's, or the token may not do this with it, or not write in that role. Nothing was "
        "changed. Use an id of your own, or have it granted in `[server.tokens]`."
    ),
    "MessageConflictError": (
        "A message with this id is stored in the conversation, and it says something else. Nothing was stored. Give the new "
        "message an id of its own, or none."
    ),
    "VersionConflictError": (
        "The conversation has changed since you read the version in `If-Match`. Nothing was stored. Read it again, decide "
        "anew, and send the new `ETag`."
    ),
    "MemoryNotFoundError": (
        "You see no memory with this id: it was forgotten, it belongs to another user or app, or it was superseded where a "
        "current one is needed. Look at `GET /memories`."
    ),
    "MemoryConflictError": (
        "A memory with this id is stored, and it says something else. Nothing was stored. Correct that memory with `PATCH`, "
        "or give the new one an id of its own, or none."
    ),
    "MemoryChangedError": (
        "The memory has changed since you read the version in `If-Match`. Nothing was changed. Read it again, decide anew, "
        "and send the new `ETag`."
    ),
    "NotUndoableError": (
        "What this change took away is gone, or the memory has changed since. Nothing was changed. The history of the memory "
        "says what came behind: undo the newest change first. What was forgotten does not come back; say it again."
    ),
    "PromptNotFoundError": "Nothing is indexed under this source. Take a source as a search or a recall names it.",
    "GenericMemoryError": (
        "The store or a model failed. With status 503 the same request may work soon: wait as long as `Retry-After` says, "
        "and send a write again with its `Idempotency-Key`. With status 500 the log of the server says more."
    ),
    "UnauthorizedError": (
        "This server has tokens. Send yours as `Authorization: Bearer TOKEN`. If it has expired, ask whoever runs the server "
        "for another, which `chatmemory token NAME` makes."
    ),
    "ForbiddenError": (
        "The token is valid, but not for this: it may only read, or it is for another app, for other conversations, or not "
        "for past chats. `GET /settings` says what it is for."
    ),
    "HostRefusedError": (
        "The `Host` header names another server. Use an address that the server listens at, or add the name to "
        "`server.hosts` in its configuration."
    ),
    "OriginRefusedError": (
        "A page of another origin may not use this server. Open the page that the server has itself, or ask from a program."
    ),
    "NotFoundError": "There is no operation at this path. See [the operations](/docs).",
    "MethodNotAllowedError": "The path exists, with other methods: `Allow` names them.",
    "RequestTimeoutError": "The request did not arrive in time. Send it again, over a faster connection or in smaller parts.",
    "ContentTooLargeError": "The body is larger than the server takes. Send less at a time.",
    "UnsupportedMediaTypeError": "Send JSON in UTF-8, as `Content-Type: application/json`, without `Content-Encoding`.",
    "MalformedRequestError": (
        "The request is not well-formed HTTP/1.1: percent-encode path and query as UTF-8, and keep the headers small."
    ),
    "IdempotencyKeyReusedError": (
        "Another request was sent with this `Idempotency-Key`. Nothing was stored. Send a key of its own with each request, "
        "and the same key only when you repeat the same request."
    ),
    "PastChatsNotIndexedError": "No past chats are indexed yet. Run `pastchats-memory index` where the server runs.",
    "ValueNotFoundError": "No value was set for the key, or it was deleted: `GET /values` lists those there are.",
    "SummaryNotFoundError": (
        "The message is no summary, or is not there. Summaries are the messages whose role is `summary`."
    ),
    "OverloadedError": "More requests arrive than the server answers at once. Wait as long as `Retry-After` says.",
    "NotReadyError": "The server runs, but its store does not answer. Ask again soon; `GET /settings` says where it is.",
    "InternalError": "The server has made a mistake. Its log says where.",
}
