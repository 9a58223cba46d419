"""``application``: the operations and the page as an ASGI application, behind the guards of ``guards``."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final, TypeAlias

import anyio

from chatmemory.extra import needs_extra

with needs_extra("server"):
    from starlette.routing import Router
    from starlette.types import ASGIApp

from chatmemory.context.contract import ChatContextService
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.effect import Runner
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.events.audit import AuditTrailTag
from chatmemory.events.event_log import EventLogTag
from chatmemory.input.first_answers import FirstAnswersTag
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.pastchats.contract import PastChatsService
from chatmemory.programs.http.access import Access, TokenGuard, grant_of
from chatmemory.programs.http.answering import Answering
from chatmemory.programs.http.docs_pages import docs_pages
from chatmemory.programs.http.guards.answers import Compressed
from chatmemory.programs.http.guards.limits import AtMost, ContentGuard, FreeMemory, StreamLimit
from chatmemory.programs.http.guards.requests import MethodRoute, RawPaths, guarded
from chatmemory.programs.http.openapi import openapi_document
from chatmemory.programs.http.operation import Operation
from chatmemory.programs.http.operations.description import ServerFactsTag
from chatmemory.programs.http.operations.every_operation import OPERATIONS
from chatmemory.programs.http.page_files import page_files
from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.settings.server_settings import ServerSettings

Services: TypeAlias = (
    ChatMemoryService
    | LongTermMemoryService
    | ChatContextService
    | EmbedderTag
    | PastChatsService
    | FirstAnswersTag
    | AuditTrailTag
    | EventLogTag
    | ServerFactsTag
)
"""The services that the operations need."""

NOTHING_THERE: Final = Refusal("NotFoundError", "see /docs or /openapi.json for the paths that exist")

MOST_STREAMS: Final = 100
"""The most event streams that are open at once."""


def application(runtime: Runner[Services], settings: ServerSettings, *, closing: anyio.Event) -> ASGIApp:
    """Return an application that answers requests with the services of *runtime*, which must stay open meanwhile.

    Set *closing* when the server shuts down, so that event streams end.
    """
    access = Access(settings, runtime)
    # Separate limits: a model endpoint that hangs delays only the requests that need it, and not health checks.
    quick, asking, watching = (anyio.Semaphore(settings.max_requests) for _ in range(3))
    memory = FreeMemory()
    methods: Mapping[str, set[str]] = defaultdict(set)
    for operation in OPERATIONS:
        methods[operation.path].add(operation.method)

    def route(operation: Operation) -> MethodRoute:
        app: ASGIApp = Answering(operation, runtime, closing)
        if operation.stream is not None:
            app = StreamLimit(app, slots=MOST_STREAMS, client_of=grant_of)
        else:
            slots = watching if operation.is_open else asking if operation.asks_models else quick
            app = AtMost(app, slots=slots)
        app = ContentGuard(
            app, max_bytes=settings.max_body_bytes, seconds=settings.body_seconds, memory=memory
        )
        if not operation.is_open:
            app = TokenGuard(app, access, changes=operation.changes)
        if operation.stream is None:
            app = Compressed(app)
        return MethodRoute(operation.path, operation.method, app, methods_here=methods[operation.path])

    routes = [route(operation) for operation in OPERATIONS]
    docs = docs_pages(lambda: openapi_document(OPERATIONS, needs_token=settings.needs_token))
    files: Mapping[str, ASGIApp] = {**page_files(), **docs}
    routes += [
        MethodRoute(path, "GET", Compressed(file), methods_here=["GET"]) for path, file in files.items()
    ]
    nothing_there = problem_response(NOTHING_THERE)
    return RawPaths(guarded(Router(routes, redirect_slashes=False, default=nothing_there), settings))
