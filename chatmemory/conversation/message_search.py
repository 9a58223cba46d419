"""``search_messages``: finds the messages that contain given words, in all conversations or in one.

It reads the messages through ``ChatMemory``, so it behaves the same on every backend and finds only what the principal
may read.  It works without an index: one call reads a limited number of messages, the newest first, and returns a cursor
to continue from.
"""

import re
from bisect import bisect
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from itertools import accumulate
from typing import Final, NamedTuple, final

from attrs import frozen

from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.messages import ChatMessage, Conversation, ForkOrigin
from chatmemory.effect import Do, Effect, Success
from chatmemory.errors import ConversationNotFoundError, Problem, ReadError
from chatmemory.input.choices import Role
from chatmemory.input.rules import (
    MAX_ID_CHARACTERS,
    MAX_LIMIT,
    NOT_A_CURSOR,
    Place,
    cursor_of,
    id_problems,
    instant_problems,
    limit_problems,
    read_cursor,
    refuse,
    text_problems,
)
from chatmemory.text.long_work import in_worker_thread
from chatmemory.text.shown_text import one_line

MOST_FOUND: Final = 200
MOST_QUERY_CHARACTERS: Final = 1000
READ_MESSAGES: Final = 5_000
READ_CHARACTERS: Final = 20_000_000
"""The largest number of characters that one search reads; then it returns a cursor to continue from."""
READ_CONVERSATIONS: Final = 1_000
MESSAGES_AT_ONCE: Final = 100
CONVERSATIONS_AT_ONCE: Final = 50
EXCERPT_CHARACTERS: Final = 200
BEFORE_MATCH: Final = 60
"""The largest number of characters of an excerpt before the first match."""


@final
@frozen
class FoundMessage:
    """A message that contains all words of a search.

    Attributes:
        excerpt: the text around the first of the words, on one line.
    """

    conversation_id: str
    message_id: str
    seq: int
    role: Role
    timestamp: datetime
    excerpt: str


@final
@frozen
class FoundMessages:
    """The result of a search.

    Attributes:
        hits: the messages that were found: those of the conversation that changed last come first, and in each
            conversation the newest message.
        messages_read: how many messages this search has read.
        next: the cursor to continue from; None: everything was read.
    """

    hits: tuple[FoundMessage, ...]
    messages_read: int
    next: str | None


@final
@frozen(kw_only=True)
class MessageSearch:
    """What to search for, and in which messages.

    Attributes:
        query: one or more words; a message is found when it contains all of them, in upper or lower case, also as parts
            of other words.
        conversation_id: search in this conversation; None: in all conversations.
        prefix: search in conversations whose ids begin with this text; ``""``: any id.
        since: find messages of this time or later, given with a time zone; None: of any time.
        until: find messages from before this time, given with a time zone; None: of any time.
        limit: the largest number of hits, up to 200.
        after: the ``next`` of the search before this one; None: a new search.
    """

    query: str
    conversation_id: str | None = None
    prefix: str = ""
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 50
    after: str | None = None


class _Place(NamedTuple):
    """Where a search continues: in this conversation before the number *older* (0: after it), then in the next ones."""

    older: int
    conversation: Place


@Effect.gen
async def search_messages(do: Do[ReadError], memory: ChatMemory, search: MessageSearch, /) -> FoundMessages:
    """Return the messages that contain all words of *search*.

    A message that a branch has from its parent is found only in the parent, if the parent is searched as well.  It is found
    in both if messages before the newest one of the parent were deleted.

    Args:
        do: runs a step; the caller does not pass it.
        memory: the service for conversations.
        search: what to search for, and in which messages.

    Returns:
        the messages that were found, and the cursor to continue from.

    Fails with:
        DataValidationError: the query lacks words, or another part of *search* is invalid.
        ConversationNotFoundError: ``search.conversation_id`` names no conversation.
        GenericMemoryError: the store failed.
    """
    refuse(do, _type_problems(search))
    place, problems = _read_place(search.after)
    words = _words(search.query)
    refuse(
        do,
        text_problems("$.query", search.query, max_characters=MOST_QUERY_CHARACTERS),
        [] if words else [Problem("$.query", "has no word: give at least one word to search for")],
        id_problems("$.conversation_id", search.conversation_id, or_none=True),
        text_problems("$.prefix", search.prefix, max_characters=MAX_ID_CHARACTERS),
        instant_problems("$.since", search.since),
        instant_problems("$.until", search.until),
        limit_problems("$.limit", search.limit, most=MOST_FOUND),
        problems,
    )
    run = _Run(search, words)
    if search.conversation_id is not None:
        one = await do(memory.get_conversation(search.conversation_id))
        older = None if place is None else place.older
        return run.answer(await do(_searched(memory, run, one, older, floor=0)))
    if place is not None and place.older:
        known = await do(memory.exists(place.conversation[1]))
        if known:
            one = await do(memory.get_conversation(place.conversation[1]))
            floor = await do(_shared(memory, one.forked_from, search.prefix))
            if (stopped := await do(_searched(memory, run, one, place.older, floor=floor))) is not None:
                return run.answer(_Place(stopped.older, place.conversation))
    after = None if place is None else cursor_of(place.conversation)
    while True:
        page = await do(
            memory.list_conversations(
                limit=CONVERSATIONS_AT_ONCE, after=after, order="recent", prefix=search.prefix
            )
        )
        for one in page.conversations:
            floor = await do(_shared(memory, one.forked_from, search.prefix))
            if (stopped := await do(_searched(memory, run, one, None, floor=floor))) is not None:
                return run.answer(stopped)
            run.conversations += 1
        after = page.next
        if after is None:
            return run.answer(None)
        if run.conversations >= READ_CONVERSATIONS:
            last = page.conversations[-1]
            return run.answer(_Place(0, (last.updated_at, last.conversation_id)))


@final
class _Run:
    """One search and its hits so far."""

    def __init__(self, search: MessageSearch, words: Sequence[str]) -> None:
        self.search = search
        self.words = words
        self.hits: list[FoundMessage] = []
        self.messages = 0
        self.characters = 0
        self.conversations = 0

    @property
    def is_done(self) -> bool:
        """Whether the search has reached one of its limits."""
        return (
            len(self.hits) >= self.search.limit
            or self.messages >= READ_MESSAGES
            or self.characters >= READ_CHARACTERS
        )

    def find(self, conversation_id: str, messages: Sequence[ChatMessage]) -> int:
        """Search *messages*, which are oldest first, from their end; return the number of the last one that was read."""
        for message in reversed(messages):
            self.messages += 1
            self.characters += len(message.content)
            if self._fits(message):
                excerpt = _excerpt(message.content, self.words)
                self.hits.append(
                    FoundMessage(
                        conversation_id, message.id, message.seq, message.role, message.timestamp, excerpt
                    )
                )
            if self.is_done:
                return message.seq
        return messages[0].seq

    def _fits(self, message: ChatMessage) -> bool:
        since, until = self.search.since, self.search.until
        if (since is not None and message.timestamp < since) or (
            until is not None and message.timestamp >= until
        ):
            return False
        content = message.content.casefold()
        return all(word in content for word in self.words)

    def answer(self, stopped: _Place | None) -> FoundMessages:
        """Return the result; *stopped* is where the search continues, None at its end."""
        after = None if stopped is None else f"{stopped.older} {cursor_of(stopped.conversation)}"
        return FoundMessages(tuple(self.hits), self.messages, after)


@Effect.gen
async def _searched(
    do: Do[ReadError], memory: ChatMemory, run: _Run, one: Conversation, older: int | None, *, floor: int
) -> _Place | None:
    """Search in one conversation from its end or from *older* down to *floor*; return where it stopped, None at the end."""
    id_ = one.conversation_id
    place = (one.updated_at, id_)
    if run.is_done or older == 0:
        return None if older == 0 else _Place(older or _BEHIND, place)
    while True:
        read = await memory.get_page(id_, limit=MESSAGES_AT_ONCE, older_than=older, view="full")
        page = read.value_or(None)
        if page is None:
            error = read.failure()
            # It may have been cleared in the meantime.
            return None if isinstance(error, ConversationNotFoundError) else do.fail(error)
        messages = [message for message in page.messages if message.seq > floor]
        if not messages:
            return None
        seq = await do(in_worker_thread(partial(run.find, id_, messages)))
        is_end = seq == messages[0].seq and (page.older is None or len(messages) < len(page.messages))
        if is_end:
            return _Place(0, place) if run.is_done and run.search.conversation_id is None else None
        if run.is_done:
            return _Place(seq, place)
        older = seq


@Effect.gen
async def _shared(do: Do[ReadError], memory: ChatMemory, origin: ForkOrigin | None, prefix: str) -> int:
    """Return the number up to which a branch need not be searched, because its parent is searched and holds the same."""
    if origin is None or not origin.conversation_id.startswith(prefix):
        return 0
    newest = memory.get_page(origin.conversation_id, limit=1, view="full")
    read = await Effect.all((memory.get_conversation(origin.conversation_id), newest))
    if not isinstance(read, Success):
        error = read.failure()
        return 0 if isinstance(error, ConversationNotFoundError) else do.fail(error)
    parent, page = read.unwrap()
    # Messages are numbered from 1, and no number is used twice: as many as numbers, so none was deleted before the last.
    last = page.messages[-1].seq
    return min(last, origin.seq) if parent.message_count == last else 0


_BEHIND: Final = MAX_LIMIT
"""A number greater than that of any message."""


def _excerpt(content: str, words: Sequence[str]) -> str:
    folded = content.casefold()
    at = min(folded.find(word) for word in words)
    if len(folded) > len(content):  # one character may become several: "ß" becomes "ss"
        at = bisect(list(accumulate(len(character.casefold()) for character in content[:at])), at)
    begin = max(0, at - BEFORE_MATCH)
    told = one_line(content[begin : begin + 4 * EXCERPT_CHARACTERS], EXCERPT_CHARACTERS)
    return f"... {told}" if begin else told


def _type_problems(search: object) -> list[Problem]:
    if isinstance(search, MessageSearch):
        return []
    return [Problem("$", f"expected MessageSearch, not {type(search).__name__}")]


def _words(query: object) -> list[str]:
    """Return the words of a query; none when it is not a text, which the rules refuse."""
    return query.casefold().split() if isinstance(query, str) else []


def _read_place(after: object) -> tuple[_Place | None, list[Problem]]:
    if after is None:
        return None, []
    number, _, rest = after.partition(" ") if isinstance(after, str) else ("", "", "")
    place, problems = read_cursor(rest)
    if place is None or not re.fullmatch("[0-9]{1,10}", number) or int(number) > _BEHIND:
        return None, problems or [Problem("$.after", NOT_A_CURSOR)]
    return _Place(int(number), place), []
