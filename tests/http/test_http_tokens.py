"""Tokens at the door: hashed, for a time, two of one name; who was let in is logged."""

import logging
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias

import anyio
import httpx
import pytest

from chatmemory.effect import ManagedRuntime
from chatmemory.effect.services.clock import Clock, TestClock
from chatmemory.programs.http.app import application
from chatmemory.settings.memory_settings import MemorySettings, Settings, StoreSettings
from chatmemory.settings.server_settings import ServerSettings, TokenSettings
from chatmemory.settings.token_hash import token_hash
from chatmemory_layers.server.stack import server_stack
from tests.http_api import HERE

TOKEN = "cm_of-the-phone"
BEFORE = "cm_of-the-phone-before"
WRONG = "cm_of-nobody"
START = datetime(2027, 1, 1, 12, tzinfo=UTC)
PHONE = TokenSettings(hash=token_hash(TOKEN), user="mei")
GUEST = TokenSettings(token="the token of a guest", user="mei", read_only=True)

Ask: TypeAlias = Callable[..., Any]


@asynccontextmanager
async def door(
    clock: Clock, settings: ServerSettings | None = None, **tokens: TokenSettings
) -> AsyncGenerator[Ask]:
    """Give a function that asks a server with *tokens*, as a client with a token at an address."""
    known = Settings(
        memory=MemorySettings(store=StoreSettings(backend="in_memory")),
        server=settings or ServerSettings(tokens=tokens),
    )
    async with ManagedRuntime(server_stack(known, clock=clock)) as runtime:
        app = application(runtime, known.server, closing=anyio.Event())

        async def asked(
            token: str, *, address: str = "192.0.2.1", method: str = "GET", path: str = "/conversations"
        ) -> httpx.Response:
            transport = httpx.ASGITransport(app, client=(address, 4711))
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            async with httpx.AsyncClient(transport=transport, base_url=HERE, headers=headers) as client:
                return await client.request(method, path)

        yield asked


async def test_the_token_of_a_hash_opens_the_door_and_the_hash_does_not() -> None:
    async with door(TestClock(), phone=PHONE) as asked:
        assert (await asked(TOKEN)).status_code == 200
        refused = await asked(str(PHONE.hash))
        assert (refused.status_code, refused.json()["tag"]) == (401, "UnauthorizedError")
        assert refused.headers["www-authenticate"] == 'Bearer realm="chatmemory", error="invalid_token"'


async def test_a_token_in_plain_is_accepted_as_before() -> None:
    async with door(TestClock(), guest=GUEST, phone=PHONE) as asked:
        assert (await asked("the token of a guest")).status_code == 200


async def test_a_token_that_has_expired_is_refused_in_words_that_say_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = TestClock(START)
    ending = TokenSettings(hash=token_hash(TOKEN), expires=date(2027, 1, 1), user="mei")
    async with door(clock, phone=ending) as asked:
        assert (await asked(TOKEN)).status_code == 200
        await clock.set_time(datetime(2027, 1, 2, tzinfo=UTC))
        for _ in range(3):  # and never waits: nobody guessed it
            refused = await asked(TOKEN, address="192.0.2.7")
        assert (refused.status_code, refused.json()["tag"]) == (401, "UnauthorizedError")
        assert "this token has expired (2027-01-01)" in refused.json()["detail"]
        assert refused.headers["www-authenticate"].endswith('error="invalid_token"')
    assert "the token of phone has expired (2027-01-01), and came from 192.0.2.7" in caplog.messages


async def test_a_token_is_replaced_without_a_moment_without_access() -> None:
    clock = TestClock(START)
    rolling = TokenSettings(
        hash=token_hash(TOKEN),
        previous_hash=token_hash(BEFORE),
        previous_expires=START + timedelta(hours=1),
        user="mei",
    )
    async with door(clock, phone=rolling) as asked:
        assert [(await asked(token)).status_code for token in (BEFORE, TOKEN)] == [200, 200]
        await clock.advance(3600)
        assert [(await asked(token)).status_code for token in (BEFORE, TOKEN)] == [401, 200]


async def test_every_line_of_the_log_names_the_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "chatmemory.http")
    main = "the token of the server"
    async with door(
        TestClock(), ServerSettings(token=main, tokens={"phone": PHONE, "一位 guest": GUEST})
    ) as asked:
        await asked(TOKEN)
        await asked("the token of a guest", method="DELETE", path="/memories/x")
        await asked(main)
        await asked("")
        await asked(WRONG)
        await asked("", path="/health")
        await asked(TOKEN, path="/nowhere")
    told = [re.fullmatch(r".* (\d+ by .*) [\d.]+ ms \d+ bytes", message) for message in caplog.messages]
    assert [line[1] for line in told if line] == [
        "200 by phone",
        "403 by 一位 guest",
        "200 by (server.token)",
        "401 by (nobody)",
        "401 by (nobody)",
        "200 by (nobody)",
        "404 by (nobody)",
    ]
    assert not [token for token in (TOKEN, WRONG, main, "the token of a guest") if token in caplog.text]


async def test_a_server_without_tokens_names_everybody(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "chatmemory.http")
    async with door(TestClock()) as asked:
        assert (await asked(WRONG)).status_code == 200
    assert " 200 by (everybody) " in caplog.messages[-1]
