"""What the server says of itself: that it runs, that its store answers, what it runs on, and what does not run."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from attrs import evolve

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.effect import Failure, Layer
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.errors import EmbeddingError, GenericMemoryError, RepositoryError
from chatmemory.programs.http.operations import describing
from chatmemory.programs.http.operations.description import ServerFactsTag, StoreDescription
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.memory_settings import (
    ExtractionSettings,
    MemorySettings,
    PostgresSettings,
    Settings,
    SkillSettings,
    SqliteSettings,
    StoreSettings,
)
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory.settings.server_settings import ServerSettings, TokenSettings
from chatmemory.testing import Stub, forever, hangs
from chatmemory_layers import stacks
from chatmemory_layers.server.facts import server_facts
from chatmemory_layers.server.serve_command import server_stack
from tests.for_each import for_each
from tests.http.test_http_schemathesis import index_histories
from tests.http_api import api_client, problem
from tests.http_server import Reply, http_server

SECRET = "sk-nobody-may-see-this"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        memory=MemorySettings(
            store=StoreSettings(sqlite=SqliteSettings(path=str(tmp_path / "记忆.db"))),
            past_chats=PastChatsSettings(path=str(tmp_path / "past.db")),
        )
    )


@asynccontextmanager
async def server(
    settings: Settings, *, embedder: stacks.Embedders | None = None, over: Layer[Any, Any] | None = None
) -> AsyncGenerator[httpx.AsyncClient]:
    stack: Layer[Any, Any] = server_stack(settings, embedder=embedder)
    async with api_client(stack if over is None else stack.replace(over), settings.server) as client:
        yield client


async def told(settings: Settings, **given: Any) -> Any:
    async with server(settings, **given) as client:
        return (await client.get("/settings")).raise_for_status().json()


def codes(description: Any) -> list[str]:
    return [warning["code"] for warning in description["warnings"]]


def with_memory(settings: Settings, **memory: Any) -> Settings:
    return evolve(settings, memory=evolve(settings.memory, **memory))


def embedder_that(answer: object, model: str) -> Layer[EmbedderTag]:
    """An embedder that is there, and does *answer* each time it is asked."""
    steps = [forever(answer)]
    return Stub(
        EmbedderTag, model=model, similarity_threshold=0.3, unavailability=[forever(None)], embed=steps
    ).layer


async def test_the_default_runs_offline_and_its_form_for_saving_is_that_of_document_002(
    settings: Settings,
) -> None:
    description = await told(settings)
    assert description["store"] == {"backend": "sqlite", "place": settings.memory.store.sqlite.path}
    assert description["embedder"] == {"model": "chatmemory-static-2", "dim": 1024, "runs": True}
    assert description["skills"] == {"runner": "extractive", "runs": True}
    assert (description["extractor"], description["strategy"]) == ("rules", "none")
    assert description["namespace"] == {"user": "default", "app": ""}
    assert not description["needsToken"]
    assert [warning for warning in description["warnings"] if warning["level"] == "warning"] == []
    assert description["saveForm"] == {
        "defaultKeys": {"user": "用户输入", "assistant": "AI回复"},
        "defaultCategory": "fact",
        "defaultConfidence": 0.8,
        "leastConfidence": 0.5,
    }


async def test_it_warns_of_what_does_not_run_or_keeps_nothing(settings: Settings) -> None:
    description = await told(
        with_memory(
            settings,
            embedding=EmbeddingSettings(provider="none"),
            store=StoreSettings(backend="in_memory"),
            extraction=ExtractionSettings(extractor="skill"),
        )
    )
    assert description["embedder"] == {"model": "none", "dim": None, "runs": False}
    (warning,) = (one for one in description["warnings"] if one["code"] == "NoEmbedder")
    assert "memory.embedding.provider" in warning["message"]
    assert description["store"] == {"backend": "in_memory", "place": None}
    assert "StoreInMemory" in codes(description)
    assert description["extractor"] == "skill"
    assert "ExtractionByRules" not in codes(description)


async def test_what_does_not_answer_is_not_waited_for(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describing, "LONGEST_WAIT_SECONDS", 0.01)
    async with http_server(Reply(misbehaviour="hang")) as endpoint:
        skill = SkillSettings(runner="openai_compatible", base_url=endpoint.url)
        mute = embedder_that(hangs, "mute")
        description = await told(with_memory(settings, skill=skill), embedder=mute)
    assert description["embedder"] == {"model": "mute", "dim": None, "runs": False}
    assert "EmbedderFails" in codes(description)
    (warning,) = (one for one in description["warnings"] if one["code"] == "SkillsFail")
    assert describing.NO_ANSWER in warning["message"]


@for_each(
    ("reply", "runs"),
    [
        (Reply.json({"data": []}), True),
        (Reply.json({}, status=404), True),  # it knows no list of models
        (Reply.json({}, status=401), False),
        (Reply.json({}, status=500), False),
        (Reply(misbehaviour="hang_up"), False),
    ],
)
async def test_it_warns_when_no_skill_can_run(settings: Settings, reply: Reply, runs: bool) -> None:
    async with http_server(reply) as endpoint:
        skill = SkillSettings(
            runner="openai_compatible", base_url=endpoint.url, api_key=SECRET, model="small"
        )
        description = await told(with_memory(settings, skill=skill))
        assert endpoint.requests[0].path == "/v1/models"
    assert description["skills"] == {"runner": "openai_compatible", "runs": runs}
    assert ("SkillsFail" in codes(description)) is not runs
    assert SECRET not in json.dumps(description)


async def test_past_chats_are_there_as_soon_as_they_are_indexed(settings: Settings) -> None:
    place = settings.memory.past_chats.path
    async with server(settings) as client:
        before = (await client.get("/settings")).json()
        assert before["pastChats"] == {"enabled": True, "indexed": False, "place": place}
        assert "PastChatsNotIndexed" in codes(before)
        index_histories(Path(place))
        after = (await client.get("/settings")).json()
        assert after["pastChats"]["indexed"]
        assert "PastChatsNotIndexed" not in codes(after)


@for_each(
    ("dsn", "place"),
    [
        (f"postgresql://mei:{SECRET}@db.example:6543/memory", "db.example:6543/memory"),
        (f"postgres://mei:{SECRET}@db.example/memory?sslmode=require", "db.example:5432/memory"),
        (f"postgresql:///memory?host=/run/postgresql&password={SECRET}", "/run/postgresql:5432/memory"),
        (f"postgresql://mei:{SECRET}@one:1,two:2/memory", "PostgreSQL"),
        (f"host=db.example password={SECRET}", "PostgreSQL"),
        ("", "PostgreSQL"),
    ],
)
def test_a_database_is_named_without_who_may_enter(dsn: str, place: str) -> None:
    store = StoreSettings(backend="postgres", postgres=PostgresSettings(dsn=dsn))
    facts = server_facts(Settings(memory=MemorySettings(store=store)))
    assert facts.store == StoreDescription("postgres", place)
    assert SECRET not in repr(facts)


async def as_bearer(settings: Settings, server_settings: ServerSettings, **given: Any) -> httpx.Response:
    """Ask a server with *server_settings* for its description, with the token ``SECRET``."""
    async with server(evolve(settings, server=server_settings), **given) as client:
        return await client.get("/settings", headers={"Authorization": f"Bearer {SECRET}"})


async def test_the_main_token_is_told_the_folders_and_no_secret_of_the_settings(settings: Settings) -> None:
    keyed = with_memory(settings, embedding=EmbeddingSettings(api_key=SECRET))
    answer = await as_bearer(keyed, ServerSettings(token=SECRET))
    assert answer.json()["needsToken"]
    assert answer.json()["store"]["place"] == str(settings.memory.store.sqlite.path)
    assert SECRET not in answer.text


@for_each("read_only", [True, False])
async def test_a_client_with_a_token_of_its_own_is_told_no_folder_of_the_machine(
    settings: Settings, read_only: bool
) -> None:
    reader = TokenSettings(token=SECRET, user="mei", past_chats=True, read_only=read_only)
    folder = str(Path(settings.memory.past_chats.path).parent)
    await anyio.Path(settings.memory.past_chats.path).write_bytes(b"no database" * 100)
    model = "/srv/models/e5-small"
    failing = embedder_that(Failure(EmbeddingError(model, "raised", f"no file {model}/config.json")), model)
    answer = await as_bearer(settings, ServerSettings(tokens={"reader": reader}), embedder=failing)
    described = answer.json()
    assert described["store"] == {"backend": "sqlite", "place": "记忆.db"}
    assert described["pastChats"] == {"enabled": True, "indexed": False, "place": "past.db"}
    assert described["embedder"]["model"] == "e5-small"
    assert {"EmbedderFails", "PastChatsFail"} <= set(codes(described))
    assert folder not in answer.text
    assert "/srv" not in answer.text


@for_each(
    ("place", "shown"), [("db.example:6543/memory", "memory"), ("PostgreSQL", "PostgreSQL"), (None, None)]
)
async def test_a_place_is_told_to_readers_by_its_last_part(
    settings: Settings, place: str | None, shown: str | None
) -> None:
    guarded = ServerSettings(tokens={"reader": TokenSettings(token=SECRET, user="mei", read_only=True)})
    facts = evolve(server_facts(evolve(settings, server=guarded)), store=StoreDescription("postgres", place))
    answer = await as_bearer(settings, guarded, over=Layer.succeed(ServerFactsTag, facts))
    assert answer.json()["store"]["place"] == shown


async def test_a_server_that_runs_is_healthy_and_ready_when_its_store_answers(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get("/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert answer.json()["version"]
    assert (await client.get("/readiness")).json() == {"status": "ok"}


BUSY = GenericMemoryError(RepositoryError("list conversations", "busy"))


async def test_a_server_is_not_ready_while_its_store_fails_or_does_not_answer(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describing, "LONGEST_WAIT_SECONDS", 0.01)
    for answer in (Failure(BUSY), hangs):
        stuck = Stub(ChatMemoryService, list_conversations=[forever(answer)])
        async with server(settings, over=stuck.layer) as client:
            refused = await client.get("/readiness")
            assert problem(refused) == "503 NotReadyError"
            assert refused.headers["retry-after"]
            assert "(busy)" in refused.json()["detail"]
            assert (await client.get("/health")).status_code == 200
