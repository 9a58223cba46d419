"""``PastChatsLive``: the service that searches past chats, with any store, embedder and ranking.

A recall before a task must be fast, so this module imports only what every recall needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Never, TypeAlias, final

from chatmemory import errors
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.token_counter import TokenCounterTag
from chatmemory.effect import Do, Effect, Layer
from chatmemory.effect.lazy import LazyModule
from chatmemory.effect.services.clock import ClockTag
from chatmemory.embedding.query_embedder import QueryEmbedderTag
from chatmemory.input.rules import (
    MAX_LIMIT,
    NOT_A_CURSOR,
    any_text_problems,
    choice_problems,
    flag_problems,
    integer_problems,
    problem_at,
    refuse,
)
from chatmemory.pastchats.contract import PastChats, PastChatsService, SearchMode
from chatmemory.pastchats.finding.evidence import is_about
from chatmemory.pastchats.finding.exchanges import TURNS_AFTER, TURNS_BEFORE, exchange_of, merged
from chatmemory.pastchats.finding.prompt_hits import PastRecall, PromptRankerTag
from chatmemory.pastchats.finding.prompt_terms import prompt_terms
from chatmemory.pastchats.finding.recall_block import recall_block
from chatmemory.pastchats.finding.search import PromptSearching, service_error
from chatmemory.pastchats.prompt import EVERYTHING, is_undone
from chatmemory.pastchats.prompt_repository import PromptRepositoryTag
from chatmemory.pastchats.prompt_rules import filter_problems, names_problems
from chatmemory.settings.past_chats_settings import PastChatsSettingsTag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chatmemory.conversation.token_counter import TokenCounter
    from chatmemory.errors import PastChatsError
    from chatmemory.input.json_value import JsonObject
    from chatmemory.pastchats.finding.prompt_hits import Exchange, PromptSearchResult
    from chatmemory.pastchats.indexing import record_import
    from chatmemory.pastchats.past_chats import (
        Finding,
        PastChatsStatistics,
        PastConversationPage,
        PastTurnPage,
    )
    from chatmemory.pastchats.prompt import Prompt, PromptFilter
    from chatmemory.pastchats.prompt_repository import PromptRepository
else:
    record_import = LazyModule("chatmemory.pastchats.indexing.record_import")

MOST_HITS: Final = 200
"""The highest limit of a search."""

HITS_PER_EXCHANGE: Final = 3  # a question, its answer and what followed are often found together
LEAST_SHARE: Final = 0.5
"""A hit needs this share of the score of the best hit; lower ones are chance.  On labelled sessions this leaves out two of
three exchanges that are unrelated to the question, and none that answers it."""
LENGTH_OF_UUID: Final = 36  # a name of this length does not occur in a path by chance
MOST_SHOWN: Final = 1_000  # turns, if a whole conversation is requested
MOST_CONVERSATIONS: Final = 200  # of a page
MOST_TURNS: Final = 1_000  # of a page
MOST_PLACES: Final = 5  # turns with the same number, in a file that holds several conversations


@final
class PastChatsLive(PastChats):
    """The service; ``PastChats`` specifies its methods."""

    def __init__(
        self,
        searching: PromptSearching,
        repository: PromptRepository,
        counter: TokenCounter,
        *,
        model: str,
        recall_tokens: int,
    ) -> None:
        """Create the service with the name of the embedder's model, and the budget in tokens of a recall that names none."""
        self._searching = searching
        self._repository = repository
        self._counter = counter
        self._model = model
        self._recall_tokens = recall_tokens

    @Effect.gen
    async def search(
        self,
        do: Do[PastChatsError],
        query: str,
        /,
        *,
        which: PromptFilter = EVERYTHING,
        limit: int = 10,
        mode: SearchMode = "hybrid",
    ) -> PromptSearchResult:
        refuse(
            do,
            any_text_problems("$.query", query),
            integer_problems("$.limit", limit, least=1),
            filter_problems(which),
            choice_problems("$.mode", mode, SearchMode),
        )
        return await do(self._searching.search(query, which=which, limit=min(limit, MOST_HITS), mode=mode))

    @Effect.gen
    async def recall(
        self,
        do: Do[PastChatsError],
        query: str,
        /,
        *,
        which: PromptFilter = EVERYTHING,
        limit: int = 5,
        tokens: int | None = None,
        without: Sequence[str] = (),
        with_undone: bool = False,
    ) -> PastRecall:

        def is_left_out(prompt: Prompt) -> bool:
            return (not with_undone and is_undone(prompt)) or _is_named(prompt, without)

        budget = self._recall_tokens if tokens is None else tokens
        refuse(
            do,
            any_text_problems("$.query", query),
            integer_problems("$.limit", limit, least=1),
            integer_problems("$.tokens", budget, least=1),
            filter_problems(which),
            names_problems("$.without", without),
            flag_problems("$.with_undone", with_undone),
        )
        wanted = min(limit * HITS_PER_EXCHANGE, MOST_HITS)
        searched = self._searching.search(query, which=which, limit=wanted, is_left_out=is_left_out)
        found = await do(searched)
        exchanges = await do(
            self._exchanges(found, prompt_terms(query), limit=limit, is_left_out=is_left_out)
        )
        block = recall_block(exchanges, query=query, tokens=budget, count=self._count)
        return PastRecall(
            text=block.text,
            exchanges=exchanges[: block.entries],
            mode=found.mode,
            reason=found.reason,
            tokens=block.tokens,
            left_out=len(exchanges) - block.entries,
        )

    @Effect.gen
    async def _exchanges(
        self,
        do: Do[PastChatsError],
        found: PromptSearchResult,
        terms: Sequence[str],
        *,
        limit: int,
        is_left_out: Callable[[Prompt], bool],
    ) -> tuple[Exchange, ...]:
        """Return at most *limit* exchanges of the hits in *found* that are about the query with *terms*.

        A turn for which *is_left_out* is true belongs to no exchange.
        """
        exchanges: tuple[Exchange, ...] = ()
        for hit in found.hits:
            if len(exchanges) >= limit or hit.score < LEAST_SHARE * found.hits[0].score:
                break
            if any(_is_told(hit.prompt, exchange) for exchange in exchanges):
                continue
            around = self._repository.around(hit.prompt, before=TURNS_BEFORE, after=TURNS_AFTER)
            turns = await do(around.alt(service_error))
            exchange = exchange_of(hit, [turn for turn in turns if not is_left_out(turn)])
            if is_about(exchange, terms, found.mode):
                exchanges = merged((*exchanges, exchange))
        return exchanges

    def _count(self, text: str) -> int:
        return self._counter.count(NewMessage("system", text))

    @Effect.gen
    async def show(
        self, do: Do[PastChatsError], source: str, /, *, before: int = 3, after: int = 3
    ) -> tuple[Prompt, ...]:
        refuse(
            do,
            any_text_problems("$.source", source),
            integer_problems("$.before", before),
            integer_problems("$.after", after),
        )
        place, _, number = source.rpartition("#")
        if place and number.isascii() and number.isdigit() and len(number) < len(str(2**63)):
            turns = self._repository.turns(place, turn_index=int(number), limit=MOST_PLACES)
            shown: dict[int, Prompt] = {}
            for prompt in await do(turns.alt(service_error)):
                around = self._repository.around(
                    prompt, before=min(max(before, 0), MAX_LIMIT), after=min(max(after, 0), MAX_LIMIT)
                )
                shown |= {turn.id: turn for turn in await do(around.alt(service_error))}
            if shown:
                return tuple(shown.values())
        whole = await do(self._repository.turns(source, limit=MOST_SHOWN).alt(service_error))
        if not whole:
            do.fail(errors.PromptNotFoundError(source))
        return whole

    @Effect.gen
    async def conversations(
        self,
        do: Do[PastChatsError],
        which: PromptFilter = EVERYTHING,
        /,
        *,
        limit: int = 50,
        after: str | None = None,
    ) -> PastConversationPage:
        refuse(
            do,
            integer_problems("$.limit", limit, least=1),
            filter_problems(which),
            problem_at("$.after", _cursor_problem(after)),
        )
        most = min(limit, MOST_CONVERSATIONS)
        return await do(self._repository.conversations(which, limit=most, after=after).alt(service_error))

    @Effect.gen
    async def turns(
        self, do: Do[PastChatsError], conversation: str, /, *, newer_than: int = -1, limit: int = 100
    ) -> PastTurnPage:
        refuse(
            do,
            any_text_problems("$.conversation", conversation),
            integer_problems("$.newer_than", newer_than),
            integer_problems("$.limit", limit, least=1),
        )
        asked = self._repository.conversation_turns(
            conversation, newer_than=newer_than, limit=min(limit, MOST_TURNS)
        )
        page = await do(asked.alt(service_error))
        if page is None:
            do.fail(errors.PromptNotFoundError(conversation))
        return page

    def statistics(self) -> Effect[PastChatsStatistics, PastChatsError]:
        return self._repository.statistics().alt(service_error)

    def check(self) -> Effect[tuple[Finding, ...], PastChatsError]:
        return self._repository.check(self._model).alt(service_error)

    @Effect.gen
    async def export(
        self,
        do: Do[PastChatsError],
        which: PromptFilter = EVERYTHING,
        /,
        *,
        to: Callable[[JsonObject], None],
    ) -> int:
        refuse(do, filter_problems(which))
        return await do(record_import.exported(self._repository, which, to))


def _is_told(prompt: Prompt, exchange: Exchange) -> bool:
    """Return whether *prompt* is a turn of *exchange*, so that it need not be looked up."""
    told = (exchange.question, *exchange.worked, exchange.confirmation)
    tried = (turn for failure in exchange.failures for turn in (*failure.tried, failure.report))
    return any(turn is not None and turn.id == prompt.id for turn in (*told, *tried))


def _is_named(prompt: Prompt, names: Sequence[str]) -> bool:
    """Return whether *prompt* belongs to a named conversation or source; a session's subagents are in its folder."""
    if not names:
        return False
    _, _, native = prompt.conversation_id.partition(":")
    return any(
        name in (prompt.conversation_id, native, prompt.source)
        or (len(name) >= LENGTH_OF_UUID and name in prompt.source)
        for name in names
    )


def _cursor_problem(text: object) -> str | None:
    if text is None:
        return None
    from chatmemory.pastchats.past_chats import read_cursor

    return NOT_A_CURSOR if not isinstance(text, str) or read_cursor(text) is None else None


Requirements: TypeAlias = (
    "PromptRepositoryTag | PromptRankerTag | QueryEmbedderTag | TokenCounterTag | PastChatsSettingsTag"
)


@Effect.gen
async def _assemble(do: Do[Never, Requirements]) -> PastChats:
    repository, embedder = do.service(PromptRepositoryTag), do.service(QueryEmbedderTag)
    return PastChatsLive(
        PromptSearching(repository, do.service(PromptRankerTag), embedder, do.service(ClockTag)),
        repository,
        do.service(TokenCounterTag),
        model=embedder.model,
        recall_tokens=do.service(PastChatsSettingsTag).recall_tokens,
    )


past_chats: Final = Layer.effect(
    PastChatsService,
    _assemble(),
    needs=[PromptRepositoryTag, PromptRankerTag, QueryEmbedderTag, TokenCounterTag, PastChatsSettingsTag],
)
"""The layer of the service."""
