"""``GET /settings``: describes the parts that the server uses, and tries each of them briefly to see whether it works.

``HEALTH``: ``GET /health`` and ``GET /readiness``, which need no token, for supervisors and load balancers.
"""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final, Literal, Never, TypeAlias, final

from attrs import evolve, frozen

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.effect import Do, Effect, Failure, Success
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.errors import EmbeddingError, GenericMemoryError, PastChatsError, ReadError, RepositoryError
from chatmemory.pastchats.contract import PastChatsService
from chatmemory.programs.http.operation import Call, NoParameters, Operation
from chatmemory.programs.http.operations.description import (
    AskedNamespace,
    EmbedderDescription,
    PastChatsDescription,
    SaveFormDescription,
    ServerDescription,
    ServerFacts,
    ServerFactsTag,
    ServerWarning,
    SkillsDescription,
)
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import Refusal

LONGEST_WAIT_SECONDS: Final = 2.0
"""The longest wait for each part: a person is waiting for the answer."""

TRIED_TEXT: Final = "memory 记忆"
NO_ANSWER: Final = f"no answer within {LONGEST_WAIT_SECONDS:g} s"

WITH_DETAILS: Final = frozenset({"EmbedderFails", "PastChatsFail"})
"""Warnings that quote the text of an error, which may contain the path of any folder."""
NOT_FOR_CLIENTS: Final = "only the main token sees the reason"

Parts: TypeAlias = ServerFactsTag | EmbedderTag | PastChatsService
TOO_SLOW: Final = RepositoryError("list conversations", "busy", NO_ANSWER)


@Effect.gen
async def get_settings(do: Do[Never, Parts], call: Call[NoParameters, None]) -> ServerDescription:
    """Describe what the server uses (store, embedder, skills, past chats), with a warning for each part that fails.

    Only the main token sees the folders of files; other tokens see the file names.
    """
    grant, facts = call.grant, do.service(ServerFactsTag)
    embedder, embedder_warning = await do(_tried_embedder())
    skill_problem = await do(
        facts.skill_problem.timeout(LONGEST_WAIT_SECONDS, lambda: NO_ANSWER).lash(Effect.succeed)
    )
    past_chats, past_chats_warning = await do(_tried_past_chats(grant, facts))
    warnings = (
        _store_warning(facts),
        embedder_warning,
        _skills_warning(facts, skill_problem),
        _extraction_warning(facts),
        past_chats_warning,
    )
    described = ServerDescription(
        version=facts.version,
        namespace=AskedNamespace(grant.user, grant.app),
        read_only=grant.read_only,
        needs_token=facts.needs_token,
        store=facts.store,
        embedder=embedder,
        extractor=facts.extractor,
        skills=SkillsDescription(facts.skill_runner, runs=skill_problem is None),
        strategy=facts.strategy,
        past_chats=past_chats,
        save_form=SaveFormDescription(),
        warnings=tuple(filter(None, warnings)),
    )
    return described if grant.is_main else _without_folders(described)


@Effect.gen
async def _tried_embedder(do: Do[Never, EmbedderTag]) -> tuple[EmbedderDescription, ServerWarning | None]:
    embedder = do.service(EmbedderTag)
    model = embedder.model
    slow = EmbeddingError(model, "timeout", NO_ANSWER)
    match await embedder.embed([TRIED_TEXT]).timeout(LONGEST_WAIT_SECONDS, lambda: slow):
        case Success(rows):
            return EmbedderDescription(model, int(rows.shape[1]), runs=True), None
        case Failure(error):
            return EmbedderDescription(model, None, runs=False), _embedder_warning(error)


@Effect.gen
async def _tried_past_chats(
    do: Do[Never, PastChatsService], grant: Grant, facts: ServerFacts
) -> tuple[PastChatsDescription, ServerWarning | None]:
    if not grant.past_chats:
        return PastChatsDescription(enabled=False, indexed=False, place=None), None
    slow = GenericMemoryError(RepositoryError("open the index of past chats", "busy", NO_ANSWER))
    looked = do.service(PastChatsService).conversations(limit=1)
    match await looked.timeout(LONGEST_WAIT_SECONDS, lambda: slow):
        case Success(_):
            return PastChatsDescription(enabled=True, indexed=True, place=facts.past_chats_place), None
        case Failure(error):
            described = PastChatsDescription(enabled=True, indexed=False, place=facts.past_chats_place)
            return described, _past_chats_warning(error)


def _without_folders(described: ServerDescription) -> ServerDescription:
    """Return *described* with file names instead of paths: only the owner of the machine may see its folders."""
    store, past_chats, embedder = described.store, described.past_chats, described.embedder
    return evolve(
        described,
        store=evolve(store, place=_last_part(store.place)),
        past_chats=evolve(past_chats, place=_last_part(past_chats.place)),
        embedder=evolve(embedder, model=_file_name(embedder.model)),
        warnings=tuple(
            evolve(warning, message=NOT_FOR_CLIENTS) if warning.code in WITH_DETAILS else warning
            for warning in described.warnings
        ),
    )


def _last_part(place: str | None) -> str | None:
    """Return the file name of *place*, or the name of its database; a server's address may be a socket in a folder."""
    return None if place is None else PurePath(place).name


def _file_name(model: str) -> str:
    """Return *model*, or its last part if it is a path; ``intfloat/e5-small`` is a name, not a path."""
    path = PurePath(model)
    return path.name if path.is_absolute() or path.parts[:1] == ("~",) else model


def _embedder_warning(error: EmbeddingError) -> ServerWarning:
    if error.problem == "not_configured":
        return ServerWarning("NoEmbedder", "warning", str(error))
    return ServerWarning("EmbedderFails", "warning", str(error))


def _past_chats_warning(error: PastChatsError) -> ServerWarning:
    if isinstance(error, GenericMemoryError) and error.reason.problem == "missing":
        return ServerWarning(
            "PastChatsNotIndexed",
            "info",
            "chats with other tools can be searched here once they are indexed: run 'pastchats-memory index'",
        )
    return ServerWarning("PastChatsFail", "warning", f"past chats cannot be read: {error}")


def _store_warning(facts: ServerFacts) -> ServerWarning | None:
    if facts.store.place is not None:
        return None
    return ServerWarning(
        "StoreInMemory",
        "warning",
        'all data is lost when the server ends: set memory.store.backend to "sqlite" or "postgres"',
    )


def _skills_warning(facts: ServerFacts, problem: str | None) -> ServerWarning | None:
    if problem is not None:
        return ServerWarning(
            "SkillsFail",
            "warning",
            f"skills cannot run ({problem}), so nothing is summarized: check memory.skill",
        )
    if facts.skill_runner != "extractive":
        return None
    return ServerWarning(
        "NoSkillModel",
        "info",
        "summaries consist of sentences copied from the messages; to have a model write them,"
        ' set memory.skill.runner to "openai_compatible"',
    )


def _extraction_warning(facts: ServerFacts) -> ServerWarning | None:
    if facts.extractor != "rules":
        return None
    return ServerWarning(
        "ExtractionByRules",
        "info",
        "memories are proposed by rules, for Chinese and English only; to have a model propose them,"
        ' set memory.extraction.extractor to "skill"',
    )


SETTINGS: Final[Sequence[Operation]] = (Operation("GET", "/settings", get_settings, asks_models=True),)


@final
@frozen
class Health:
    """The server runs."""

    version: str
    status: Literal["ok"] = "ok"


@final
@frozen
class Readiness:
    """The store answers."""

    status: Literal["ok"] = "ok"


def get_health(_: Call[NoParameters, None]) -> Effect[Health, Never, ServerFactsTag]:
    """Report that the server runs, even if its store does not answer."""
    return ServerFactsTag.use(lambda facts: Effect.succeed(Health(facts.version)))


@Effect.gen
async def get_readiness(do: Do[Refusal, ChatMemoryService], _: Call[NoParameters, None]) -> Readiness:
    """Report that the store answers; 503 if it does not answer within two seconds."""
    asked = do.service(ChatMemoryService).list_conversations(limit=1)
    await do(asked.timeout(LONGEST_WAIT_SECONDS, lambda: GenericMemoryError(TOO_SLOW)).alt(_not_ready))
    return Readiness()


def _not_ready(error: ReadError) -> Refusal:
    """Return the refusal: without a token, a client sees the kind of the problem but not where the store is."""
    reason = error.reason if isinstance(error, GenericMemoryError) else None
    problem = reason.problem if isinstance(reason, RepositoryError) else "unexpected"
    return Refusal("NotReadyError", f"the store does not answer now ({problem}): /settings shows where it is")


HEALTH: Final[Sequence[Operation]] = (
    Operation("GET", "/health", get_health, is_open=True),
    Operation("GET", "/readiness", get_readiness, is_open=True),
)
