"""``InMemoryMessageRepository``: keeps every promise of ``MessageRepository`` except durability, in dictionaries.

``chatmemory.conversation.conversations`` answers each call.  No method waits for anything, so each is a transaction by
itself, on asyncio and on trio.
"""

from typing import final

from chatmemory.conversation.conversations import Conversations
from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Effect, Layer
from chatmemory_layers.in_memory.database import Database, DatabaseTag, database, lifted, lifted_outcome
from chatmemory_layers.in_memory.event_log import InMemoryEventLog
from chatmemory_layers.in_memory.first_answers import InMemoryFirstAnswers


@final
class InMemoryMessageRepository:
    """Keeps conversations and their queued work until the process ends."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.log = InMemoryEventLog(database)
        self.answers = InMemoryFirstAnswers(database)
        self.kept = database.conversations

    append = lifted_outcome("append messages", Conversations.append)
    page = lifted("read messages", Conversations.page)
    fork = lifted_outcome("fork a conversation", Conversations.fork)
    clear = lifted_outcome("clear messages", Conversations.clear)
    remove_newest = lifted_outcome("remove the newest message", Conversations.remove_newest)
    replace = lifted_outcome("replace the newest messages", Conversations.replace)
    undo = lifted_outcome("undo a change of a conversation", Conversations.undo)
    conversation = lifted("read conversation", Conversations.conversation)
    owner = lifted("read the owner of a conversation", Conversations.owner)
    conversations = lifted("list conversations", Conversations.conversations)
    summarize = lifted_outcome("summarize", Conversations.summarize)
    summarization = lifted("read summarization", Conversations.summarization)
    summarizations_of = lifted("read summarizations", Conversations.summarizations_of)
    claim_work = lifted("claim history work", Conversations.claim_work)
    settle_work = lifted("settle history work", Conversations.settle_work)


message_repository = database >> Layer.effect(
    MessageRepositoryTag, Effect.service(DatabaseTag).map(InMemoryMessageRepository), needs=[DatabaseTag]
)
