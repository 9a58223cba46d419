"""``SqliteMessageRepository``: ``MessageRepository`` in one file.

Its methods are implemented in ``message_writes.py``, ``message_forks.py``, ``message_summaries.py``, ``message_removal.py``,
``message_replacing.py``, ``message_reads.py`` and ``history_work.py``; ``engine/jobs.py`` runs them.
"""

from operator import attrgetter
from typing import final

from attrs import frozen

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Effect, Layer
from chatmemory_layers.sqlite.answers.first_answers import SqliteFirstAnswers
from chatmemory_layers.sqlite.engine.database import DatabaseTag
from chatmemory_layers.sqlite.engine.jobs import Database, erases, reads, writes
from chatmemory_layers.sqlite.events.event_log import SqliteEventLog
from chatmemory_layers.sqlite.messages import (
    conversation_lists,
    history_work,
    message_forks,
    message_reads,
    message_removal,
    message_replacing,
    message_summaries,
    message_undoing,
    message_writes,
)


@final
@frozen
class SqliteMessageRepository:
    """Keeps conversations and their queued work in the file of *database*."""

    database: Database

    @property
    def log(self) -> SqliteEventLog:
        """See ``KeepsLog``."""
        return SqliteEventLog(self.database)

    @property
    def answers(self) -> SqliteFirstAnswers:
        """See ``KeepsAnswers``."""
        return SqliteFirstAnswers(self.database)

    append = writes("append messages", message_writes.append)
    page = reads("read messages", message_reads.page)
    fork = writes("fork a conversation", message_forks.fork)
    clear = erases("clear messages", message_writes.clear)
    remove_newest = erases("remove the newest message", message_removal.remove_newest)
    replace = writes("replace the newest messages", message_replacing.replace)
    undo = erases("undo a change of a conversation", message_undoing.undo, removed=attrgetter("removed"))
    conversation = reads("read conversation", conversation_lists.conversation)
    owner = reads("read the owner of a conversation", conversation_lists.owner)
    conversations = reads("list conversations", conversation_lists.conversations)
    summarize = writes("summarize", message_summaries.summarize)
    summarization = reads("read summarization", message_reads.summarization)
    summarizations_of = reads("read summarizations", message_reads.summarizations_of)
    claim_work = writes("claim history work", history_work.claim_work)
    settle_work = writes("settle history work", history_work.settle_work)


message_repository = Layer.effect(
    MessageRepositoryTag, Effect.service(DatabaseTag).map(SqliteMessageRepository), needs=[DatabaseTag]
)
