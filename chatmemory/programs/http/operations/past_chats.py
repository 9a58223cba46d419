"""Past chats over HTTP: conversations of other tools, to be read and searched, never to be changed."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar, final

from attrs import field, frozen, validators

from chatmemory.effect import Effect
from chatmemory.errors import GenericMemoryError, PastChatsError, RepositoryError
from chatmemory.input.choices import Role
from chatmemory.input.rules import MAX_LIMIT
from chatmemory.pastchats.contract import PastChats, PastChatsService, SearchMode
from chatmemory.pastchats.finding.past_chats_live import MOST_CONVERSATIONS, MOST_HITS, MOST_TURNS
from chatmemory.pastchats.finding.prompt_hits import PastRecall, PromptSearchResult
from chatmemory.pastchats.past_chats import PastChatsStatistics, PastConversationPage, PastTurnPage
from chatmemory.pastchats.prompt import PromptFilter
from chatmemory.programs.http.operation import Call, NoParameters, Operation
from chatmemory.programs.operations.grant import NO_PAST_CHATS
from chatmemory.programs.operations.refusal import Refusal

A = TypeVar("A")

MOST_EXCHANGES: Final = 50


@final
@frozen(kw_only=True)
class PastConversationList:
    """A list of past conversations.

    Attributes:
        after: the `next` of the previous page.
        project: only conversations with turns of this project, in upper or lower case.
        format: only conversations of this format, for example `claude_code`.
    """

    limit: int = field(default=50, validator=[validators.ge(1), validators.le(MOST_CONVERSATIONS)])
    after: str | None = None
    project: str | None = None
    format: str | None = None


@final
@frozen(kw_only=True)
class PastTurnList:
    """A page of a past conversation.

    Attributes:
        newer_than: the `next` of the previous page; -1 for the start.
    """

    limit: int = field(default=100, validator=[validators.ge(1), validators.le(MOST_TURNS)])
    newer_than: int = field(default=-1, validator=[validators.ge(-1), validators.le(MAX_LIMIT)])


@final
@frozen(kw_only=True)
class PastQuestion:
    """A search in past chats.

    Attributes:
        mode: `hybrid` searches by words and meaning, `lexical` by words alone.
        projects: only turns of these projects; an empty list for all projects.
        roles: only turns that these roles said; an empty list for all roles.
        formats: only turns from histories of these formats; an empty list for all formats.
        since: only turns said at this time or later; null for no limit.
        until: only turns said before this time; null for no limit.
    """

    query: str
    limit: int = field(default=10, validator=[validators.ge(1), validators.le(MOST_HITS)])
    mode: SearchMode = "hybrid"
    projects: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    formats: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@final
@frozen(kw_only=True)
class PastTask:
    """The task to recall for.

    Attributes:
        limit: the most exchanges to return.
        tokens: the most tokens of the text; null for the configured number.
    """

    query: str
    limit: int = field(default=5, validator=[validators.ge(1), validators.le(MOST_EXCHANGES)])
    tokens: int | None = field(default=None, validator=validators.optional(validators.ge(1)))


def count_past_chats(
    call: Call[NoParameters, None],
) -> Effect[PastChatsStatistics, PastChatsError | Refusal, PastChatsService]:
    """Count the indexed past chats by format, role and project."""
    return _past_chats(call, lambda chats: chats.statistics())


def list_past_conversations(
    call: Call[PastConversationList, None],
) -> Effect[PastConversationPage, PastChatsError | Refusal, PastChatsService]:
    """List past conversations, the latest first."""
    asked = call.query
    which = PromptFilter(projects=_named(asked.project), formats=_named(asked.format))
    return _past_chats(call, lambda chats: chats.conversations(which, limit=asked.limit, after=asked.after))


def read_past_conversation(
    call: Call[PastTurnList, None],
) -> Effect[PastTurnPage, PastChatsError | Refusal, PastChatsService]:
    """Return a page of a past conversation, from its start; turns with the same number stay on one page."""
    asked, conversation_id = call.query, call.path["conversationId"]
    return _past_chats(
        call, lambda chats: chats.turns(conversation_id, newer_than=asked.newer_than, limit=asked.limit)
    )


def search_past_chats(
    call: Call[NoParameters, PastQuestion],
) -> Effect[PromptSearchResult, PastChatsError | Refusal, PastChatsService]:
    """Return the turns that match a query by words and meaning, best first, with the signals of each score."""
    asked = call.body
    which = PromptFilter(
        projects=asked.projects,
        roles=asked.roles,
        formats=asked.formats,
        since=asked.since,
        until=asked.until,
    )
    return _past_chats(
        call, lambda chats: chats.search(asked.query, which=which, limit=asked.limit, mode=asked.mode)
    )


def recall_past_chats(
    call: Call[NoParameters, PastTask],
) -> Effect[PastRecall, PastChatsError | Refusal, PastChatsService]:
    """Return what worked and what failed before, as one block of text for a model."""
    asked = call.body
    return _past_chats(call, lambda chats: chats.recall(asked.query, limit=asked.limit, tokens=asked.tokens))


def _past_chats(
    call: Call[Any, Any], ask: Callable[[PastChats], Effect[A, PastChatsError]]
) -> Effect[A, PastChatsError | Refusal, PastChatsService]:
    """Ask the service, if the client may."""
    if not call.grant.past_chats:
        return Effect.fail(NO_PAST_CHATS)
    return PastChatsService.use(ask).alt(_told)


def _told(error: PastChatsError) -> PastChatsError | Refusal:
    """Tell an index that nobody has made yet from one that fails."""
    match error:
        case GenericMemoryError(RepositoryError(problem="missing", detail=detail)):
            return Refusal("PastChatsNotIndexedError", detail)
        case _:
            return error


def _named(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


PAST_CHATS: Final[Sequence[Operation]] = (
    Operation("GET", "/past-chats", count_past_chats),
    Operation("GET", "/past-chats/conversations", list_past_conversations),
    Operation("GET", "/past-chats/conversations/{conversationId}", read_past_conversation),
    Operation("POST", "/past-chats/search", search_past_chats, reads_only=True),
    Operation("POST", "/past-chats/recall", recall_past_chats, reads_only=True),
)
