"""Long-term memory over HTTP: list, recall, save, correct, promote, pin and forget; and the end of a session."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, Final, TypeVar, final

from attrs import field, frozen, validators

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect
from chatmemory.errors import (
    MemoryChangeError,
    MemoryReadError,
    RecallError,
    RememberError,
)
from chatmemory.input.choices import UNCHANGED, Unchanged, given
from chatmemory.input.json_value import JsonObject
from chatmemory.input.structuring import ALSO
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.longterm.extraction.memory_extractor import MemoryUpdate, Speaker
from chatmemory.longterm.memories import (
    AttributePolicy,
    Category,
    DedupPolicy,
    ForgetReceipt,
    Memory,
    MemoryChanges,
    MemoryFacets,
    MemoryPage,
    MemoryType,
    NewMemory,
    RememberReport,
    Source,
    Stored,
    UseReport,
)
from chatmemory.longterm.recall.recall import Recall
from chatmemory.programs.http.large_answers import bounded, bounded_hits
from chatmemory.programs.http.operation import Call, Empty, InApp, Operation
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.settings.memory_settings import MOST_RECALLED

A = TypeVar("A")
E = TypeVar("E")

MOST_LISTED: Final = 1000
MOST_REMEMBERED: Final = 1000
"""The most memories of one request: to embed them takes a quarter of a second, while other requests wait."""


@final
@frozen(kw_only=True)
class MemoryList:
    """A list of memories.

    Attributes:
        after: the `next` of the previous page.
        containing: only memories whose content, key or value contains this text.  A page looks through 5,000 memories, so
            it may have fewer than `limit`, or none, and a `next` to go on with.
        as_of: only memories that were current at this time; now if not given.
        source: only memories that came about in this way.
        superseded: `true`: only memories that are no longer current, or, with `asOf`, were no longer current then.
        app: the app; if not given, that of the token, or all apps.
    """

    limit: int = field(default=100, validator=[validators.ge(0), validators.le(MOST_LISTED)])
    after: str | None = None
    memory_type: MemoryType | None = None
    category: Category | None = None
    session_id: str | None = None
    tag: str | None = None
    containing: str | None = None
    as_of: datetime | None = None
    source: Source | None = None
    superseded: bool = False
    app: str | None = None


@final
@frozen(kw_only=True)
class FacetsWanted:
    """Filters, as a list of memories has them.

    Attributes:
        as_of: only memories that were current at this time; now if not given.
        source: only memories that came about in this way.
        superseded: `true`: only memories that are no longer current, or, with `asOf`, were no longer current then.
        app: the app; if not given, that of the token, or all apps.
    """

    memory_type: MemoryType | None = None
    category: Category | None = None
    session_id: str | None = None
    tag: str | None = None
    as_of: datetime | None = None
    source: Source | None = None
    superseded: bool = False
    app: str | None = None


@final
@frozen(kw_only=True)
class Remember:
    """Memories to save, all or none.

    Attributes:
        dedup: how duplicates are recognized.
        attributes: `read`: rules recognize what a user statement is about, such as where the user lives, and the new
            statement ends older ones about the same; `given`: only an attribute that the memory names has this effect.
    """

    memories: tuple[NewMemory, ...] = field(validator=validators.max_len(MOST_REMEMBERED))
    dedup: DedupPolicy = "exact"
    attributes: AttributePolicy = "given"


@final
@frozen(kw_only=True)
class Question:
    """A query to long-term memory.

    Attributes:
        limit: the most memories to return; null for the configured number.
        as_of: search what was current at this time; null for now.
    """

    query: str
    limit: int | None = field(
        default=None, validator=validators.optional([validators.ge(0), validators.le(MOST_RECALLED)])
    )
    category: Category | None = None
    tags: tuple[str, ...] = ()
    as_of: datetime | None = None


@final
@frozen(kw_only=True)
class Turn:
    """What a user said and an assistant answered, saved as two short-term memories (spec 000)."""

    user_content: str
    assistant_content: str
    session_id: str
    user_message_id: str | None = None
    assistant_message_id: str | None = None
    dedup: DedupPolicy = "first_50_characters"


@final
@frozen(kw_only=True)
class Said:
    """A text whose facts are saved.

    Attributes:
        update: the `memory_update` of a model's answer, under either name; null to let the extractor find the facts.
    """

    content: str
    role: Speaker = "user"
    session_id: str | None = None
    message_id: str | None = None
    update: MemoryUpdate | None = field(default=None, metadata={ALSO: "memory_update"})


@final
@frozen(kw_only=True)
class Shown:
    """The memories of a recall that a model was shown.

    Attributes:
        memory_ids: the ids of these memories; may be empty, because the query alone may count uses, see `query`.
        session_id: the conversation of the model; if null, the use counts for no session.
        query: the user's message; short-term memories of other sessions that share words with it also count as used,
            if `memory.promotion.afterSessions` is set.
    """

    memory_ids: tuple[str, ...] = field(validator=validators.max_len(MOST_RECALLED))
    session_id: str | None = None
    query: str | None = None


@final
@frozen(kw_only=True)
class Replacement:
    """The newer fact."""

    memory: NewMemory


@final
@frozen(kw_only=True)
class Restoring:
    """Which memory the restored one replaces.

    Attributes:
        instead_of: the id of a memory that ends now, such as the one that replaced the restored memory; null to change
            no other memory.
    """

    instead_of: str | None = None


@final
@frozen(kw_only=True)
class ForgetWhere:
    """Selects the memories that match all given fields; at least one field is needed.

    Attributes:
        session_id: only memories that come from this conversation.
        message_id: only memories that come from this message.
        path: only memories that were read from this file.
    """

    session_id: str | Unchanged = UNCHANGED
    message_id: str | Unchanged = UNCHANGED
    path: str | Unchanged = UNCHANGED


@final
@frozen
class EndedSession:
    """The number of short-term memories of the session that were removed."""

    removed: int


@final
@frozen(kw_only=True)
class Pin:
    """Whether the memory is exempt from decay and expiry."""

    pinned: bool


def of_memory(
    handler: Callable[[Call[Any, Any], LongTermMemory, Namespace], Effect[A, E]],
) -> Callable[[Call[Any, Any]], Effect[A, E | Refusal, LongTermMemoryService]]:
    """Give *handler* the service, and the namespace of the call, which may name an app."""

    @wraps(handler)
    def handle(call: Call[Any, Any]) -> Effect[A, E | Refusal, LongTermMemoryService]:
        return call.grant.namespace(call.query.app).bind(
            lambda namespace: LongTermMemoryService.use(lambda memory: handler(call, memory, namespace))
        )

    return handle


@of_memory
def list_memories(
    call: Call[MemoryList, None], memory: LongTermMemory, namespace: Namespace
) -> Effect[MemoryPage, RecallError | Refusal]:
    """List memories, newest first; a page with large memories ends earlier, and `next` is the cursor of the rest."""
    asked = call.query

    def page(limit: int) -> Effect[MemoryPage, RecallError]:
        return memory.list(
            namespace,
            limit=limit,
            after=asked.after,
            memory_type=asked.memory_type,
            category=asked.category,
            session_id=asked.session_id,
            tag=asked.tag,
            containing=asked.containing,
            as_of=asked.as_of,
            source=asked.source,
            superseded=asked.superseded,
        )

    return page(asked.limit).bind(lambda whole: bounded(whole, again=page))


@of_memory
def get_memory_facets(
    call: Call[FacetsWanted, None], memory: LongTermMemory, namespace: Namespace
) -> Effect[MemoryFacets, RecallError | Refusal]:
    """Count memories, in all and by category, memory type and source; each of the three under the other filters."""
    asked = call.query
    return memory.facets(
        namespace,
        memory_type=asked.memory_type,
        category=asked.category,
        session_id=asked.session_id,
        tag=asked.tag,
        as_of=asked.as_of,
        source=asked.source,
        superseded=asked.superseded,
    )


@of_memory
def remember(
    call: Call[InApp, Remember], memory: LongTermMemory, namespace: Namespace
) -> Effect[RememberReport, RememberError | Refusal]:
    """Save memories, all or none, and report the outcome of each."""
    said = call.body
    return memory.remember(namespace, said.memories, dedup=said.dedup, attributes=said.attributes)


@of_memory
def recall(
    call: Call[InApp, Question], memory: LongTermMemory, namespace: Namespace
) -> Effect[Recall, RecallError | Refusal]:
    """Return the long-term memories that match a query, best first, with the signals of each score."""
    asked = call.body
    return memory.recall(
        namespace,
        asked.query,
        limit=asked.limit,
        category=asked.category,
        tags=asked.tags,
        as_of=asked.as_of,
    ).map(bounded_hits)


@of_memory
def record_use(
    call: Call[InApp, Shown], memory: LongTermMemory, namespace: Namespace
) -> Effect[UseReport, RecallError | Refusal]:
    """Report that a model was shown memories of a recall; a memory that is used in enough sessions becomes long-term."""
    shown = call.body
    return memory.record_use(namespace, shown.memory_ids, session_id=shown.session_id, query=shown.query)


@of_memory
def save_turn(
    call: Call[InApp, Turn], memory: LongTermMemory, namespace: Namespace
) -> Effect[RememberReport, RememberError | Refusal]:
    """Save a turn as two short-term memories, the user's and the assistant's."""
    said = call.body
    return memory.save_conversation_turn(
        namespace,
        said.user_content,
        said.assistant_content,
        session_id=said.session_id,
        user_message_id=said.user_message_id,
        assistant_message_id=said.assistant_message_id,
        dedup=said.dedup,
    )


@of_memory
def auto_save(
    call: Call[InApp, Said], memory: LongTermMemory, namespace: Namespace
) -> Effect[RememberReport, RememberError | Refusal]:
    """Extract the facts in a text, and save each as a separate memory."""
    said = call.body
    return memory.auto_save(
        namespace,
        said.content,
        role=said.role,
        session_id=said.session_id,
        message_id=said.message_id,
        update=said.update,
    )


@of_memory
def get_memory(
    call: Call[InApp, None], memory: LongTermMemory, namespace: Namespace
) -> Effect[Memory, MemoryReadError | Refusal]:
    """Return one memory, current or superseded."""
    return memory.get(namespace, call.path["memoryId"])


@of_memory
def update_memory(
    call: Call[InApp, MemoryChanges], memory: LongTermMemory, namespace: Namespace
) -> Effect[Memory, MemoryChangeError | Refusal]:
    """Correct a memory: a field that you send replaces the stored one, and null clears it."""
    version = call.expected_version
    return memory.update(namespace, call.path["memoryId"], call.body, expected_version=version)


@of_memory
def supersede_memory(
    call: Call[InApp, Replacement], memory: LongTermMemory, namespace: Namespace
) -> Effect[Stored, MemoryChangeError | Refusal]:
    """Replace a current memory by a newer fact; the older one stays readable with `asOf`."""
    return memory.supersede(namespace, call.path["memoryId"], call.body.memory)


@of_memory
def restore_memory(
    call: Call[InApp, Restoring], memory: LongTermMemory, namespace: Namespace
) -> Effect[Memory, MemoryReadError | Refusal]:
    """Make a superseded or retired memory current again, and end another one if you name it."""
    return memory.restore(namespace, call.path["memoryId"], instead_of=call.body.instead_of)


@of_memory
def promote_memory(
    call: Call[InApp, Empty], memory: LongTermMemory, namespace: Namespace
) -> Effect[Memory, MemoryReadError | Refusal]:
    """Make a memory long-term, for example when a user marks it as important."""
    return memory.promote(namespace, call.path["memoryId"])


@of_memory
def pin_memory(
    call: Call[InApp, Pin], memory: LongTermMemory, namespace: Namespace
) -> Effect[Memory, MemoryReadError | Refusal]:
    """Exempt a memory from decay and expiry, or end the exemption."""
    return memory.pin(namespace, call.path["memoryId"], pinned=call.body.pinned)


@of_memory
def forget_memory(
    call: Call[InApp, None], memory: LongTermMemory, namespace: Namespace
) -> Effect[ForgetReceipt, MemoryReadError | Refusal]:
    """Delete a memory permanently, together with the memories that it superseded."""
    return memory.forget(namespace, call.path["memoryId"])


@of_memory
def forget_where(
    call: Call[InApp, ForgetWhere], memory: LongTermMemory, namespace: Namespace
) -> Effect[ForgetReceipt, RecallError | Refusal]:
    """Delete the memories of a session, a message or a file permanently."""
    return memory.forget_where(namespace, **given(call.body))


@of_memory
def forget_all(
    _: Call[InApp, Empty], memory: LongTermMemory, namespace: Namespace
) -> Effect[ForgetReceipt, RecallError | Refusal]:
    """Delete all memories permanently."""
    return memory.forget_all(namespace)


@of_memory
def end_session(
    call: Call[InApp, Empty], memory: LongTermMemory, namespace: Namespace
) -> Effect[EndedSession, RecallError | Refusal]:
    """Remove the short-term memories of a session that has ended, if the configuration says so."""
    return memory.end_session(namespace, call.path["sessionId"]).map(EndedSession)


EXAMPLE: Final[JsonObject] = {"memoryId": "0195ce1f-83a0-7d3c-9a54-4d6f2c1b7a91"}
_TURN: Final[JsonObject] = {
    "userContent": "Which tea did we like in Uji?",
    "assistantContent": "The gyokuro.",
    "sessionId": "trip-to-kyoto",
}

MEMORIES: Final[Sequence[Operation]] = (
    Operation("GET", "/memories", list_memories, example={"limit": 20, "category": "preference"}),
    Operation("GET", "/memory/facets", get_memory_facets, example={"source": "user_stated"}),
    Operation(
        "POST",
        "/memories",
        remember,
        status=201,
        asks_models=True,
        example={"body": {"memories": [{"content": "Mei drinks green tea.", "category": "preference"}]}},
    ),
    Operation(
        "POST",
        "/memories/recall",
        recall,
        reads_only=True,
        asks_models=True,
        example={"body": {"query": "What does Mei drink?", "limit": 5}},
    ),
    Operation(
        "POST",
        "/memories/uses",
        record_use,
        example={
            "body": {
                "memoryIds": ["0195ce1f-83a0-7d3c-9a54-4d6f2c1b7a91"],
                "sessionId": "trip-to-kyoto",
                "query": "What does Mei drink?",
            }
        },
    ),
    Operation("POST", "/memories/turn", save_turn, status=201, asks_models=True, example={"body": _TURN}),
    Operation(
        "POST",
        "/memories/auto-save",
        auto_save,
        status=201,
        asks_models=True,
        example={"body": {"content": "I live in Shanghai and I prefer short answers."}},
    ),
    Operation("POST", "/memories/forget", forget_where, example={"body": {"sessionId": "trip-to-kyoto"}}),
    Operation("POST", "/memories/forget-all", forget_all, example={"body": {}}),
    Operation("GET", "/memories/{memoryId}", get_memory, example=EXAMPLE),
    Operation(
        "PATCH",
        "/memories/{memoryId}",
        update_memory,
        takes_version=True,
        asks_models=True,
        example={**EXAMPLE, "body": {"content": "Mei drinks green tea, and never coffee."}},
    ),
    Operation("DELETE", "/memories/{memoryId}", forget_memory, example=EXAMPLE),
    Operation(
        "POST",
        "/memories/{memoryId}/supersede",
        supersede_memory,
        status=201,
        asks_models=True,
        example={**EXAMPLE, "body": {"memory": {"content": "Mei drinks oolong."}}},
    ),
    Operation("POST", "/memories/{memoryId}/restore", restore_memory, example={**EXAMPLE, "body": {}}),
    Operation("POST", "/memories/{memoryId}/promote", promote_memory, example={**EXAMPLE, "body": {}}),
    Operation(
        "POST", "/sessions/{sessionId}/end", end_session, example={"sessionId": "trip-to-kyoto", "body": {}}
    ),
    Operation("PUT", "/memories/{memoryId}/pin", pin_memory, example={**EXAMPLE, "body": {"pinned": True}}),
)
