"""Past chats, searched and recalled for a client that may see them."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Final, TypeVar

from attrs import evolve, field, frozen, validators

from chatmemory.effect import Do, Effect
from chatmemory.effect.likeness import did_you_mean
from chatmemory.errors import GenericMemoryError, PastChatsError, RepositoryError
from chatmemory.input.choices import Role
from chatmemory.pastchats.contract import PastChats, PastChatsService, SearchMode
from chatmemory.pastchats.finding.past_chats_live import MOST_HITS
from chatmemory.pastchats.finding.prompt_hits import PastRecall, PromptSearchResult
from chatmemory.pastchats.past_chats import PastChatsStatistics
from chatmemory.pastchats.prompt import PromptFilter
from chatmemory.programs.operations.grant import NO_PAST_CHATS, Grant
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.text.shown_text import shown

A = TypeVar("A")

MOST_EXCHANGES: Final = 50
SHOWN_NAMES: Final = 24  # enough for all formats, and for the projects with the most turns


@frozen(kw_only=True)
class PastQuestion:
    """A search in past chats.

    Attributes:
        query: what to find, in any language, for example `database is locked`.
        limit: the most hits to return.
        mode: `hybrid` searches by words and meaning, `lexical` by words only.
        projects: only turns of these projects.
        roles: only turns of these roles.
        formats: only turns of these formats.
        since: only turns said at this time or later.
        until: only turns said before this time.
    """

    query: str
    limit: int = field(default=10, validator=[validators.ge(1), validators.le(MOST_HITS)])
    mode: SearchMode = "hybrid"
    projects: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    formats: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@frozen(kw_only=True)
class PastTask:
    """The task to recall for.

    Attributes:
        query: the task or question in any language, for example `add retries to the webhook`.
        limit: the most exchanges to return.
        tokens: the most tokens from past chats; null for the configured number.
    """

    query: str
    limit: int = field(default=5, validator=[validators.ge(1), validators.le(MOST_EXCHANGES)])
    tokens: int | None = field(default=None, validator=validators.optional(validators.ge(1)))


@Effect.gen
async def searched_past_chats(
    do: Do[PastChatsError | Refusal, PastChatsService], grant: Grant, asked: PastQuestion, *, skip: int = 0
) -> PromptSearchResult:
    """Return the turns that match a query, best first; fail as ``past_chats_for`` does.

    If nothing is found, the reason names the projects and formats that no turn has.  *skip* more hits than asked
    for are returned, because the caller leaves out as many of the first.
    """
    which = PromptFilter(
        projects=asked.projects,
        roles=asked.roles,
        formats=asked.formats,
        since=asked.since,
        until=asked.until,
    )
    limit = asked.limit + skip
    found = await do(
        past_chats_for(
            grant, lambda chats: chats.search(asked.query, which=which, limit=limit, mode=asked.mode)
        )
    )
    if found.hits or not (which.projects or which.formats):
        return found
    counts = await do(past_chats_for(grant, lambda chats: chats.statistics()))
    return evolve(found, reason="; ".join([found.reason, *unknown_names(which, counts)]))


def recalled_past_chats(
    grant: Grant, asked: PastTask
) -> Effect[PastRecall, PastChatsError | Refusal, PastChatsService]:
    """Return what worked and what failed before; fail as ``past_chats_for`` does."""
    return past_chats_for(
        grant, lambda chats: chats.recall(asked.query, limit=asked.limit, tokens=asked.tokens)
    )


def unknown_names(which: PromptFilter, statistics: PastChatsStatistics) -> Iterator[str]:
    """Yield a line for each project and format of *which* that no turn has, with a suggestion or the known names."""
    projects = {project.casefold() for project in statistics.by_project}
    for project in which.projects:
        if project.casefold() not in projects:
            yield _unknown("project", project, statistics.by_project)
    for format_ in which.formats:
        if format_ not in statistics.by_format:
            yield _unknown("format", format_, statistics.by_format)


def _unknown(kind: str, name: str, known: Mapping[str, int]) -> str:
    names = sorted(filter(None, known), key=known.__getitem__, reverse=True)
    frequent = ", ".join(map(shown, sorted(names[:SHOWN_NAMES])))
    more = ", ..." if len(names) > SHOWN_NAMES else ""
    there_are = f": the {kind}s are {frequent}{more}" if names else ""
    return f"no turn has the {kind} {shown(name)!r}{did_you_mean(name, known) or there_are}"


def past_chats_for(
    grant: Grant, ask: Callable[[PastChats], Effect[A, PastChatsError]]
) -> Effect[A, PastChatsError | Refusal, PastChatsService]:
    """Run *ask* on past chats if *grant* allows it.

    Fails with a ``ForbiddenError`` refusal without the right to past chats, and with ``PastChatsNotIndexedError`` if
    there is no index yet; an index that cannot be read fails with its own error.
    """
    if not grant.past_chats:
        return Effect.fail(NO_PAST_CHATS)
    return PastChatsService.use(ask).alt(_refused)


def _refused(error: PastChatsError) -> PastChatsError | Refusal:
    match error:
        case GenericMemoryError(RepositoryError(problem="missing", detail=detail)):
            return Refusal("PastChatsNotIndexedError", detail)
        case _:
            return error
