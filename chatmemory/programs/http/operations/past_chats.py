"""Past chats over HTTP: conversations of other tools, which can be read and searched but not changed."""

from collections.abc import Sequence
from typing import Final, final

from attrs import field, frozen, validators

from chatmemory.effect import Effect
from chatmemory.errors import PastChatsError
from chatmemory.input.rules import MAX_LIMIT
from chatmemory.pastchats.contract import PastChats, PastChatsService
from chatmemory.pastchats.finding.past_chats_live import MOST_CONVERSATIONS, MOST_TURNS
from chatmemory.pastchats.finding.prompt_hits import PastRecall, PromptSearchResult
from chatmemory.pastchats.past_chats import PastChatsStatistics, PastConversationPage, PastTurnPage
from chatmemory.pastchats.prompt import PromptFilter
from chatmemory.programs.http.large_answers import bounded, bounded_hits
from chatmemory.programs.http.operation import Call, NoParameters, Operation
from chatmemory.programs.operations.past_chats import (
    PastQuestion,
    PastTask,
    past_chats_for,
    recalled_past_chats,
    searched_past_chats,
)
from chatmemory.programs.operations.refusal import Refusal


@final
@frozen(kw_only=True)
class PastConversationList:
    """A list of past conversations.

    Attributes:
        after: the `next` of the previous page.
        project: only conversations with turns of this project, ignoring case.
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


def count_past_chats(
    call: Call[NoParameters, None],
) -> Effect[PastChatsStatistics, PastChatsError | Refusal, PastChatsService]:
    """Count the indexed past chats by format, role and project."""
    return past_chats_for(call.grant, lambda chats: chats.statistics())


def list_past_conversations(
    call: Call[PastConversationList, None],
) -> Effect[PastConversationPage, PastChatsError | Refusal, PastChatsService]:
    """List past conversations, the latest first."""
    asked = call.query
    which = PromptFilter(projects=_named(asked.project), formats=_named(asked.format))
    return past_chats_for(
        call.grant, lambda chats: chats.conversations(which, limit=asked.limit, after=asked.after)
    )


def read_past_conversation(
    call: Call[PastTurnList, None],
) -> Effect[PastTurnPage, PastChatsError | Refusal, PastChatsService]:
    """Return a page of a past conversation, from its start; a page with large turns ends earlier, and `next` is the cursor of the rest.

    Turns with the same number are always on one page.
    """
    asked, conversation_id = call.query, call.path["conversationId"]

    def page(chats: PastChats, limit: int) -> Effect[PastTurnPage, PastChatsError]:
        return chats.turns(conversation_id, newer_than=asked.newer_than, limit=limit)

    return past_chats_for(
        call.grant,
        lambda chats: page(chats, asked.limit).bind(
            lambda whole: bounded(whole, again=lambda limit: page(chats, limit))
        ),
    )


def search_past_chats(
    call: Call[NoParameters, PastQuestion],
) -> Effect[PromptSearchResult, PastChatsError | Refusal, PastChatsService]:
    """Return the turns that match a query by words and meaning, best first, with the signals of each score."""
    return searched_past_chats(call.grant, call.body).map(bounded_hits)


def recall_past_chats(
    call: Call[NoParameters, PastTask],
) -> Effect[PastRecall, PastChatsError | Refusal, PastChatsService]:
    """Return what worked and what failed before, as one block of text for a model."""
    return recalled_past_chats(call.grant, call.body)


def _named(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


PAST_CHATS: Final[Sequence[Operation]] = (
    Operation("GET", "/past-chats", count_past_chats),
    Operation(
        "GET",
        "/past-chats/conversations",
        list_past_conversations,
        example={"limit": 20, "format": "claude_code"},
    ),
    Operation(
        "GET",
        "/past-chats/conversations/{conversationId}",
        read_past_conversation,
        example={"conversationId": "claude_code:374dd535-3f93-56f2-a738-bd6c7a5f4c23", "limit": 20},
    ),
    Operation(
        "POST",
        "/past-chats/search",
        search_past_chats,
        reads_only=True,
        example={"body": {"query": "database is locked", "limit": 5}},
    ),
    Operation(
        "POST",
        "/past-chats/recall",
        recall_past_chats,
        reads_only=True,
        example={"body": {"query": "add retries to the webhook"}},
    ),
)
