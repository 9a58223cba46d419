"""``openapi_document``: ``GET /openapi.json``, generated from the operations and the types of their handlers.

``every_operation.py`` writes the document to a file.  The schemas come from ``json_schema.py``, the descriptions from the
docstrings, and the failures from ``problems.py``.  ``RULES_OF_REQUESTS`` are the rules that services check instead of attrs
validators, as JSON Schema.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, Final, Never

import attrs

from chatmemory.conversation.message_search import MOST_FOUND, MOST_QUERY_CHARACTERS, MessageSearch
from chatmemory.input.json_value import Json, JsonObject
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS, MAX_ID_CHARACTERS
from chatmemory.input.structuring import key_of
from chatmemory.longterm.memory_rules import MAX_CONTAINED_CHARACTERS
from chatmemory.programs.http.answering import (
    A_KEY,
    A_VERSION,
    UNCHANGED_WITH_ITS_VERSION,
    VERSIONED,
)
from chatmemory.programs.http.operation import InApp, Operation, Stream
from chatmemory.programs.http.operations.changes import ChangesList, FollowingChanges
from chatmemory.programs.http.operations.conversations import ConversationList, ForkConversation
from chatmemory.programs.http.operations.memories import (
    FacetsWanted,
    ForgetWhere,
    MemoryList,
    Question,
    Restoring,
    Said,
    Shown,
    Turn,
)
from chatmemory.programs.http.operations.past_chats import PastConversationList
from chatmemory.programs.http.operations.values import NewValue, ValueAt, ValueList
from chatmemory.programs.http.problems import KINDS, MEDIA_TYPE, UNAVAILABLE, ProblemDocument
from chatmemory.programs.json_schema import AN_ID, RULES, SOME_WORD, TAGS, TOGETHER, Description
from chatmemory.programs.operations.changes import AuditList
from chatmemory.programs.operations.context import ContextRequest
from chatmemory.programs.operations.refusal import Refusal

A_CURSOR: Final[JsonObject] = {"format": "cursor"}
"""The schema of a cursor, which only a previous page can give."""

_AN_APP: Final[JsonObject] = {"maxLength": MAX_ID_CHARACTERS}
_TEXT: Final[JsonObject] = {"maxLength": MAX_CONTENT_CHARACTERS}

RULES_OF_REQUESTS: Final[Mapping[tuple[object, str], JsonObject]] = {
    **RULES,
    (InApp, "app"): _AN_APP,
    (ConversationList, "after"): A_CURSOR,
    (ForkConversation, "new_id"): AN_ID,
    (ForkConversation, "at"): AN_ID,
    (ForkConversation, TOGETHER): {
        "anyOf": [{"properties": {"at": {"type": "null"}}}, {"properties": {"version": {"type": "null"}}}]
    },
    (MessageSearch, "query"): {"minLength": 1, "maxLength": MOST_QUERY_CHARACTERS, "pattern": SOME_WORD},
    (MessageSearch, "conversation_id"): AN_ID,
    (MessageSearch, "prefix"): {"maxLength": MAX_ID_CHARACTERS},
    (MessageSearch, "limit"): {"minimum": 0, "maximum": MOST_FOUND},
    (MessageSearch, "after"): {"format": "search-cursor"},
    (FacetsWanted, "app"): _AN_APP,
    (FacetsWanted, "session_id"): AN_ID,
    (FacetsWanted, "tag"): AN_ID,
    (MemoryList, "app"): _AN_APP,
    (MemoryList, "after"): A_CURSOR,
    (MemoryList, "session_id"): AN_ID,
    (MemoryList, "tag"): AN_ID,
    (MemoryList, "containing"): {"minLength": 1, "maxLength": MAX_CONTAINED_CHARACTERS},
    (AuditList, "after"): {"format": "audit-cursor"},
    (ChangesList, "since"): {"format": "changes-cursor"},
    (FollowingChanges, "since"): {"format": "changes-cursor"},
    (AuditList, "who"): AN_ID,
    (AuditList, "target"): AN_ID,
    (ForgetWhere, "session_id"): AN_ID,
    (ForgetWhere, "message_id"): AN_ID,
    (ForgetWhere, "path"): {"minLength": 1, "maxLength": MAX_CONTENT_CHARACTERS},
    (ForgetWhere, TOGETHER): {
        "anyOf": [{"required": ["sessionId"]}, {"required": ["messageId"]}, {"required": ["path"]}]
    },
    (ValueList, "app"): _AN_APP,
    (ValueList, "after"): A_CURSOR,
    (ValueAt, "app"): _AN_APP,
    (NewValue, "content"): {"minLength": 1, "maxLength": MAX_CONTENT_CHARACTERS},
    (Question, "query"): _TEXT,
    (Question, "tags"): TAGS,
    (Shown, "memory_ids"): {"items": {"type": "string", **AN_ID}},
    (Restoring, "instead_of"): AN_ID,
    (Shown, "session_id"): AN_ID,
    (Shown, "query"): _TEXT,
    (Turn, "session_id"): AN_ID,
    (Turn, "user_message_id"): AN_ID,
    (Turn, "assistant_message_id"): AN_ID,
    (Said, "session_id"): AN_ID,
    (Said, "message_id"): AN_ID,
    (ContextRequest, "conversation_id"): AN_ID,
    (ContextRequest, "message_id"): AN_ID,
    (PastConversationList, "after"): {"format": "past-cursor"},
}

API_VERSION: Final = "1"
SCHEMAS: Final = "#/components/schemas/"
RESPONSES: Final = "#/components/responses/"

ABOUT: Final = (
    "Conversation memory and long-term memory for AI agents. Names are camelCase, times are ISO 8601 in UTC. An id in a "
    "path is one percent-encoded segment; `.` and `..` are not allowed there, because clients resolve them. A request "
    "that fails is answered with a problem document (RFC 9457): its `tag` names the error, its `retryIsSafe` says "
    "whether you may send the same request again, its `type` is the address of a page about it. A server without tokens "
    "needs no `Authorization`; its document then has an empty `security`."
)

SERVERS: Final[Json] = [
    {"url": "/", "description": "the server that returned this document"},
    {"url": "http://127.0.0.1:8642", "description": "the default address of `chatmemory serve`"},
]

BEFORE_HANDLERS: Final = (
    "MalformedRequestError",
    "UnauthorizedError",
    "ForbiddenError",
    "OriginRefusedError",
    "RequestTimeoutError",
    "ContentTooLargeError",
    "UnsupportedMediaTypeError",
    "HostRefusedError",
    "DataValidationError",
    "InternalError",
    "OverloadedError",
)
"""The tags of the refusals that every operation may answer with, before its handler is called."""

_HEADERS_OF_PROBLEMS: Final[dict[int, JsonObject]] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    503: {"Retry-After": {"description": "seconds", "schema": {"type": "string", "pattern": "^[0-9]+$"}}},
}
_ETAG: Final[JsonObject] = {
    "description": "The version, for `If-Match`.",
    "required": True,
    "schema": {"type": "string", "pattern": f"^{A_VERSION}$"},
}


def openapi_document(operations: Iterable[Operation], *, needs_token: bool = True) -> JsonObject:
    """Return the document of *operations*; *needs_token* says whether requests need a token."""
    description = Description(place=SCHEMAS, rules=RULES_OF_REQUESTS)
    paths: dict[str, dict[str, Json]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, description)
    return {
        "openapi": "3.1.0",
        "info": {"title": "chatmemory", "version": API_VERSION, "description": ABOUT},
        "servers": SERVERS,
        "security": [{"token": []}] if needs_token else [],
        "paths": paths,
        "components": {
            "schemas": {
                "ProblemDocument": _problem_schema(description),
                **dict(sorted(description.definitions.items())),
            },
            "responses": {
                str(status): _problem_response(status, tags) for status, tags in _by_status(BEFORE_HANDLERS)
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: Operation, description: Description) -> JsonObject:
    summary, _, prose = (inspect.getdoc(operation.handler) or "").replace("``", "`").partition("\n\n")
    _, body, *_ = operation.signature
    return {
        "operationId": key_of(operation.name),
        "tags": [operation.path.split("/")[1]],
        "summary": " ".join(summary.split()),
        **({"description": prose} if prose else {}),
        **({"security": []} if operation.is_open else {}),
        "parameters": [
            *_path_parameters(operation),
            *_query_parameters(operation, description),
            *_header_parameters(operation),
        ],
        **({} if body is NoneType else {"requestBody": _request_body(operation, description)}),
        "responses": _responses(operation, description),
    }


def _path_parameters(operation: Operation) -> Iterator[JsonObject]:
    for name in operation.path_parameters:
        schema: JsonObject = {"type": "string", **AN_ID}
        yield {"name": name, "in": "path", "required": True, "schema": schema, **_example(operation, name)}


def _query_parameters(operation: Operation, description: Description) -> Iterator[JsonObject]:
    described: Any = description.of_class(operation.signature.query)
    for name, schema in described["properties"].items():
        prose = schema.pop("description", None)
        yield {
            "name": name,
            "in": "query",
            **({"description": prose} if prose else {}),
            "required": name in described["required"],
            "schema": _without_null(schema),
            **_example(operation, name),
        }


def _example(operation: Operation, name: str) -> JsonObject:
    return {"example": operation.example[name]} if name in operation.example else {}


def _without_null(schema: dict[str, Any]) -> JsonObject:
    """Return *schema* without null: a client leaves a parameter out instead of sending null."""
    if schema.get("default", ...) is None:
        del schema["default"]
    inner: JsonObject = {}
    match schema.pop("anyOf", None):
        case [given, {"type": "null"}]:
            inner = given
        case [*several, {"type": "null"}]:
            inner = {"anyOf": several}
        case _:
            pass
    return {**inner, **schema}


def _header_parameters(operation: Operation) -> Iterator[JsonObject]:
    if operation.takes_version:
        about = "The ETag of the version that you read; the answer is 412 if it has changed since."
        yield _header("If-Match", about, pattern=f"^{A_VERSION}$", example='"12"')
    if operation.method == "GET" and operation.signature.answer in UNCHANGED_WITH_ITS_VERSION:
        yield _header(
            "If-None-Match", "The ETag of the version that you have; the answer is 304 if it has not changed."
        )
    if operation.changes:
        about = (
            "A key of your choice; send the same key when you retry a write: it happens once, and you get the first answer, "
            "for a week. Another request with the same key is refused."
        )
        yield _header("Idempotency-Key", about, pattern=f"^{A_KEY}$")
    if operation.stream is not None:
        about = "The id of the last event that you received."
        yield _header("Last-Event-ID", about, **_id_of(operation.stream))


def _header(name: str, about: str, *, example: str | None = None, **rules: Json) -> JsonObject:
    return {
        "name": name,
        "in": "header",
        "description": about,
        "schema": {"type": "string", **rules},
        **({} if example is None else {"example": example}),
    }


def _request_body(operation: Operation, description: Description) -> JsonObject:
    content = {"schema": description.of_type(operation.signature.body), **_example(operation, "body")}
    return {"required": True, "content": {"application/json": content}}


def _responses(operation: Operation, description: Description) -> JsonObject:
    answer, errors = operation.signature.answer, operation.signature.errors
    before = [tag for tag in BEFORE_HANDLERS if not (operation.is_open and tag == "UnauthorizedError")]
    tags = [error.__name__ for error in errors if error not in {Never, Refusal}]
    tags += [*operation.refusals, *(["IdempotencyKeyReusedError"] if operation.changes else [])]
    shared = dict(_by_status(BEFORE_HANDLERS))
    problems = {
        str(status): {"$ref": f"{RESPONSES}{status}"}
        if shared.get(status) == named
        else _problem_response(status, named)
        for status, named in _by_status([*before, *tags])
    }
    headers: JsonObject = {"headers": {"ETag": _ETAG}} if answer in VERSIONED else {}
    content: JsonObject = (
        {"text/event-stream": {"schema": _event(operation.stream, description)}}
        if operation.stream is not None
        else {"application/json": {"schema": description.of_type(answer)}}
    )
    responses: dict[str, Json] = {
        str(operation.status): {"description": _prose(answer), **headers, "content": content}
    }
    if operation.method == "GET" and answer in UNCHANGED_WITH_ITS_VERSION:
        responses["304"] = {"description": "Not changed.", **headers}
    return {**responses, **problems}


def _id_of(stream: Stream) -> dict[str, str]:
    if stream.format is not None:
        return {"format": stream.format}
    return {"pattern": f"^{stream.ids}$"}


def _event(stream: Stream, description: Description) -> JsonObject:
    """Describe one event of a stream, because OpenAPI cannot describe a whole stream."""
    told: JsonObject = {
        "contentMediaType": "application/json",
        "contentSchema": description.of_type(stream.data),
    }
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "For `Last-Event-ID`.", **_id_of(stream)},
            "event": {"enum": [*stream.events]},
            "data": {"type": "string", "description": f"Of `{stream.events[0]}`.", **told},
        },
        "required": ["event", "data"],
    }


def _prose(answer: Any) -> str:
    about = inspect.getdoc(answer) if attrs.has(answer) else None
    return (about or "As asked.").partition("\n\n")[0].replace("``", "`")


def _by_status(tags: Iterable[str]) -> Sequence[tuple[int, Sequence[str]]]:
    """Group *tags* by their HTTP status, in ascending order."""
    by_status: dict[int, list[str]] = {}
    for tag in dict.fromkeys(tags):
        by_status.setdefault(KINDS[tag].status, []).append(tag)
        if tag == "GenericMemoryError":
            by_status.setdefault(UNAVAILABLE.status, []).append(tag)
    return sorted(by_status.items())


def _problem_response(status: int, tags: Sequence[str]) -> JsonObject:
    headers = _HEADERS_OF_PROBLEMS.get(status)
    kinds = {tag: KINDS[tag] if KINDS[tag].status == status else UNAVAILABLE for tag in tags}
    return {
        "description": "\n".join(f"`{tag}`: {kind.title}" for tag, kind in kinds.items()),
        **({"headers": headers} if headers else {}),
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"{SCHEMAS}ProblemDocument"}}},
    }


def _problem_schema(description: Description) -> JsonObject:
    schema: dict[str, Any] = dict(description.of_class(ProblemDocument))
    schema["properties"]["tag"]["enum"] = sorted(KINDS)
    return schema
