"""Finding conversations over HTTP: by the words of their messages, and by the conversations that they were forked from."""

from collections.abc import Sequence
from typing import Final

from attrs import evolve

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.access.principal import Granted, acting_as
from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.forks import ForkTree, fork_tree
from chatmemory.conversation.message_search import FoundMessages, MessageSearch, search_messages
from chatmemory.effect import Do, Effect
from chatmemory.errors import ReadError
from chatmemory.input.rules import refuse
from chatmemory.longterm.memory_rules import namespace_problems
from chatmemory.programs.http.operation import Call, InApp, NoParameters, Operation
from chatmemory.programs.http.operations.conversations import of_conversation
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import Refusal


@Effect.gen
async def search_conversations(
    do: Do[ReadError | Refusal, ChatMemoryService], call: Call[InApp, MessageSearch]
) -> FoundMessages:
    """Find messages that have all words of a query, in all conversations or in one; the newest come first.

    One request reads at most 5,000 messages; while `next` is not null, there is more to read: send it as `after`.  With
    `app`, it searches the conversations of that app and those of no app.
    """
    app, search = call.query.app, ChatMemoryService.use(lambda memory: search_messages(memory, call.body))
    if app is None:
        return await do(search)
    namespace = await do(call.grant.namespace(app))  # which refuses a token for another app
    refuse(do, namespace_problems(namespace))
    with acting_as(evolve(call.grant.principal, granted=_in_app(call.grant, app))):
        return await do(search)


@of_conversation
def get_branches(
    _: Call[NoParameters, None], memory: ChatMemory, conversation_id: str
) -> Effect[ForkTree, ReadError | Refusal]:
    """Return the conversations that a conversation was forked from and those that were forked from it, as a tree."""
    return fork_tree(memory, conversation_id)


def _in_app(grant: Grant, app: str) -> tuple[Granted, ...]:
    """Return what is granted of *app* and of no app."""
    return tuple(
        one if one.owner.app or one.owner == UNOWNED else evolve(one, owner=Namespace(one.owner.user, app))
        for one in grant.conversations
        if one.owner.app in {"", app}
    )


FINDING: Final[Sequence[Operation]] = (
    Operation(
        "POST",
        "/messages/search",
        search_conversations,
        reads_only=True,
        example={"body": {"query": "green tea", "limit": 20}},
    ),
    Operation(
        "GET",
        "/conversations/{conversationId}/branches",
        get_branches,
        example={"conversationId": "trip-to-kyoto"},
    ),
)
