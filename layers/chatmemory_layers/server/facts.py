"""``server_facts``: what a client may know of the server's settings, without keys, tokens and passwords."""

import os
from importlib.metadata import version
from typing import Final, Never, assert_never
from urllib.parse import parse_qs, unquote, urlsplit

from chatmemory.effect import Effect, Outcome, Success
from chatmemory.programs.http.operations.description import ServerFacts, StoreDescription
from chatmemory.settings.memory_settings import Settings, SkillSettings, StoreSettings
from chatmemory_layers.sqlite.engine.database import store_file
from chatmemory_layers.sqlite.prompts.prompt_store import store_path

PACKAGE: Final = "chatmemory-effect"
KEY_REFUSED: Final = frozenset({401, 403})
POSTGRES_PORT: Final = 5432
UNNAMED: Final = "PostgreSQL"


def server_facts(settings: Settings) -> ServerFacts:
    """Return the facts that are known before anything is opened."""
    memory = settings.memory
    return ServerFacts(
        version=version(PACKAGE),
        store=_store(memory.store),
        extractor=memory.extraction.extractor,
        skill_runner=memory.skill.runner,
        skill_problem=_skill_problem(memory.skill),
        strategy=memory.chat.strategy.type,
        past_chats_place=os.fspath(store_path(memory.past_chats)),
        needs_token=settings.server.needs_token,
    )


def place_of(settings: Settings) -> str:
    """Return where the store is, without its password."""
    store = server_facts(settings).store
    return f"{store.backend}, {store.place}" if store.place else store.backend


def _store(settings: StoreSettings) -> StoreDescription:
    match settings.backend:
        case "in_memory":
            return StoreDescription(settings.backend, None)
        case "sqlite":
            return StoreDescription(settings.backend, os.fspath(store_file(settings.sqlite)))
        case "postgres":
            return StoreDescription(settings.backend, _database(settings.postgres.dsn))
        case _:
            assert_never(settings.backend)


def _database(dsn: str) -> str:
    """Return host, port and database of *dsn*, without the user and the password."""
    try:
        parts = urlsplit(dsn)
        port = parts.port
    except ValueError:  # several hosts, for example
        return UNNAMED
    if parts.scheme not in {"postgres", "postgresql"}:
        return UNNAMED
    asked = parse_qs(parts.query)
    host = parts.hostname or next(iter(asked.get("host", ())), "localhost")
    database = unquote(parts.path.removeprefix("/"))
    return f"{host}:{port or next(iter(asked.get('port', ())), POSTGRES_PORT)}/{database}"


def _skill_problem(settings: SkillSettings) -> Effect[str | None]:
    match settings.runner:
        case "extractive":
            return Effect.succeed(None)
        case "openai_compatible":
            return Effect.from_outcome(lambda: _asked_endpoint(settings))
        case _:
            assert_never(settings.runner)


async def _asked_endpoint(settings: SkillSettings) -> Outcome[str | None, Never]:
    """Request the list of models of an endpoint, which costs nothing; return what is wrong, None if it does not refuse the key."""
    import httpx

    headers = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    try:
        async with httpx.AsyncClient(headers=headers, timeout=settings.timeout_seconds) as client:
            response = await client.get(f"{settings.base_url.rstrip('/')}/models")
    except httpx.HTTPError as error:
        return Success(f"the endpoint does not answer: {type(error).__name__}")
    if response.status_code in KEY_REFUSED:
        return Success(f"the endpoint refuses the key: status {response.status_code}")
    if response.is_server_error:
        return Success(f"the endpoint fails: status {response.status_code}")
    return Success(None)
